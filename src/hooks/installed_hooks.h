/// What an agent's own settings of this person say about hooks: where they are, which are ours, what forbids them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "hooks/agent.h"

namespace relay::hooks {

/// NAME=value, all of it; as `pty::Command` has it.
using EnvironmentBlock = std::vector<std::string>;

/// Value of a variable; empty when it is not there.
std::string_view variable(const EnvironmentBlock& environment, std::string_view name);

/// The person's own file with hooks for every project: settings.json of Claude Code and Gemini CLI, hooks.json of
/// Codex. Empty when the environment names no home.
std::string user_hooks_file(AgentCli agent, const EnvironmentBlock& environment);

struct InstalledHook {
  std::string event;
  std::size_t group = 0;
  std::size_t handler = 0;
  std::string program;  // the path it was installed from
  json::object written;
};

/// Ours, in the order of the file; anything of another shape is somebody else's.
std::vector<InstalledHook> own_hooks(AgentCli agent, const json::object& settings);

/// One sentence when the person's settings or the machine's policy keep hooks from running; empty when nothing does.
/// A file that cannot be read forbids nothing. With a directory, what Claude Code reads there counts too.
std::string hooks_blocked_reason(AgentCli agent, const EnvironmentBlock& environment, std::string_view directory = {});

}  // namespace relay::hooks
