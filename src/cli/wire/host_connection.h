/// A short conversation at a host's door (docs/spec/host.md), for commands that ask, wait and leave.
///
/// Invariants: nothing waits beyond its deadline; works without the daemon. Threading: one thread.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/framework/context.h"
#include "cli/wire/daemon_connection.h"
#include "host/control/host_record.h"
#include "protocol/frame.h"

namespace relay::cli {

/// For the daemon to say what a name without a host is: the answer only makes an error more helpful.
inline constexpr std::chrono::milliseconds kKnownTimeout{500};

/// What a command wants of a host, to say that an agent without one cannot be used so.
struct HostUse {
  std::string_view done;                              // `typed into`
  std::string_view instead = "use it where it runs";  // of one that is connected without a host
  Deadline deadline = Deadline::max();                // of the command
};
/// The host of that agent in this project; the error says what the name is instead, as far as the daemon knows it and says so
/// within kKnownTimeout, and what to do.
Result<host::HostRecord> find_host(const Context& context, const std::string& agent, const HostUse& use);

class HostConnection {
 public:
  static Result<HostConnection> open(const host::HostRecord& record);

  /// Asks and returns the answer; a refusal is an error with the host's sentence.
  Result<json::object> request(const json::object& request, std::chrono::milliseconds timeout = kAnswerTimeout) {
    return ask_text(json::serialize(request), timeout);
  }
  /// The same with a request that is JSON text already.
  Result<json::object> ask_text(std::string_view request, std::chrono::milliseconds timeout);
  /// The next object; an error TimedOut when none came in time, Lost when the host has gone.
  Result<json::object> next(Deadline deadline);
  /// From now on waiting also ends, with NobodyReads, when nobody can read that descriptor any more.
  void end_with(int output) { output_ = output; }

 private:
  HostConnection(UniqueFd fd, std::string agent) : fd_{std::move(fd)}, agent_{std::move(agent)} {}
  Result<void> read_some(Deadline deadline);

  UniqueFd fd_;
  std::string agent_;
  protocol::FrameReader reader_;
  int output_ = -1;
};

}  // namespace relay::cli
