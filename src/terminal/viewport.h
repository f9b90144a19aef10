/// A screen shown on a terminal of any size: what fits is drawn, only what changed is drawn again.
///
/// Why not the program's own bytes: they are right only on a terminal of exactly the program's size, and they would end
///   in the watcher's scrollback. A window lives on the alternate screen and leaves nothing behind.
/// Invariants: after `paint` the terminal shows the upper left part of the screen, or the lower one when the cursor would
///   be hidden otherwise; the modes that decide what keys, pastes and the mouse send are those of the screen.
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

  /// Before the first paint, and after the last: on to the alternate screen, and away with every mode left on.
  [[nodiscard]] static std::string_view opening();
  [[nodiscard]] static std::string_view closing();

  /// The terminal has another size now; all is drawn anew.
  void resize(Size size);
  /// Somebody else wrote to the terminal; all is drawn anew.
  void forget();
  /// A line over the last row; empty: none.
  void set_notice(std::string text) { notice_ = std::move(text); }

  /// The bytes to write; empty when nothing has changed.
  [[nodiscard]] std::string paint(const Screen& screen);

  /// How many rows of the screen lie above the window.
  [[nodiscard]] int rows_above() const { return above_; }

 private:
  [[nodiscard]] std::string row_bytes(const Screen& screen, int row) const;
  [[nodiscard]] std::string mode_changes(const Modes& wanted);

  Size size_;
  int above_ = 0;
  std::vector<std::string> drawn_;  // what each row of the terminal was drawn with
  std::string cursor_;              // and the cursor
  Modes modes_;
  std::string notice_;
};

}  // namespace relay::terminal
