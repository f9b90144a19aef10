/// Gives a program our hooks for one run, with nothing written to the person's own files.
///
/// Why: an agent that is started through us should tell us what it does, and nothing of that may remain when it is
///   gone. How each agent can be told, and what was tried on which version: docs/agents.md.
/// Always so: what the person configured stays in force (their own `--settings` and system files are merged, never
///   replaced), hooks of others need the same trust as before, and a run that cannot be wired goes on unwired.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/agent.h"
#include "hooks/installed_hooks.h"

namespace relay::hooks {

struct WiringOptions {
  std::string program = {};       // absolute path of agent-relay
  std::string private_file = {};  // where a settings file of this run may be written (0600); the host removes it
  std::string directory = {};     // where the agent will be started, for relative paths of the person; empty: here
  bool root_owned = false;        // nobody but root can write `private_file` or above it: Gemini reads no other
};

struct WiringResult {
  bool hooks = false;
  std::string blocked_reason = {};  // one sentence, when there are none
};

/// Does that command line run Codex for one prompt (`codex exec`, `codex review`)? Such a run prints a line for each
/// hook it calls.
bool is_one_shot_codex(const std::vector<std::string>& argv);

/// Does root own the directory of that file and all above, and may nobody else write there?
bool is_root_owned(const std::string& file);

/// Adds to argv and environment what makes that agent call `agent-relay hook <agent>`. When it cannot, both are as they
/// were and `blocked_reason` says why; an error is only a disk that refuses our own file.
Result<WiringResult> wire(AgentCli agent, std::vector<std::string>& argv, EnvironmentBlock& environment,
                          const WiringOptions& wish);

}  // namespace relay::hooks
