/// Help for people, made from the table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command.h"

namespace relay::cli {

inline constexpr std::size_t kHelpColumns = 80;
inline constexpr int kHelpLines = 40;

inline constexpr std::string_view kExitCodes = "0 yes, 1 no or failed, 2 usage, 3 no daemon, 4 timed out, 5 refused";
inline constexpr std::string_view kOutputRule =
    "Results go to stdout, talk to stderr. A failure is one sentence on stderr; with --json it is also one object on\n"
    "stdout: {\"error\": {\"code\": \"NO_DAEMON\", \"message\": \"…\"}}.";

/// One screen, grouped by intent. `columns` is the terminal's width; 0: no limit.
std::string overview(std::size_t columns = 0);
std::string help_of(const Command& command, std::size_t columns = 0);

/// docs/cli.md: the same, as a page.
std::string manual_markdown();

/// What all shapes of help are made of: a summary as a sentence, and what a command takes, hidden options left out.
std::string sentence(std::string_view summary);
struct Line {
  std::string left, right;
};
std::vector<Line> lines_of(const Command& command);

}  // namespace relay::cli
