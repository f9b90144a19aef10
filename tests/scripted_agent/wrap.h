/// Text laid out as agents do it: wrapped by the program itself, at blanks, continuation lines indented.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::scripted_agent {

/// A word longer than the line is cut.
std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::string_view first_prefix,
                              std::string_view next_prefix);

/// Columns, as the C library counts them: wide characters are two, those that combine none.
std::size_t width(std::string_view text);

/// The end of it that fits into so many columns.
std::string_view tail(std::string_view text, std::size_t columns);

}  // namespace relay::scripted_agent
