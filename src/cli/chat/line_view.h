/// How the line that is being typed stands on the terminal: below everything else, in as many rows as it needs.
///
/// Why rows of our own: where a terminal breaks a full row, and where its cursor is then, differs. A row here is always one
///   column shorter than the terminal and ends with a line end, so the place of the cursor is never in doubt.
/// Invariants: what was drawn before is overwritten and nothing above it is touched; at most the terminal's rows less one
///   are drawn, those around the cursor. Rows are cleared one by one: terminals take a cleared screen for one to keep in
///   their history. Bytes out, no descriptor.
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
  /// `text` has no control characters; `shown` is the same with colours.
  struct Prompt {
    std::string text, shown;
  };

  /// Draws the line, instead of what stands there. `cursor` is a place in `text`, in bytes.
  std::string draw(const Prompt& prompt, std::string_view text, std::size_t cursor);
  /// Takes the line away; the cursor stands where it began.
  std::string erase();
  /// The line stays on the screen as it is, with the cursor behind it; the next one begins below.
  std::string leave(const Prompt& prompt, std::string_view text);
  /// The screen was cleared, or belongs to others since.
  void forget() { rows_.clear(), height_ = 0, cursor_row_ = 0, cursor_column_ = 0; }
  /// A terminal that became narrower has broken the rows that are drawn.
  void resize(ViewSize size);

  [[nodiscard]] ViewSize size() const { return size_; }

 private:
  [[nodiscard]] std::string to_first_row() const;

  ViewSize size_;
  std::vector<std::size_t> rows_;  // how many columns each drawn row takes
  std::size_t height_ = 0;         // rows of the terminal they stand in
  std::size_t cursor_row_ = 0, cursor_column_ = 0;
};

}  // namespace relay::cli
