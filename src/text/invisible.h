/// Characters that draw nothing.
///
/// Why: a model reads every character, a user sees only those that are drawn. Text that only the model reads carries
///   instructions past the user, and a mark that reverses the direction of a line makes it read differently.
#pragma once

#include <string>
#include <string_view>

namespace relay::text {

/// Default-ignorable characters, bidirectional controls and tags: they draw nothing.
bool is_invisible(char32_t point);

/// A character in visible form: `\u202e`, `\U000e0041`.
std::string code_point_mark(char32_t point);

/// Replaces each invisible character by its mark. Left unchanged: presentation selectors and the joiner after a symbol
/// (emoji), and joiners after a character of a script that uses them (Arabic to Mongolian); of a run only the first.
std::string show_invisible(std::string_view text);

}  // namespace relay::text
