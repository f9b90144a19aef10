/// Sizes and positions on a screen, counted from 0 at the upper left.
#pragma once

#include <algorithm>

#include "terminal/limits.h"

namespace relay::terminal {

struct Size {
  int columns = 80;
  int rows = 24;
  bool operator==(const Size&) const = default;
};

struct Position {
  int row = 0;
  int column = 0;
  bool operator==(const Position&) const = default;
};

/// The nearest supported size.
constexpr Size clamped(Size size) {
  return {std::clamp(size.columns, kMinColumns, kMaxColumns), std::clamp(size.rows, kMinRows, kMaxRows)};
}

}  // namespace relay::terminal
