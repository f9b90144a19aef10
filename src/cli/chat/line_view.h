/// Draws the edited line at the bottom of the terminal, in as many rows as it needs.
///
/// Why it breaks rows itself: terminals differ in where they wrap a full row and in where the cursor is then. A row here is
///   one column shorter than the terminal and ends with a line end, so the cursor position is always certain.
/// Invariants: drawing overwrites the previous drawing and nothing above it; at most the terminal's rows less one are drawn,
///   those around the cursor. Rows are cleared one by one, because terminals save a cleared screen in their scrollback. Bytes out, no descriptor.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace relay::cli {

struct ViewSize {
  std::size_t columns = 80, rows = 24;
};

class LineView {
 public:
  /// `text` has no control characters; `styled` is the same with colors.
  struct Prompt {
    std::string text, styled;
  };

  /// Draws the line in place of the previous drawing. `cursor` is a byte offset in `text`.
  std::string draw(const Prompt& prompt, std::string_view text, std::size_t cursor);
  /// Erases the line; the cursor is at its start.
  std::string erase();
  /// Leaves the line on the screen and moves the cursor below it.
  std::string leave(const Prompt& prompt, std::string_view text);
  /// Forgets the drawing, after the screen was cleared or used by others.
  void forget() { rows_.clear(), height_ = 0, cursor_row_ = 0, cursor_column_ = 0; }
  /// A narrower terminal has wrapped the drawn rows.
  void resize(ViewSize size);

  [[nodiscard]] ViewSize size() const { return size_; }

 private:
  [[nodiscard]] std::string to_first_row() const;

  ViewSize size_;
  std::vector<std::size_t> rows_;  // the width of each drawn row
  std::size_t height_ = 0;         // terminal rows that they take
  std::size_t cursor_row_ = 0, cursor_column_ = 0;
};

}  // namespace relay::cli
