/// Which hooks we ask an agent for, and how one is written in its settings.
///
/// Left out on purpose: what an agent calls for every piece of an answer and waits for (Gemini's BeforeModel and
///   AfterModel). A hook is a process. Claude's MessageDisplay is asked for in a run of ours only, and as one it does
///   not wait for.
/// Always so: the command line of a hook depends on the program's path and the agent alone, never on the run. Codex
///   remembers what it was told to trust by that line, and people read it in their settings.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/json.h"
#include "base/result.h"
#include "hooks/agent.h"

namespace relay::hooks {

struct HookSpec {
  std::string_view event;  // as the agent calls it
  int seconds;             // after which the agent gives up on us
  bool async = false;      // the agent does not wait for it
};

/// In every run, also of agents that were started without us.
std::span<const HookSpec> hook_specs(AgentCli agent);
/// In addition, where a host listens: what the model writes while it writes it.
std::span<const HookSpec> streaming_hooks(AgentCli agent);

/// The command as that agent starts it: Claude takes program and arguments, the others a line for a shell.
/// Fails on a path that cannot be said there.
Result<json::object> handler_for(AgentCli agent, const HookSpec& hook, std::string_view program);

enum class HookScope : std::uint8_t { Installed, Run };
/// All of them, as `hooks` in the agent's settings: {Event: [{hooks: [handler]}]}. Those of a run include
/// streaming_hooks.
Result<json::object> hooks_for(AgentCli agent, std::string_view program, HookScope scope = HookScope::Installed);

/// The program path of a handler that is one of ours, whichever path it was installed from; empty: somebody else's.
std::string program_of(AgentCli agent, const json::value& handler);

}  // namespace relay::hooks
