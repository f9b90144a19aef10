/// Help for people, made from the table.
#pragma once

#include <string>

#include "cli/command.h"

namespace relay::cli {

inline constexpr int kHelpColumns = 80;
inline constexpr int kHelpLines = 40;

/// One screen, grouped by intent.
std::string overview();
std::string help_of(const Command& command);

/// docs/cli.md: the same, as a page.
std::string manual_markdown();

}  // namespace relay::cli
