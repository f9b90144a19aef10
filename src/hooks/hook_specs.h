/// The hooks that the relay adds to an agent, and their form in its settings.
///
/// Omitted on purpose: hooks that an agent calls for every chunk of a response and waits for (Gemini's BeforeModel and
///   AfterModel), because a hook is a process. Claude's MessageDisplay is added only in a wired run, and Claude
///   does not wait for it.
/// Invariants: the command line of a hook depends only on the program's path and the agent, never on the run. Codex
///   stores its trust by that line, and users read it in their settings.
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
  std::string_view event;  // the agent's name for the event
  int seconds;             // the agent's timeout for the hook
  bool async = false;      // the agent does not wait for it
};

/// In every run, also of agents started without the relay.
std::span<const HookSpec> hook_specs(AgentCli agent);
/// In addition, where a host listens: the model's text while it is being written.
std::span<const HookSpec> streaming_hooks(AgentCli agent);

/// The command in the form of that agent: Claude takes program and arguments, the others a shell line. Fails for a path
/// that has no such form.
Result<json::object> handler_for(AgentCli agent, const HookSpec& hook, std::string_view program);

enum class HookScope : std::uint8_t { Installed, Run };
/// All hooks, as `hooks` in the agent's settings: {Event: [{hooks: [handler]}]}. Those of a run include
/// streaming_hooks.
Result<json::object> hooks_for(AgentCli agent, std::string_view program, HookScope scope = HookScope::Installed);

/// The program path of one of the relay's handlers, for any path it was installed from; empty for other handlers.
std::string program_of(AgentCli agent, const json::value& handler);

}  // namespace relay::hooks
