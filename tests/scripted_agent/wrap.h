/// Text layout like that of agents: wrapped by the program at spaces, with indented continuation lines.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace relay::scripted_agent {

/// A word longer than a line is split.
std::vector<std::string> wrap(std::string_view text, std::size_t columns, std::string_view first_prefix,
                              std::string_view next_prefix);

/// The width by the C library: two columns for wide characters, none for combining ones.
std::size_t width(std::string_view text);

/// The longest suffix that fits in `columns`.
std::string_view tail(std::string_view text, std::size_t columns);

}  // namespace relay::scripted_agent
