/// Text as cells: one cell is one visible character (a letter with its accents, a flag, an emoji sequence).
///
/// A character that a terminal would execute or hide is displayed as other characters (`^[`, `\u200b`). Such a cell has more
/// than one column, and the cursor moves over it in one step.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

struct TextCell {
  std::size_t begin = 0, end = 0;  // byte offsets
  std::size_t columns = 1;
};

/// All cells, in order, without gaps. A line end is a cell without columns.
std::vector<TextCell> cells_of(std::string_view text);

/// The text printed for a cell.
std::string visible_text(std::string_view cell);

}  // namespace relay::cli
