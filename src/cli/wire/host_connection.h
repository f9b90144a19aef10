/// A short blocking connection to a host's private socket (docs/spec/host.md).
///
/// Invariants: no call blocks beyond its deadline; works without the daemon. Threading: one thread.
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

/// For the daemon's description of a name without a host, which only improves the error.
inline constexpr std::chrono::milliseconds kDescribeTimeout{500};

/// What a command does with the host, for the error about an agent without one.
struct HostUse {
  std::string_view done;                              // `typed into`
  std::string_view instead = "use it where it runs";  // for an agent connected without a host
  Deadline deadline = Deadline::max();                // of the command
};
/// Finds the host of that agent in this project. The error has the next step, and what the name is instead when the
/// daemon lists it and responds within kDescribeTimeout.
Result<host::HostRecord> find_host(const Context& context, const std::string& agent, const HostUse& use);

class HostConnection {
 public:
  static Result<HostConnection> open(const host::HostRecord& record);

  /// Sends a request and returns the response; a refusal is an error with the message of the host.
  Result<json::object> request(const json::object& request, std::chrono::milliseconds timeout = kResponseTimeout) {
    return request_text(json::serialize(request), timeout);
  }
  /// The same with a request that is JSON text already.
  Result<json::object> request_text(std::string_view request, std::chrono::milliseconds timeout);
  /// The next object. Fails with TimedOut at the deadline, HostGone when the host closed the connection.
  Result<json::object> next(Deadline deadline);
  /// Makes waits fail with OutputClosed when the reader of that descriptor has closed.
  void watch_output(int output) { output_ = output; }

 private:
  HostConnection(UniqueFd fd, std::string agent) : fd_{std::move(fd)}, agent_{std::move(agent)} {}
  Result<void> read_some(Deadline deadline);

  UniqueFd fd_;
  std::string agent_;
  protocol::FrameReader reader_;
  int output_ = -1;
};

}  // namespace relay::cli
