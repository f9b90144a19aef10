/// Options that stand before the command and mean the same for all of them: where to work, and whether to start the daemon.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::cli {

inline constexpr std::string_view kGlobalOptions =
    "Before any command: `-C DIR` works as if started in DIR, whose project it then is; `--no-start` does not start "
    "the\n"
    "daemon when the command needs one (exit code 3). Commands that report on it (`status`, `doctor`,\n"
    "`config`, `workspaces`, `down`, `reload`, `bench`) and those for agents that run (`explain`, `attach`, `input`,\n"
    "`wait`, `release`, `permissions`, `questions`, `approve`, `deny`, `answer`) never start it.";

struct GlobalOptions {
  std::vector<std::string> directories;  // entered one after the other
  bool no_start = false;
};

/// Takes them out of the words. `--no-start` may also stand behind a command, unless that command's words belong to another
/// program. The error is a usage error.
Result<GlobalOptions> take_global_options(std::vector<std::string>& words);

/// Enters the directories. From then on the project is found by the directory alone.
Result<void> enter(const std::vector<std::string>& directories);

}  // namespace relay::cli
