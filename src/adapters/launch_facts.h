/// What can be known of an agent CLI before it runs: its version and the permission mode it starts in.
///
/// Why: `session.started` is told when the host connects, before the agent has said anything of itself.
/// The version comes from the package the program belongs to (package.json above it, or a file named after the version, as
/// Claude Code's own installer makes). The mode comes from the command line, else from the settings the agent will read.
/// What cannot be told is empty; nothing is run and nothing is guessed.
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

/// The mode once a hook has told `told`. Codex's hooks know two words: `bypassPermissions` is its policy `never`, `default` any
/// other, which leaves the one known `before` or, after `never`, none that is known.
std::string mode_told_by_hook(std::string_view profile, std::string_view before, std::string_view told);

}  // namespace relay::adapters
