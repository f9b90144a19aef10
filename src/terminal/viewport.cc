#include "terminal/viewport.h"

#include <algorithm>

#include "base/format.h"
#include "terminal/screen.h"
#include "terminal/sgr.h"

namespace relay::terminal {
namespace {

constexpr std::string_view kOpening = "\x1b[?1049h\x1b[0m\x1b[2J\x1b[?7l";
constexpr std::string_view kClosing =
    "\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?1016l\x1b[?1004l\x1b[?2004l"
    "\x1b[?1007l\x1b[>4;0m\x1b[=0;1u\x1b[?1l\x1b>\x1b[0 q\x1b[0m\x1b[?7h\x1b[?25h\x1b[?1049l";

constexpr int kMouseModes[] = {9, 1000, 1002, 1003, 1005, 1006, 1015, 1016};
constexpr int kKeyModes[] = {1, 1004, 1007, 2004};

}  // namespace

std::string_view Viewport::opening() { return kOpening; }
std::string_view Viewport::closing() { return kClosing; }

void Viewport::resize(Size size) {
  size_ = clamped(size);
  invalidate();
}

void Viewport::invalidate() {
  drawn_.clear();
  cursor_.clear();
  modes_ = {};
}

std::string Viewport::row_bytes(const Screen& screen, int row) const {
  std::string out;
  if (row >= screen.size().rows) return out;
  const Row& cells = screen.grid().row(row);
  const int end = std::min(cells.used_columns(), size_.columns);
  Style style;
  for (int column = 0; column < end; ++column) {
    const Cell& cell = cells.cell(column);
    if (cell.is_spacer()) continue;
    if (column + cell.columns() > size_.columns) break;  // a half would extend over the edge
    if (cell.style() != style) {
      style = cell.style();
      out += sgr_of(style);
    }
    cells.append_cell_text(out, column);
  }
  if (style != Style{}) out += "\x1b[0m";
  return out;
}

std::string Viewport::mode_changes(const Modes& wanted) {
  std::string out;
  const auto change = [&](int number) {
    const auto on = mode_state(wanted, ModeKind::DecPrivate, number);
    if (on && on != mode_state(modes_, ModeKind::DecPrivate, number))
      out += format("\x1b[?{}{}", number, *on ? 'h' : 'l');
  };
  for (const int number : kMouseModes)
    if (!mode_state(wanted, ModeKind::DecPrivate, number).value_or(false)) change(number);
  for (const int number : kMouseModes)
    if (mode_state(wanted, ModeKind::DecPrivate, number).value_or(false)) change(number);
  for (const int number : kKeyModes) change(number);
  if (wanted.application_keypad != modes_.application_keypad) out += wanted.application_keypad ? "\x1b=" : "\x1b>";
  if (wanted.keyboard_flags != modes_.keyboard_flags) out += format("\x1b[={};1u", wanted.keyboard_flags);
  if (wanted.modify_other_keys != modes_.modify_other_keys) out += format("\x1b[>4;{}m", wanted.modify_other_keys);
  if (wanted.cursor_shape != modes_.cursor_shape) out += format("\x1b[{} q", static_cast<int>(wanted.cursor_shape));
  modes_ = wanted;
  return out;
}

std::string Viewport::paint(const Screen& screen) {
  const auto cursor = screen.cursor();
  const int rows = std::min(size_.rows, screen.size().rows);
  const int uncovered = rows - (!notice_.empty() && rows == size_.rows ? 1 : 0);
  rows_above_ = std::max(0, cursor.row - uncovered + 1);
  const bool redraw_all = drawn_.size() != static_cast<std::size_t>(size_.rows);
  if (redraw_all) drawn_.assign(static_cast<std::size_t>(size_.rows), {});
  std::string body = redraw_all ? "\x1b[0m\x1b[2J" : "";
  for (int row = 0; row < size_.rows; ++row) {
    const bool covered = !notice_.empty() && row == size_.rows - 1;
    auto bytes = covered ? format("\x1b[7m{}\x1b[0m", notice_) : row_bytes(screen, row + rows_above_);
    auto& drawn = drawn_[static_cast<std::size_t>(row)];
    if (bytes == drawn) continue;
    body += format("\x1b[{};1H\x1b[K{}", row + 1,
                   bytes);  // erased first: behind the last column it would erase that column
    drawn = std::move(bytes);
  }
  const bool visible = screen.modes().cursor_visible && cursor.column < size_.columns;
  auto position = format("\x1b[{};{}H{}", cursor.row - rows_above_ + 1, std::min(cursor.column, size_.columns - 1) + 1,
                         visible ? "\x1b[?25h" : "\x1b[?25l");
  body += mode_changes(screen.modes());
  if (body.empty() && position == cursor_) return {};
  cursor_ = std::move(position);
  return format("\x1b[?2026h\x1b[?25l{}{}\x1b[?2026l", body, cursor_);
}

}  // namespace relay::terminal
