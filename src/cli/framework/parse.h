/// Parses the command line by the command table, with CLI11 (only in the .cc).
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

/// The word names the program of an agent; called only for a first word that is not a command.
using IsAgent = std::function<bool(std::string_view word)>;

/// `words` are the arguments without the program name and the global options. The name of an agent in place of a command
/// runs it. Every error is a usage error.
Result<ParsedCommandLine> parse_command_line(const std::vector<std::string>& words, const IsAgent& is_agent = {});

}  // namespace relay::cli
