/// Help texts, made from the command table.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command.h"

namespace relay::cli {

inline constexpr std::size_t kHelpColumns = 80;
inline constexpr int kHelpLines = 40;

inline constexpr std::string_view kExitCodes = "0 ok, 1 failed, 2 usage, 3 no daemon, 4 timed out, 5 refused";
inline constexpr std::string_view kOutputRule =
    "Results go to stdout, diagnostics to stderr. A failure is one line on stderr; with --json it is also one object "
    "on\n"
    "stdout: {\"error\": {\"code\": \"NO_DAEMON\", \"message\": \"…\"}}.";

/// One screen, grouped by intent. `columns` is the width of the terminal; 0: no limit.
std::string overview(std::size_t columns = 0);
std::string help_of(const Command& command, std::size_t columns = 0);

/// docs/cli.md: the same, as a page.
std::string manual_markdown();

/// The parts of every form of help: a summary as a sentence; the arguments and options of a command, without hidden
/// ones.
std::string sentence(std::string_view summary);
/// The usage with the optional argument that the overview shows as a hint: `spawn NAME CLI [TASK]`.
std::string usage_of(const Command& command);
struct Line {
  std::string left, right;
};
std::vector<Line> lines_of(const Command& command);

}  // namespace relay::cli
