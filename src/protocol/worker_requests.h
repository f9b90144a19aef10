/// The frames about agents that are started on request: SPAWN, RELEASE, SEND_INPUT. Off the hot path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::protocol {

inline constexpr std::size_t kMaxVariables = 4'096;  // of an environment
inline constexpr std::size_t kMaxEnvironmentBytes = 256 * 1024;

/// Values that become arguments, a directory or a line of a listing contain no control characters; the task, which is
/// only sent as text, may.
struct SpawnRequest {
  std::string name;               // checked with check_agent_name, and not a reserved name
  std::vector<std::string> argv;  // the program and its arguments: `cli` cut at blanks, then `args` (this project's)
  std::string task;               // its first message; may be empty
  std::string directory;          // `cwd`; empty: the project's root
  std::string team, model, role;
  std::string spawner;    // `spawnerName`: the requester, as it names itself
  std::string shadow_of;  // sent by published clients
  /// `environment`: the requester's own, as NAME=value. It may contain secrets: it is never stored, logged or put into
  /// an event.
  std::vector<std::string> environment = {};
};
Result<SpawnRequest> parse_spawn(std::string_view payload);

struct ReleaseRequest {
  std::string name;
  std::string reason;
  std::string by;  // the requester, as a connection named `cli` names it
};
Result<ReleaseRequest> parse_release(std::string_view payload);

struct InputRequest {
  std::string name;
  std::string data;  // raw keys, control characters included
};
Result<InputRequest> parse_send_input(std::string_view payload);

}  // namespace relay::protocol
