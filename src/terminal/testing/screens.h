/// Helpers for tests of screens.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terminal/screen.h"

namespace relay::terminal::testing {

inline Screen screen_after(std::string_view bytes, Size size = {10, 4}) {
  Screen screen{size};
  screen.feed(bytes);
  return screen;
}

/// The text of all rows; blank rows at the end are omitted.
inline std::vector<std::string> rows_of(const Screen& screen) {
  std::vector<std::string> rows;
  for (int index = 0; index < screen.grid().rows(); ++index) rows.push_back(screen.grid().text(index));
  while (!rows.empty() && rows.back().empty()) rows.pop_back();
  return rows;
}

inline std::vector<std::string> rows_after(std::string_view bytes, Size size = {10, 4}) {
  return rows_of(screen_after(bytes, size));
}

inline Position cursor_after(std::string_view bytes, Size size = {10, 4}) {
  const Cursor cursor = screen_after(bytes, size).cursor();
  return {cursor.row, cursor.column};
}

/// Reports of one kind, in order.
template <class Kind>
std::vector<Kind> reports_of(Screen& screen) {
  std::vector<Kind> found;
  for (const auto& report : screen.take_reports())
    if (const auto* kind = std::get_if<Kind>(&report)) found.push_back(*kind);
  return found;
}

/// Empty, or the defect of a grid: a wide cell without its spacer, a spacer without its wide cell.
inline std::string broken_cells(const Grid& grid) {
  for (int index = 0; index < grid.rows(); ++index) {
    const Row& row = grid.row(index);
    if (row.columns() != grid.columns()) return "a row has another width";
    for (int column = 0; column < row.columns(); ++column) {
      const bool wide = row.cell(column).columns() == 2;
      const bool spacer_follows = column + 1 < row.columns() && row.cell(column + 1).is_spacer();
      if (wide != spacer_follows) return "a wide cell and its spacer were torn apart";
      if (column == 0 && row.cell(0).is_spacer()) return "a row starts with a spacer";
    }
  }
  return {};
}

}  // namespace relay::terminal::testing
