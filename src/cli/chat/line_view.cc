#include "cli/chat/line_view.h"

#include <algorithm>

#include "base/format.h"
#include "cli/render/text.h"
#include "cli/render/text_cells.h"

namespace relay::cli {
namespace {

struct Row {
  std::string bytes;
  std::size_t columns = 0;
};

struct Layout {
  std::vector<Row> rows;
  std::size_t cursor_row = 0, cursor_column = 0;
};

Layout lay_out(const LineView::Prompt& prompt, std::string_view text, std::size_t cursor, std::size_t columns) {
  Layout layout;
  layout.rows.push_back({prompt.styled, display_width(prompt.text)});
  const auto mark_cursor = [&](std::size_t place) {
    if (place != cursor) return;
    layout.cursor_row = layout.rows.size() - 1;
    layout.cursor_column = layout.rows.back().columns;
  };
  for (const auto& cell : cells_of(text)) {
    const bool ends_line = text[cell.begin] == '\n';
    if (!ends_line && layout.rows.back().columns + cell.columns > columns && layout.rows.back().columns > 0)
      layout.rows.emplace_back();
    mark_cursor(cell.begin);
    if (ends_line) {
      layout.rows.emplace_back();
      continue;
    }
    layout.rows.back().bytes += visible_text(text.substr(cell.begin, cell.end - cell.begin));
    layout.rows.back().columns += cell.columns;
  }
  mark_cursor(text.size());
  return layout;
}

std::string move(std::size_t count, char direction) {
  return count == 0 ? std::string{} : relay::format("\x1b[{}{}", count, direction);
}

}  // namespace

std::string LineView::to_first_row() const { return "\r" + move(cursor_row_, 'A'); }

std::string LineView::erase() {
  if (height_ == 0) return {};
  auto bytes = to_first_row();
  for (std::size_t row = 0; row < height_; ++row) bytes += row == 0 ? "\x1b[K" : "\x1b[B\x1b[K";
  bytes += move(height_ - 1, 'A');
  forget();
  return bytes;
}

std::string LineView::draw(const Prompt& prompt, std::string_view text, std::size_t cursor) {
  auto layout = lay_out(prompt, text, cursor, std::max<std::size_t>(size_.columns, 2) - 1);
  const auto max_rows = std::max<std::size_t>(size_.rows, 2) - 1;
  std::size_t first = 0;
  if (layout.rows.size() > max_rows) {
    first = layout.cursor_row < max_rows ? 0 : layout.cursor_row - max_rows + 1;
    layout.rows.resize(first + max_rows);
  }
  auto bytes = to_first_row();
  rows_.clear();
  for (std::size_t row = first; row < layout.rows.size(); ++row) {
    if (row > first) bytes += "\r\n";
    bytes += layout.rows[row].bytes + "\x1b[K";
    rows_.push_back(layout.rows[row].columns);
  }
  for (std::size_t row = rows_.size(); row < height_; ++row) bytes += "\r\n\x1b[K";
  cursor_row_ = layout.cursor_row - first;
  cursor_column_ = layout.cursor_column;
  bytes += move(std::max(rows_.size(), height_) - 1 - cursor_row_, 'A');
  height_ = rows_.size();
  return bytes + "\r" + move(cursor_column_, 'C');
}

std::string LineView::leave(const Prompt& prompt, std::string_view text) {
  auto bytes = draw(prompt, text, text.size()) + "\r\n";
  forget();
  return bytes;
}

void LineView::resize(ViewSize size) {
  size_ = size;
  if (rows_.empty() || size.columns == 0) return;
  const auto wrapped_height = [&](std::size_t columns) {
    return std::max<std::size_t>(1, (columns + size.columns - 1) / size.columns);
  };
  std::size_t above = 0;
  height_ = 0;
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    if (row == cursor_row_) above = height_;
    height_ += wrapped_height(rows_[row]);
  }
  cursor_row_ = above + cursor_column_ / size.columns;
  cursor_column_ %= size.columns;
  rows_.assign(height_, 0);  // now terminal rows
}

}  // namespace relay::cli
