/// Which hooks we ask an agent for, and how one is written in its settings.
///
/// Left out on purpose: what an agent calls for every piece of an answer (Claude's MessageDisplay, Gemini's BeforeModel
///   and AfterModel). A hook is a process, and the agent waits for it in the middle of its answer.
/// Always so: the command line of a hook depends on the program's path and the agent alone, never on the run. Codex
///   remembers what it was told to trust by that line, and people read it in their settings.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/agent.h"

namespace relay::hooks {

struct WantedHook {
  std::string_view event;  // as the agent calls it
  int seconds;             // after which the agent gives up on us
};

std::span<const WantedHook> wanted_hooks(Agent agent);

/// The command as that agent starts it: Claude takes program and arguments, the others a line for a shell.
/// Fails on a path that cannot be said there.
Result<json::object> handler_for(Agent agent, const WantedHook& hook, std::string_view program);

/// All of them, as `hooks` in the agent's settings: {Event: [{hooks: [handler]}]}.
Result<json::object> hooks_for(Agent agent, std::string_view program);

/// The program path of a handler that is one of ours, whichever path it was installed from; empty: somebody else's.
std::string program_of(Agent agent, const json::value& handler);

}  // namespace relay::hooks
