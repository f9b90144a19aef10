#include "terminal/row.h"

#include <algorithm>
#include <utility>

#include "terminal/limits.h"
#include "text/utf8.h"

namespace relay::terminal {

void Row::append_cell_text(std::string& out, int column) const {
  const Cell& cell = this->cell(column);
  if (cell.is_cluster())
    out += clusters_[cell.value()];
  else if (cell.is_filler())
    out += ' ';
  else if (!cell.is_spacer())
    text::append_utf8(out, cell.value());
}

std::string Row::cell_text(int column) const {
  std::string text;
  append_cell_text(text, column);
  return text;
}

void Row::append_range(std::string& out, int end) const {
  for (int column = 0; column < end; ++column) {
    // Most text is ASCII, and every line of a log passes here on its way to the scrollback.
    const std::size_t before = out.size();
    out.resize(before + static_cast<std::size_t>(end - column));
    char* to = out.data() + before;
    for (; column < end && cell(column).is_ascii(); ++column) *to++ = static_cast<char>(cell(column).value());
    out.resize(static_cast<std::size_t>(to - out.data()));
    if (column < end) append_cell_text(out, column);
  }
}

std::string Row::text() const {
  int end = columns();
  while (end > 0 && cell(end - 1).is_blank()) --end;
  std::string text;
  append_range(text, end);
  return text;
}

std::string Row::whole_text() const {
  std::string text;
  append_range(text, cell(columns() - 1).is_filler() ? columns() - 1 : columns());
  return text;
}

int Row::used_columns() const {
  int end = columns();
  while (end > 0 && cell(end - 1).is_blank() && cell(end - 1).style() == Style{}) --end;
  return end;
}

void Row::cut_before(int column, const Style& style) {
  if (column >= columns() || !cell(column).is_spacer()) return;
  at(column - 1) = at(column) = Cell::blank(style);
}

void Row::write_ascii(int column, const char* text, int count, const Style& style) {
  cut_before(column, style);
  cut_before(column + count, style);
  Cell* cells = &at(column);
  const Style own = style;  // a copy: without it the compiler must assume that writing a cell changes the style
  for (int i = 0; i < count; ++i) cells[i] = Cell{static_cast<unsigned char>(text[i]), 1, own};
}

void Row::write(int column, char32_t code, int columns, const Style& style) {
  cut_before(column, style);
  cut_before(column + columns, style);
  at(column) = Cell{code, columns, style};
  if (columns == 2) at(column + 1) = Cell::spacer(style);
}

void Row::write_filler(int column, const Style& style) {
  cut_before(column, style);
  at(column) = Cell::filler(style);
}

bool Row::extend(int column, char32_t code) {
  Cell& cell = at(column);
  if (!cell.is_cluster()) {
    if (clusters_.size() >= 2 * cells_.size()) drop_unused_clusters();
    std::string text = cell_text(column);
    clusters_.push_back(std::move(text));
    cell.set_cluster(static_cast<std::uint32_t>(clusters_.size() - 1), cell.columns());
  }
  std::string& cluster = clusters_[cell.value()];
  if (cluster.size() + 4 > kMaxClusterBytes) return false;
  text::append_utf8(cluster, code);
  return true;
}

void Row::widen(int column) {
  Cell& cell = at(column);
  const Style style = cell.style();
  cut_before(column + 2, style);
  if (cell.is_cluster())
    cell.set_cluster(cell.value(), 2);
  else
    cell = Cell{cell.value(), 2, style};
  at(column + 1) = Cell::spacer(style);
}

void Row::copy_cell(int column, const Row& from, int from_column) {
  const Cell& source = from.cell(from_column);
  const int width = source.columns();
  cut_before(column, source.style());
  cut_before(column + width, source.style());
  at(column) = source;
  if (source.is_cluster()) {
    if (clusters_.size() >= 2 * cells_.size()) {
      at(column) = Cell::blank(source.style());
      drop_unused_clusters();
    }
    clusters_.push_back(from.clusters_[source.value()]);
    at(column).set_cluster(static_cast<std::uint32_t>(clusters_.size() - 1), width);
  }
  if (width == 2) at(column + 1) = Cell::spacer(source.style());
}

void Row::restyle(int column, const Style& style) {
  at(column).set_style(style);
  if (cell(column).columns() == 2) at(column + 1).set_style(style);
}

void Row::drop_unused_clusters() {
  std::vector<std::string> remaining;
  for (auto& cell : cells_) {
    if (!cell.is_cluster()) continue;
    remaining.push_back(std::move(clusters_[cell.value()]));
    cell.set_cluster(static_cast<std::uint32_t>(remaining.size() - 1), cell.columns());
  }
  clusters_ = std::move(remaining);
}

void Row::clear(const Style& style) {
  std::fill(cells_.begin(), cells_.end(), Cell::blank(style));
  clusters_.clear();
  continues_ = false;
}

void Row::erase(int from, int to, const Style& style) {
  to = std::min(to, columns());
  if (from >= to) return;
  cut_before(from, style);
  cut_before(to, style);
  std::fill(cells_.begin() + from, cells_.begin() + to, Cell::blank(style));
}

void Row::insert(int column, int count, const Style& style) {
  count = std::min(count, columns() - column);
  if (count <= 0) return;
  cut_before(column, style);
  cut_before(columns() - count, style);
  std::move_backward(cells_.begin() + column, cells_.end() - count, cells_.end());
  std::fill_n(cells_.begin() + column, count, Cell::blank(style));
}

void Row::remove(int column, int count, const Style& style) {
  count = std::min(count, columns() - column);
  if (count <= 0) return;
  cut_before(column, style);
  cut_before(column + count, style);
  std::move(cells_.begin() + column + count, cells_.end(), cells_.begin() + column);
  std::fill_n(cells_.end() - count, count, Cell::blank(style));
}

void Row::resize(int columns) {
  cut_before(columns, Style{});
  cells_.resize(static_cast<std::size_t>(columns));
  drop_unused_clusters();
}

bool Row::same_cells(const Row& other) const {
  if (columns() != other.columns()) return false;
  for (int column = 0; column < columns(); ++column) {
    const Cell& left = cell(column);
    const Cell& right = other.cell(column);
    if (left.style() != right.style() || left.columns() != right.columns()) return false;
    if (left.is_blank() && right.is_blank()) continue;
    if (left.is_cluster() != right.is_cluster()) return false;
    if (!left.is_cluster() && left.value() != right.value()) return false;
    if (left.is_cluster() && clusters_[left.value()] != other.clusters_[right.value()]) return false;
  }
  return true;
}

}  // namespace relay::terminal
