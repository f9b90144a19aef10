/// A command line as the words of one simple command, or the reason why it is more than that.
///
/// Why so strict: a rule that approves must know what runs. What sh, bash, zsh and fish do not all read alike, or what
///   the shell would still replace by something else, is not simple here, harmless or not; a person can look at it.
///   So no separators, pipes, redirections, substitutions, variables, braces, comments, assignments, backslashes.
/// Patterns for file names (`*`, `?`, `[`) and `~` stay, and can be seen in `text`: what is meant literally is in
/// quotes.
/// Invariants: `text` read again gives the same words and the same text. Threading: pure.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace relay::permissions {

inline constexpr std::size_t kMaxSimpleCommandBytes = 8 << 10;

struct SimpleCommand {
  std::vector<std::string> words = {};  // quotes taken away
  std::string text = {};                // one blank between words; a word in single quotes where it needs them
};

/// The error says in a few words what is not simple.
Result<SimpleCommand> read_simple_command(std::string_view line);

}  // namespace relay::permissions
