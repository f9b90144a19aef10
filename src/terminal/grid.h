/// The rows of one screen. Scrolling moves row numbers, never cells.
///
/// Rows are kept in place and reached through an order of small numbers, so that scrolling a screen or any region of it
/// costs four bytes per row and the clearing of what comes in.
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

  /// What can be read in a row, trailing blanks cut.
  [[nodiscard]] std::string text(int index) const { return row(index).text(); }
  /// The row goes on in the next one without a newline. The last row never does.
  [[nodiscard]] bool wrapped(int index) const { return index + 1 < rows() && row(index + 1).continues(); }

  /// Rows [top, bottom] move up by `count`; blank rows come in below. Lines cut by it are no longer one line.
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
