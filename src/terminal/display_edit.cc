/// Erasing, inserting, deleting, scrolling.
#include <algorithm>

#include "terminal/display.h"

namespace relay::terminal {

void Display::mark_rows(int first, int last) {
  std::fill(changed_.begin() + first, changed_.begin() + last + 1, std::uint8_t{1});
  ++revision_;
}

void Display::erase_display(EraseRange range) {
  Grid& grid = page().grid;
  switch (range) {
    case EraseRange::After:
      erase_line(EraseRange::After);
      for (int index = pen_.row + 1; index < size_.rows; ++index) grid.row(index).clear(erase_style());
      mark_rows(pen_.row, size_.rows - 1);
      return;
    case EraseRange::Before:
      erase_line(EraseRange::Before);
      row().set_continues(false);
      if (pen_.column + 1 >= size_.columns && pen_.row + 1 < size_.rows) grid.row(pen_.row + 1).set_continues(false);
      for (int index = 0; index < pen_.row; ++index) grid.row(index).clear(erase_style());
      mark_rows(0, pen_.row);
      return;
    case EraseRange::All:
      grid.clear(erase_style());
      mark_rows(0, size_.rows - 1);
      return;
  }
}

void Display::erase_line(EraseRange range) {
  mark(pen_.row);
  switch (range) {
    case EraseRange::After:
      if (pen_.column == 0) return row().clear(erase_style());
      return row().erase(pen_.column, size_.columns, erase_style());
    case EraseRange::Before: return row().erase(0, pen_.column + 1, erase_style());
    case EraseRange::All: return row().clear(erase_style());
  }
}

void Display::erase_characters(int count) {
  clamp_column();
  row().erase(pen_.column, pen_.column + std::min(count, size_.columns), erase_style());
  mark(pen_.row);
}

void Display::insert_characters(int count) {
  clamp_column();
  row().insert(pen_.column, count, erase_style());
  mark(pen_.row);
}

void Display::delete_characters(int count) {
  clamp_column();
  row().remove(pen_.column, count, erase_style());
  mark(pen_.row);
}

void Display::insert_lines(int count) {
  Page& page = this->page();
  clamp_column();
  if (pen_.row < page.top || pen_.row > page.bottom) return;
  page.grid.scroll_down(pen_.row, page.bottom, count, erase_style());
  mark_rows(pen_.row, page.bottom);
  pen_.column = 0;
}

void Display::delete_lines(int count) {
  Page& page = this->page();
  clamp_column();
  if (pen_.row < page.top || pen_.row > page.bottom) return;
  page.grid.scroll_up(pen_.row, page.bottom, count, erase_style());
  mark_rows(pen_.row, page.bottom);
  pen_.column = 0;
}

void Display::scroll_up(int count) { scroll_region_up(page().top, page().bottom, count); }

void Display::scroll_down(int count) {
  Page& page = this->page();
  page.grid.scroll_down(page.top, page.bottom, count, erase_style());
  mark_rows(page.top, page.bottom);
}

void Display::scroll_region_up(int top, int bottom, int count) {
  count = std::min(count, bottom - top + 1);
  if (top == 0 && !modes_.alternate_screen) save_to_scrollback(count);
  page().grid.scroll_up(top, bottom, count, erase_style());
  mark_rows(top, bottom);
}

/// The primary screen's first rows go to the scrollback.
void Display::save_to_scrollback(int count) {
  const Grid& grid = primary_.grid;
  for (int index = 0; index < count; ++index) {
    const bool wrapped = grid.wrapped(index);
    const std::uint64_t number = scrollback_.end();
    scrollback_.push({wrapped ? grid.row(index).whole_text() : grid.text(index), wrapped});
    if (!reports_.empty())
      if (auto* last = std::get_if<RowsScrolledOff>(&reports_.back()); last && last->first + last->count == number) {
        ++last->count;
        continue;
      }
    report(RowsScrolledOff{number, 1});
  }
}

void Display::alignment_pattern() {
  Grid& grid = page().grid;
  const std::string pattern(static_cast<std::size_t>(size_.columns), 'E');
  for (int index = 0; index < size_.rows; ++index) {
    grid.row(index).clear(pen_.style);
    grid.row(index).write_ascii(0, pattern.data(), size_.columns, pen_.style);
  }
  mark_rows(0, size_.rows - 1);
  move_to(0, 0);
}

}  // namespace relay::terminal
