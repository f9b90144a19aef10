/// Options before the command, the same for every command: the directory, and whether to start the daemon.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::cli {

inline constexpr std::string_view kGlobalOptions =
    "Before any command: `-C DIR` runs it as if started in DIR, with the project of DIR; `--no-start` does not start\n"
    "the daemon for a command that needs it (exit code 3). Commands that report on the daemon (`status`, `doctor`,\n"
    "`config`, `workspaces`, `down`, `reload`, `bench`) and commands for running agents (`explain`, `attach`, "
    "`input`,\n"
    "`wait`, `release`, `permissions`, `questions`, `approve`, `deny`, `answer`) never start it.";

struct GlobalOptions {
  std::vector<std::string> directories;  // entered one after another
  bool no_start = false;
};

/// Removes them from `words`. `--no-start` may also follow the command, unless the words of that command belong to
/// another program. The error is a usage error.
Result<GlobalOptions> take_global_options(std::vector<std::string>& words);

/// Changes to the directories. After that only the directory selects the project.
Result<void> change_directory(const std::vector<std::string>& directories);

}  // namespace relay::cli
