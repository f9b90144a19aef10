/// A command line as the words of one simple command, or the reason why it is not one.
///
/// Why so strict: a rule that approves must determine what runs. A line that sh, bash, zsh and fish read differently,
///   or in which the shell would replace something, is not simple here, harmless or not; the user decides about it. So
///   no separators, pipes, redirections, substitutions, variables, braces, comments, assignments or backslashes.
/// Patterns for file names (`*`, `?`, `[`) and `~` stay and are visible in `text`: literal characters are in quotes.
/// Invariants: reading `text` again gives the same words and the same text. Threading: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::permissions {

inline constexpr std::size_t kMaxSimpleCommandBytes = 8 << 10;

struct SimpleCommand {
  std::vector<std::string> words = {};  // without quotes
  std::string text = {};                // one blank between words; a word in single quotes where it needs them
};

/// The error names in a few words the part that is not simple.
Result<SimpleCommand> read_simple_command(std::string_view line);

}  // namespace relay::permissions
