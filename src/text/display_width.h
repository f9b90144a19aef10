/// How many columns text takes on a terminal.
///
/// Enough to tell where a line was broken: East Asian wide characters and emoji take two columns, combining marks and
/// joiners none. The screen itself is drawn elsewhere; here one column more or less costs at worst a wrong join.
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
