/// Writing characters: columns, wraps, wide characters and clusters.
#include <algorithm>

#include "terminal/display.h"

namespace relay::terminal {
namespace {

constexpr char32_t kEmojiSelector = 0xfe0f;

}  // namespace

void Display::text(std::string_view ascii) {
  if (pen_.charsets.current() == Charset::Ascii) return plain_text(ascii);
  for (const char byte : ascii) {
    const char32_t code = dec_graphic(byte);
    place(code, 1);
    cluster_.restart(code);
  }
}

void Display::plain_text(std::string_view ascii) {
  cluster_.restart(static_cast<unsigned char>(ascii.back()));
  while (!ascii.empty()) {
    const int room = size_.columns - pen_.column;
    if (room <= 0 || modes_.insert) {
      place(static_cast<unsigned char>(ascii.front()), 1);
      ascii.remove_prefix(1);
      continue;
    }
    const int count = static_cast<int>(std::min(ascii.size(), static_cast<std::size_t>(room)));
    row().write_ascii(pen_.column, ascii.data(), count, pen_.style);
    mark(pen_.row);
    pen_.column += count;
    ascii.remove_prefix(static_cast<std::size_t>(count));
  }
}

void Display::character(char32_t code) {
  const CharacterTraits traits = traits_of(code);
  if (traits.plain) {
    cluster_.restart(code);
    if (place(code, traits.columns) == Placed::No) cluster_.reset();
    return;
  }
  const bool follows = !cluster_.empty();
  if (cluster_.joins(code) && pen_.column > 0) return join(code, traits.columns);
  if (traits.columns > 0) {
    if (place(code, traits.columns) == Placed::No) cluster_.reset();
    return;
  }
  // A mark with nothing before it, or behind a moved cursor, has no character to join.
  if (follows && pen_.column > 0)
    join(code, 0);
  else
    cluster_.reset();
}

Display::Placed Display::place(char32_t code, int columns) {
  if (pen_.column + columns > size_.columns) {
    if (modes_.autowrap) {
      if (pen_.column < size_.columns) row().write_filler(pen_.column, pen_.style);
      wrap();
    } else {
      pen_.column = size_.columns - 1;
      if (columns == 2) return Placed::No;
    }
  }
  if (modes_.insert) row().insert(pen_.column, columns, pen_.style);
  row().write(pen_.column, code, columns, pen_.style);
  mark(pen_.row);
  pen_.column += columns;
  return Placed::Yes;
}

void Display::join(char32_t code, int columns) {
  int column = pen_.column - 1;
  if (row().cell(column).is_spacer()) --column;
  const Cell& cell = row().cell(column);
  const bool picture = code == kEmojiSelector && !cell.is_cluster() && has_emoji_form(cell.value());
  const bool grows = (columns == 2 || picture) && cell.columns() == 1;
  const bool leaves = grows && pen_.column >= size_.columns;  // becomes wide in the last column: moves to the next row
  if (leaves && !modes_.autowrap) return;
  mark(pen_.row);
  if (!row().extend(column, code) || !grows) return;
  if (leaves) {
    const int from = pen_.row;
    Row moved = row();
    row().write_filler(column, pen_.style);
    wrap();
    row().copy_cell(0, moved, column);
    mark(from);
    mark(pen_.row);
    column = 0;
    pen_.column = 1;
  }
  row().widen(column);
  ++pen_.column;
}

void Display::wrap() {
  const Page& page = this->page();
  pen_.column = 0;
  if (pen_.row == page.bottom)
    scroll_region_up(page.top, page.bottom, 1);
  else if (pen_.row + 1 < size_.rows)
    ++pen_.row;
  row().set_continues(true);
  mark(pen_.row);
}

void Display::repeat(int count) {
  if (cluster_.empty() || pen_.column == 0) return;
  int column = pen_.column - 1;
  if (row().cell(column).is_spacer()) --column;
  const Row source = row();
  const Cell cell = source.cell(column);
  count = std::min(count, size_.columns * size_.rows);
  const Style style = pen_.style;
  for (int i = 0; i < count; ++i) {
    if (!cell.is_cluster()) {
      place(cell.is_filler() ? U' ' : static_cast<char32_t>(cell.value()), cell.columns());
      continue;
    }
    place(U' ', cell.columns());
    if (pen_.column < cell.columns()) continue;
    const int at = pen_.column - cell.columns();
    row().copy_cell(at, source, column);
    row().restyle(at, style);
  }
}

}  // namespace relay::terminal
