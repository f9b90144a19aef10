/// One of the two screens of a terminal: its rows and the state of each screen.
#pragma once

#include <cstdint>
#include <vector>

#include "terminal/charset.h"
#include "terminal/grid.h"

namespace relay::terminal {

/// Position and style of the next character. `column` equals the number of columns after the last one was written: the
/// next character wraps first.
struct Pen {
  int row = 0;
  int column = 0;
  Style style;
  Charsets charsets;
  bool operator==(const Pen&) const = default;
};

struct SavedPen {
  Pen pen;
  bool origin = false;
  bool operator==(const SavedPen&) const = default;
};

struct Page {
  explicit Page(Size size) : grid{size}, bottom{size.rows - 1} {}

  Grid grid;
  int top = 0;  // scroll region, both ends included
  int bottom;
  SavedPen saved;                            // DECSC
  std::vector<std::uint8_t> keyboard_stack;  // kitty keyboard flags below the current ones
  std::uint8_t keyboard_flags = 0;

  bool operator==(const Page&) const = default;
};

}  // namespace relay::terminal
