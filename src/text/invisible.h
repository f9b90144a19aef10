/// Characters that show nothing.
///
/// Why: a model reads every character, a person only those that are drawn. Text that only one of them sees carries
///   instructions past the other, and a mark that turns the direction of a line makes it say something else.
#pragma once

#include <string>
#include <string_view>

namespace relay::text {

/// Default-ignorable characters, controls of direction, and tags: nothing is drawn where one stands.
bool is_invisible(char32_t point);

/// A character in visible form: `\u202e`, `\U000e0041`.
std::string code_point_mark(char32_t point);

/// Each invisible character as its mark. Kept as they are: the presentation selectors and the joiner behind a symbol
/// (emoji), and joiners behind a letter of a script that writes with them (Arabic to Mongolian); each once in a row.
std::string show_invisible(std::string_view text);

}  // namespace relay::text
