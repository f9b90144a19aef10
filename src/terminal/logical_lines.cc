#include "terminal/logical_lines.h"

#include <algorithm>
#include <utility>

#include "terminal/grid.h"
#include "terminal/scrollback.h"

namespace relay::terminal {
namespace {

class LineJoiner {
 public:
  void add(std::string_view text, bool wrapped, int row) {
    if (!open_) {
      lines_.push_back({.text = {}, .rows = 0, .first_row = row});
      open_ = true;
    }
    lines_.back().text += text;
    ++lines_.back().rows;
    if (!wrapped) close();
  }
  std::vector<LogicalLine> take() {
    if (open_) close();
    return std::move(lines_);
  }

 private:
  void close() {
    std::string& text = lines_.back().text;
    text.erase(text.find_last_not_of(' ') + 1);
    open_ = false;
  }

  std::vector<LogicalLine> lines_;
  bool open_ = false;  // the last line continues
};

void add_grid(LineJoiner& joiner, const Grid& grid) {
  for (int index = 0; index < grid.rows(); ++index) {
    const bool wrapped = grid.wrapped(index);
    joiner.add(wrapped ? grid.row(index).whole_text() : grid.text(index), wrapped, index);
  }
}

}  // namespace

std::vector<LogicalLine> logical_lines(const Grid& grid) {
  LineJoiner joiner;
  add_grid(joiner, grid);
  return joiner.take();
}

std::vector<LogicalLine> logical_lines(const Scrollback& scrollback, const Grid& grid, std::uint64_t from) {
  LineJoiner joiner;
  for (auto number = std::max(from, scrollback.first()); number < scrollback.end(); ++number) {
    const ScrolledRow& row = *scrollback.row(number);
    const bool newest = number + 1 == scrollback.end();
    const bool wrapped = newest ? row.wrapped && grid.row(0).continues() : row.wrapped;
    joiner.add(row.text, wrapped, -static_cast<int>(scrollback.end() - number));
  }
  add_grid(joiner, grid);
  return joiner.take();
}

}  // namespace relay::terminal
