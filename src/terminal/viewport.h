/// Draws a screen on a terminal of any size: draws what fits, and redraws only what changed.
///
/// Why not the program's own bytes: they are correct only on a terminal of the program's size, and they would fill the
/// client's scrollback. A viewport uses the alternate screen and leaves no output behind.
/// Invariants: after `paint` the terminal shows the upper left part of the screen, or the lower part if the cursor
///   would be hidden otherwise; the modes that determine what keys, pastes and the mouse send are those of the screen.
/// Threading: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terminal/geometry.h"
#include "terminal/modes.h"

namespace relay::terminal {

class Screen;

class Viewport {
 public:
  explicit Viewport(Size size) : size_{clamped(size)} {}

  /// Before the first paint, and after the last: enters the alternate screen; leaves it and resets all modes.
  [[nodiscard]] static std::string_view opening();
  [[nodiscard]] static std::string_view closing();

  /// The terminal has another size; the next paint redraws everything.
  void resize(Size size);
  /// Other output changed the terminal; the next paint redraws everything.
  void invalidate();
  /// A line over the last row; empty: none.
  void set_notice(std::string text) { notice_ = std::move(text); }

  /// The bytes to write; empty when nothing has changed.
  [[nodiscard]] std::string paint(const Screen& screen);

  /// Number of rows of the screen above the viewport.
  [[nodiscard]] int rows_above() const { return rows_above_; }

 private:
  [[nodiscard]] std::string row_bytes(const Screen& screen, int row) const;
  [[nodiscard]] std::string mode_changes(const Modes& wanted);

  Size size_;
  int rows_above_ = 0;
  std::vector<std::string> drawn_;  // the bytes each row of the terminal was drawn with
  std::string cursor_;              // the bytes of the cursor
  Modes modes_;
  std::string notice_;
};

}  // namespace relay::terminal
