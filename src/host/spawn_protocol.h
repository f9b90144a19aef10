/// What a host or a daemon and the process that starts it in the background agree on.
///
/// The request travels in environment variables, not in arguments, which every user of the machine can read. On the
/// given descriptor the started process writes one line, `ready PID` or `error: SENTENCE`, and closes it. A daemon that
/// finds another one running writes `running: SENTENCE`.
#pragma once

#include <string_view>

namespace relay::host {

inline constexpr std::string_view kTaskVariable = "AGENT_RELAY_SPAWN_TASK";
inline constexpr std::string_view kSpawnerVariable = "AGENT_RELAY_SPAWN_SPAWNER";
inline constexpr std::string_view kTeamVariable = "AGENT_RELAY_SPAWN_TEAM";

inline constexpr int kReadyFd = 3;
inline constexpr std::string_view kReadyPrefix = "ready ";
inline constexpr std::string_view kErrorWord = "error: ";
inline constexpr std::string_view kRunningWord = "running: ";

}  // namespace relay::host
