/// The command line against the table. CLI11 does the work and stays in the .cc.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "cli/framework/command.h"
#include "cli/framework/invocation.h"

namespace relay::cli {

struct WantsHelp {
  const Command* command = nullptr;  // null: the overview
};
struct WantsVersion {};
struct Run {
  const Command* command = nullptr;
  Invocation invocation;
};
using ParsedCommandLine = std::variant<WantsHelp, WantsVersion, Run>;

/// Whether that word names an agent's program; asked only about a first word that is no command.
using IsAgent = std::function<bool(std::string_view word)>;

/// `words` without the program's name and the options of all commands. An agent's name in place of a command runs it. The
/// error is one sentence, and always a usage error.
Result<ParsedCommandLine> parse_command_line(const std::vector<std::string>& words, const IsAgent& is_agent = {});

}  // namespace relay::cli
