/// The rows of one screen. Scrolling moves row numbers, never cells.
///
/// Rows stay in place and are reached through an order of small numbers, so that scrolling a screen or a region costs
/// four bytes per row and clearing the new rows.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "terminal/geometry.h"
#include "terminal/row.h"

namespace relay::terminal {

class Grid {
 public:
  explicit Grid(Size size);

  [[nodiscard]] Size size() const { return {columns_, rows()}; }
  [[nodiscard]] int rows() const { return static_cast<int>(order_.size()); }
  [[nodiscard]] int columns() const { return columns_; }
  [[nodiscard]] const Row& row(int index) const { return rows_[order_[static_cast<std::size_t>(index)]]; }
  [[nodiscard]] Row& row(int index) { return rows_[order_[static_cast<std::size_t>(index)]]; }

  /// The readable text of a row without trailing blanks.
  [[nodiscard]] std::string text(int index) const { return row(index).text(); }
  /// The row continues in the next one without a newline. The last row never does.
  [[nodiscard]] bool wrapped(int index) const { return index + 1 < rows() && row(index + 1).continues(); }

  /// Rows [top, bottom] move up by `count`; blank rows enter at the bottom. Logical lines that this splits are
  /// separated.
  void scroll_up(int top, int bottom, int count, const Style& style);
  void scroll_down(int top, int bottom, int count, const Style& style);
  void clear(const Style& style);

  /// Columns are cut or added at the right, rows at the bottom.
  void resize(Size size);

  /// Same text, styles and wrapped rows.
  bool operator==(const Grid& other) const;

 private:
  int columns_;
  std::vector<Row> rows_;
  std::vector<std::uint16_t> order_;
};
static_assert(kMaxRows <= UINT16_MAX);

}  // namespace relay::terminal
