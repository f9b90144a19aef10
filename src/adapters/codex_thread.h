/// Finds the thread that the terminal of a running Codex shows.
///
/// Why locks: after `/new`, `/clear`, `/resume` and `/fork` Codex 0.166.0 reports the shown thread to hooks only with
///   the first prompt there, and meanwhile reads texts from the queue of the earlier thread. But it locks a thread when
///   it opens it, by a file `thread-writer-locks/<thread>.lock` in its home whose time is that of the last opening. It may
///   keep the locks of threads that it no longer shows.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

namespace relay::adapters {

/// The thread that was opened last by the process that has `reported` open; if none has, by the agent or a process it
/// started. Subagents are skipped. Empty if no lock is found.
std::string find_shown_thread(pid_t agent, const std::string& codex_home, std::string_view reported);

}  // namespace relay::adapters
