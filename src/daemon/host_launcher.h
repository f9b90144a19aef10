/// Starts hosts: processes in separate sessions that outlive the daemon.
///
/// Why a double fork: the daemon is then not the parent, so there is no zombie to collect, and a host is reparented
///   to init, so it does not end with the daemon.
/// Invariants: descriptor 3 of a host is a pipe. The host writes `ready PID` once its agent runs, its socket listens
///   and the broker has accepted it, or `error: MESSAGE`. No report within kHostTimeout is an error, and the host gets
///   SIGTERM.
/// Ownership: borrows the loop, which outlives it. Destroying it leaves hosts alone and calls no callback.
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
  std::vector<std::string> arguments;    // without the program's name
  std::vector<std::string> environment;  // all of it, as NAME=value
  std::string directory;
};

class HostLauncher {
 public:
  /// The pid that the host reported.
  using Started = std::move_only_function<void(Result<std::int32_t> pid)>;

  virtual ~HostLauncher() = default;
  /// `done` is called once, never from inside the call.
  virtual void start(HostCommand command, Started done) = 0;
};

/// Process attributes that the daemon changed for itself; its hosts get the original ones.
struct ProcessDefaults {
  mode_t umask = 0;
  rlimit open_files{};
  static ProcessDefaults now();
};

class ProcessLauncher final : public HostLauncher {
 public:
  struct Options {
    std::string log;  // receives the host's stdout and stderr
    ProcessDefaults defaults = {};
    std::string program = "/proc/self/exe";
    Millis timeout = kHostTimeout;
  };
  ProcessLauncher(net::AsioLoop& loop, Options options);
  ~ProcessLauncher() override;

  void start(HostCommand command, Started done) override;
  /// For shutdown: hosts that are starting are left alone, no callback is called, and the loop may end.
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
