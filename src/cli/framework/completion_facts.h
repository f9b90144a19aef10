/// The command table as the three completion scripts need it.
///
/// Why the scripts call `completion --names KIND`: names come from agents and are data. One call prints them one per line,
///   and each script compares and quotes them; no script ever hands them to a shell as words to expand.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command.h"

namespace relay::cli {

inline constexpr std::string_view kShells = "bash zsh fish";
/// Prints the names of one kind; nothing without a daemon.
inline constexpr std::string_view kListNames = "agent-relay completion --names";

/// What a place on the line may hold: words that never change, names the program is asked for, or files.
struct Offer {
  std::string words = {};  // separated by blanks
  std::string_view kind = {};
  bool files = false;

  [[nodiscard]] bool empty() const { return words.empty() && kind.empty() && !files; }
};
Offer offer_for(CompletionKind completes, std::string_view choices);
Offer offer_for(const Argument& argument);
Offer offer_for(const Option& option);

/// All commands, separated by blanks.
std::string command_names();
/// The programs of known agents: `agent-relay claude` runs it.
std::vector<std::string> program_names();
/// The options that are shown and take a value.
std::vector<const Option*> options_with_value(const Command& command);
/// `--help --json …`
std::string option_names(const Command& command);
/// Text that stands between single quotes of a POSIX shell.
std::string single_quoted(std::string_view text);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace relay::cli
