/// What runs inside an agent's hook: `agent-relay hook claude`, with the hook's JSON on stdin.
///
/// Why apart from the other commands: an agent waits for it many times a turn and must never be harmed by it. So it
///   reads no configuration and looks for no project; whatever goes wrong on our side is silence and exit code 0 (in
///   Claude's hooks exit code 2 would stop the agent).
/// What it does, in this order: keeps the event (capture/), tells the host whose door is in $AGENT_RELAY_HOST_SOCKET, prints
///   the host's answer in the agent's dialect.
/// Invariants: nothing waits longer than that event allows; it leaves at once when nobody reads its answer any more.
#pragma once

#include <string>
#include <vector>

namespace relay::cli {

/// The words are a call of the hook, and no question about it.
bool is_hook_call(const std::vector<std::string>& words);

/// Always 0.
int run_hook(const std::string& agent) noexcept;

}  // namespace relay::cli
