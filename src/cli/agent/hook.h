/// The program in an agent's hook: `agent-relay hook claude`, with the JSON of the hook on stdin.
///
/// Why separate from the other commands: an agent waits for it many times per turn, and it must never harm the agent.
///   It reads no configuration and finds no project; any error here means no output and exit code 0 (in Claude's hooks
///   exit code 2 would stop the agent).
/// Order: records the event (capture/), sends it to the host at $AGENT_RELAY_HOST_SOCKET, prints the host's response in
///   the format of the agent.
/// Invariants: no wait exceeds the time the event allows; it exits at once when the reader of its response closes.
#pragma once

#include <string>
#include <vector>

namespace relay::cli {

/// The arguments call the hook and do not request its help.
bool is_hook_call(const std::vector<std::string>& words);

/// Always 0.
int run_hook(const std::string& agent) noexcept;

}  // namespace relay::cli
