#include "terminal/grid.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace relay::terminal {

Grid::Grid(Size size)
    : columns_{size.columns},
      rows_(static_cast<std::size_t>(size.rows), Row{size.columns, Style{}}),
      order_(static_cast<std::size_t>(size.rows)) {
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
}

void Grid::scroll_up(int top, int bottom, int count, const Style& style) {
  count = std::min(count, bottom - top + 1);
  const auto first = order_.begin() + top;
  std::rotate(first, first + count, order_.begin() + bottom + 1);
  for (int index = bottom - count + 1; index <= bottom; ++index) row(index).clear(style);
  if (top > 0) row(top).set_continues(false);
  if (bottom + 1 < rows()) row(bottom + 1).set_continues(false);
}

void Grid::scroll_down(int top, int bottom, int count, const Style& style) {
  count = std::min(count, bottom - top + 1);
  const auto first = order_.begin() + top;
  const auto last = order_.begin() + bottom + 1;
  std::rotate(first, last - count, last);
  for (int index = top; index < top + count; ++index) row(index).clear(style);
  if (top + count < rows()) row(top + count).set_continues(false);
  if (bottom + 1 < rows()) row(bottom + 1).set_continues(false);
}

void Grid::clear(const Style& style) {
  for (auto& row : rows_) row.clear(style);
}

void Grid::resize(Size size) {
  std::vector<Row> resized;
  resized.reserve(static_cast<std::size_t>(size.rows));
  for (int index = 0; index < size.rows; ++index) {
    if (index < rows()) {
      resized.push_back(std::move(row(index)));
      if (size.columns != columns_) resized.back().resize(size.columns);
    } else {
      resized.emplace_back(size.columns, Style{});
    }
  }
  rows_ = std::move(resized);
  order_.resize(static_cast<std::size_t>(size.rows));
  std::iota(order_.begin(), order_.end(), std::uint16_t{0});
  columns_ = size.columns;
}

bool Grid::operator==(const Grid& other) const {
  if (size() != other.size()) return false;
  for (int index = 0; index < rows(); ++index)
    if (wrapped(index) != other.wrapped(index) || !row(index).same_cells(other.row(index))) return false;
  return true;
}

}  // namespace relay::terminal
