/// The command line against the table. CLI11 does the work and stays in the .cc.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/command.h"
#include "cli/invocation.h"

namespace relay::cli {

struct WantsHelp {
  const Command* command = nullptr;  // null: the overview
};
struct WantsVersion {};
struct Run {
  const Command* command = nullptr;
  Invocation invocation;
};
using Intent = std::variant<WantsHelp, WantsVersion, Run>;

/// `words` without the program's name. The error is one sentence, and always a usage error.
Result<Intent> parse_command_line(const std::vector<std::string>& words);

}  // namespace relay::cli
