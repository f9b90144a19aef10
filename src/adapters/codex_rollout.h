/// Finds the rollout of a running Codex when no hook reports it.
///
/// Why the open files: Codex chooses the name of a rollout, two runs may start in one directory in the same second, and
///   a resumed run appends to an old file. Only the process that has it open identifies it.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "pty/command.h"

namespace relay::adapters {

/// `CODEX_HOME`, or `.codex` in the home directory.
std::string codex_home(const pty::Command& command);

/// The rollout below that home which the agent, or a process it started, has open; empty if there is none. Of several
/// it is the oldest: a subagent's is younger.
std::string find_open_rollout(pid_t agent, const std::string& codex_home);

/// The thread's id at the end of the file's name; empty without one.
std::string thread_of_rollout(std::string_view path);

}  // namespace relay::adapters
