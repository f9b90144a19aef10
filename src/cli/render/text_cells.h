/// Text as a terminal shows it: one cell is one character as a person sees it (a letter with its accents, a flag, a family).
///
/// What a terminal would obey or hide is shown by other characters (`^[`, `\u200b`); such a cell has more columns than
/// one, and a cursor still passes it in one step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

struct TextCell {
  std::size_t begin = 0, end = 0;  // bytes of the text
  std::size_t columns = 1;
};

/// All cells, in order, without gaps. A line end is a cell of its own with no columns.
std::vector<TextCell> cells_of(std::string_view text);

/// What the terminal is given for a cell.
std::string visible(std::string_view cell);

}  // namespace relay::cli
