/// How many terminal columns a text takes.
///
/// Good enough to find where a line was wrapped: East Asian wide characters and emoji take two columns, combining marks
/// and joiners none. The screen is drawn by terminal/; here an error of one column costs at most a wrong join.
#pragma once

#include <cstddef>
#include <string_view>

namespace relay::text {

std::size_t display_width(std::string_view text);

/// The first and last character, decoded; 0 when there is none or it is broken.
char32_t first_character(std::string_view text);
char32_t last_character(std::string_view text);

bool is_wide(char32_t character);

}  // namespace relay::text
