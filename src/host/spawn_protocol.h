/// The protocol between a host or daemon and the process that starts it in the background.
///
/// Environment variables carry the request, because every user of the machine can read arguments. The started process
/// writes one line to kReadyFd, `ready PID` or `error: MESSAGE`, and closes it. A daemon that finds another one running
/// writes `running: MESSAGE`.
#pragma once

#include <string_view>

namespace relay::host {

inline constexpr std::string_view kTaskVariable = "AGENT_RELAY_SPAWN_TASK";
inline constexpr std::string_view kSpawnerVariable = "AGENT_RELAY_SPAWN_SPAWNER";
inline constexpr std::string_view kTeamVariable = "AGENT_RELAY_SPAWN_TEAM";

inline constexpr int kReadyFd = 3;
inline constexpr std::string_view kReadyPrefix = "ready ";
inline constexpr std::string_view kErrorPrefix = "error: ";
inline constexpr std::string_view kRunningPrefix = "running: ";

}  // namespace relay::host
