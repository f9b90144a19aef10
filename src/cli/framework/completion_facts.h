/// The command table in the form that the completion scripts need.
///
/// Why the scripts call `completion --names KIND`: names come from agents and are data. The call prints one per line, and
///   each script compares and quotes them; no script passes them to the shell for expansion.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "cli/framework/command.h"

namespace relay::cli {

inline constexpr std::string_view kShells = "bash zsh fish";
/// Prints the names of one kind; prints nothing without a daemon.
inline constexpr std::string_view kListNames = "agent-relay completion --names";

/// The candidates at a position: fixed words, names from the program, or files.
struct Offer {
  std::string words = {};  // separated by spaces
  std::string_view kind = {};
  bool files = false;

  [[nodiscard]] bool empty() const { return words.empty() && kind.empty() && !files; }
};
Offer offer_for(CompletionKind completes, std::string_view choices);
Offer offer_for(const Argument& argument);
Offer offer_for(const Option& option);

/// All command names, separated by spaces.
std::string command_names();
/// The programs of agents with a profile: `agent-relay claude` runs one.
std::vector<std::string> program_names();
/// The visible options that take a value.
std::vector<const Option*> options_with_value(const Command& command);
/// `--help --json …`
std::string option_names(const Command& command);
/// Escapes text for single quotes of a POSIX shell.
std::string escape_single_quotes(std::string_view text);

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

}  // namespace relay::cli
