/// The frames about agents that others start: SPAWN, RELEASE, SEND_INPUT. Off the hot path.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::protocol {

inline constexpr std::size_t kMaxVariables = 4'096;  // of an environment
inline constexpr std::size_t kMaxEnvironmentBytes = 256 * 1024;

/// What becomes words of a command line, a directory or a line of a listing holds no control characters; the task,
/// which is only ever said, may.
struct SpawnRequest {
  std::string name;               // checked with check_agent_name, and none of the system's own
  std::vector<std::string> argv;  // the program and its arguments: `cli` cut at blanks, then `args` (this project's)
  std::string task;               // said to it once it runs; may be empty
  std::string directory;          // `cwd`; empty: the project's root
  std::string team, model, role;
  std::string spawner;    // `spawnerName`: who asks, as the asker says
  std::string shadow_of;  // wished for by published clients
  /// `environment`: the asker's own, as NAME=value. It may hold secrets: it is never stored, logged or told as an
  /// event.
  std::vector<std::string> environment = {};
};
Result<SpawnRequest> parse_spawn(std::string_view payload);

struct ReleaseRequest {
  std::string name;
  std::string reason;
  std::string by;  // who asks, as a connection named `cli` says
};
Result<ReleaseRequest> parse_release(std::string_view payload);

struct InputRequest {
  std::string name;
  std::string data;  // keys as they are, control characters and all
};
Result<InputRequest> parse_send_input(std::string_view payload);

}  // namespace relay::protocol
