/// Adds the relay's hooks to an agent for one run, without writing to the user's own files.
///
/// Why: an agent started through the relay should report its actions, and no change may remain after the run.
///   How each agent is wired, and what was tested on which version: docs/agents.md.
/// Invariants: the user's configuration stays in force (their own `--settings` and system files are merged, never
///   replaced), other hooks need the same trust as before, and a run that cannot be wired continues unwired.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "hooks/agent.h"
#include "hooks/installed_hooks.h"

namespace relay::hooks {

struct WiringOptions {
  std::string program = {};       // absolute path of agent-relay
  std::string private_file = {};  // path for a settings file of this run (0600); the host removes it
  std::string directory =
      {};                   // where the agent is started, for the user's relative paths; empty: the current directory
  bool root_owned = false;  // only root can write `private_file` and its parents: Gemini reads no other file
};

struct WiringResult {
  bool hooks = false;
  std::string blocked_reason = {};  // one sentence, when there are no hooks
};

/// Does the command line run Codex for one prompt (`codex exec`, `codex review`)? Such a run prints a line for each
/// hook it calls.
bool is_one_shot_codex(const std::vector<std::string>& argv);

/// Does root own the directory of the file and all its parents, and may no other user write there?
bool is_root_owned(const std::string& file);

/// Changes argv and environment so that the agent calls `agent-relay hook <agent>`. If that is not possible, both
/// stay unchanged and `blocked_reason` gives the reason; an error means only that the relay's own file could not be
/// written.
Result<WiringResult> wire(AgentCli agent, std::vector<std::string>& argv, EnvironmentBlock& environment,
                          const WiringOptions& options);

}  // namespace relay::hooks
