/// Facts about an agent CLI before it runs: its version and the permission mode it starts in.
///
/// Why: `session.started` is sent when the host connects, before the agent has reported anything.
/// The version comes from the program's package (package.json above it, or a file named after the version, as Claude
/// Code's installer creates). The mode comes from the command line, else from the settings the agent will read. Unknown
/// facts are empty; nothing is run and nothing is guessed.
/// Threading: reads a few small files; any thread.
#pragma once

#include <string>
#include <string_view>

#include "pty/command.h"

namespace relay::adapters {

struct LaunchFacts {
  std::string version = {};
  std::string permission_mode = {};  // in the agent's own words
};

/// `profile`: claude, codex, gemini, …
LaunchFacts launch_facts(std::string_view profile, const pty::Command& command);

/// The mode after a hook has reported `reported`. Codex's hooks have two values: `bypassPermissions` is its policy
/// `never`, `default` any other, which keeps `before` or, after `never`, makes the mode unknown (empty).
std::string mode_after_hook(std::string_view profile, std::string_view before, std::string_view reported);

}  // namespace relay::adapters
