/// The hooks in an agent's own settings: where the settings are, which hooks are the relay's, what blocks them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/json.h"
#include "hooks/agent.h"

namespace relay::hooks {

/// All variables as NAME=value; the same form as in `pty::Command`.
using EnvironmentBlock = std::vector<std::string>;

/// The value of a variable; empty when it is not set.
std::string_view variable(const EnvironmentBlock& environment, std::string_view name);

/// The user's file with hooks for all projects: settings.json of Claude Code and Gemini CLI, hooks.json of Codex. Empty
/// when the environment names no home directory.
std::string user_hooks_file(AgentCli agent, const EnvironmentBlock& environment);

struct InstalledHook {
  std::string event;
  std::size_t group = 0;
  std::size_t handler = 0;
  std::string program;  // the path it was installed from
  json::object written;
};

/// The relay's hooks in the order of the file; entries of another form are ignored.
std::vector<InstalledHook> own_hooks(AgentCli agent, const json::object& settings);

/// One sentence when the user's settings or the machine's policy block hooks; empty otherwise. A file that cannot be
/// read blocks nothing. With a directory, Claude Code's settings there count too.
std::string hooks_blocked_reason(AgentCli agent, const EnvironmentBlock& environment, std::string_view directory = {});

}  // namespace relay::hooks
