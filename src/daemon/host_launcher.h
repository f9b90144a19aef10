/// Starts hosts: processes in sessions of their own, that outlive the daemon.
///
/// Why forked twice: the daemon is then nobody's parent, so there is no zombie to collect, and a host is nobody's child
///   but the system's, so it does not end with the daemon.
/// Contract with the host: descriptor 3 is a pipe; it says `ready PID` once its agent runs, its door is open and
///   the broker has taken it in, or `error: SENTENCE`. Silence beyond kHostPatience is an error, and the host is then told to end.
/// Ownership: borrows the loop, which outlives it. Destroying it leaves hosts alone and calls nobody back.
/// Threading: loop thread only; blocks it for the two forks and nothing else.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/lifetime.h"
#include "base/result.h"

namespace relay::net {
class AsioLoop;
}

namespace relay::daemon {

inline constexpr Millis kHostTimeout{30'000};

struct HostCommand {
  std::vector<std::string> arguments;    // what follows the program's name
  std::vector<std::string> environment;  // all of it, as NAME=value
  std::string directory;
};

class HostLauncher {
 public:
  /// The pid is the host's own word.
  using Started = std::move_only_function<void(Result<std::int32_t> pid)>;

  virtual ~HostLauncher() = default;
  /// `done` is called once, never from inside the call.
  virtual void start(HostCommand command, Started done) = 0;
};

/// What the daemon was started with and changed for itself alone; its hosts get it back.
struct ProcessDefaults {
  mode_t umask = 0;
  rlimit open_files{};
  static ProcessDefaults now();
};

class ProcessLauncher final : public HostLauncher {
 public:
  struct Options {
    std::string log;  // where stray words go
    ProcessDefaults defaults = {};
    std::string program = "/proc/self/exe";
    Millis timeout = kHostTimeout;
  };
  ProcessLauncher(net::AsioLoop& loop, Options options);
  ~ProcessLauncher() override;

  void start(HostCommand command, Started done) override;
  /// The end has come: hosts on their way are left to themselves, nobody is called back, and the loop may end.
  void abandon();

 private:
  class Launch;
  struct SpawnedHost;

  Result<SpawnedHost> spawn_host(HostCommand& command) const;
  void finish(std::uint64_t id, Result<std::int32_t> pid);

  net::AsioLoop& loop_;
  Options options_;
  std::map<std::uint64_t, std::unique_ptr<Launch>> launches_;
  std::uint64_t last_launch_ = 0;
  Lifetime lifetime_;
};

}  // namespace relay::daemon
