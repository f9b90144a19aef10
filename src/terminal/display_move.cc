/// Moving the pen.
#include <algorithm>

#include "terminal/display.h"

namespace relay::terminal {

void Display::clamp_column() { pen_.column = std::clamp(pen_.column, 0, size_.columns - 1); }

/// Moves the pen back inside after a change of screen, region or origin.
void Display::clamp_pen() {
  const Page& page = this->page();
  clamp_column();
  pen_.row = modes_.origin ? std::clamp(pen_.row, page.top, page.bottom) : std::clamp(pen_.row, 0, size_.rows - 1);
}

void Display::move_to(int row, int column) {
  const Page& page = this->page();
  pen_.column = std::clamp(column, 0, size_.columns - 1);
  pen_.row = modes_.origin ? std::clamp(page.top + row, page.top, page.bottom) : std::clamp(row, 0, size_.rows - 1);
}

void Display::move_by(int rows, int columns) {
  const Page& page = this->page();
  clamp_column();
  pen_.column = std::clamp(pen_.column + columns, 0, size_.columns - 1);
  pen_.row = modes_.origin ? std::clamp(pen_.row + rows, page.top, page.bottom)
                           : std::clamp(pen_.row + rows, 0, size_.rows - 1);
}

void Display::move_vertically(int rows) {
  const Page& page = this->page();
  if (rows < 0 && pen_.row >= page.top) rows = std::max(rows, page.top - pen_.row);
  if (rows > 0 && pen_.row <= page.bottom) rows = std::min(rows, page.bottom - pen_.row);
  move_by(rows, 0);
}

void Display::set_row(int row) {
  clamp_column();
  move_to(row, pen_.column);
}

void Display::set_column(int column) { pen_.column = std::clamp(column, 0, size_.columns - 1); }

void Display::backspace() {
  const Page& page = this->page();
  if (!modes_.reverse_wrap) clamp_column();
  if (pen_.column > 0) {
    --pen_.column;
  } else if (modes_.reverse_wrap && pen_.row > page.top && pen_.row <= page.bottom && row().continues()) {
    row().set_continues(false);
    --pen_.row;
    pen_.column = size_.columns - 1;
    if (row().cell(pen_.column).is_filler()) --pen_.column;
  }
  clamp_column();
}

void Display::tab(int count) {
  for (; count > 0 && pen_.column < size_.columns - 1; --count) pen_.column = tabs_.next(pen_.column);
}

void Display::back_tab(int count) {
  if (pen_.column >= size_.columns) return;
  for (; count > 0 && pen_.column > 0; --count) pen_.column = tabs_.previous(pen_.column);
}

void Display::line_feed() {
  const Page& page = this->page();
  clamp_column();
  if (pen_.row == page.bottom) {
    scroll_region_up(page.top, page.bottom, 1);
  } else if (pen_.row + 1 < size_.rows) {
    ++pen_.row;
    row().set_continues(false);  // a newline starts a new line
  }
  if (modes_.newline) pen_.column = 0;
}

void Display::index() {
  const Page& page = this->page();
  clamp_column();
  if (pen_.row == page.bottom)
    scroll_region_up(page.top, page.bottom, 1);
  else if (pen_.row + 1 < size_.rows)
    ++pen_.row;
}

void Display::reverse_index() {
  Page& page = this->page();
  clamp_column();
  if (pen_.row == page.top) {
    page.grid.scroll_down(page.top, page.bottom, 1, erase_style());
    mark_rows(page.top, page.bottom);
  } else if (pen_.row > 0) {
    --pen_.row;
  }
}

void Display::set_region(int top, int bottom) {
  Page& page = this->page();
  if (bottom > size_.rows || bottom <= 0) bottom = size_.rows;
  if (bottom <= top) return;
  page.top = top - 1;
  page.bottom = bottom - 1;
  move_to(0, 0);
}

void Display::save_pen() { page().saved = {pen_, modes_.origin}; }

void Display::restore_pen() {
  const SavedPen& saved = page().saved;
  pen_ = saved.pen;
  modes_.origin = saved.origin;
  clamp_pen();
}

}  // namespace relay::terminal
