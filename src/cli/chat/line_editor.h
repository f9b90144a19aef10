/// One line that a person edits, as a value: keys go in, text and cursor come out. No terminal, no time.
///
/// Why our own: the editors of Debian that fit a program under the Apache licence (libedit, linenoise) own the terminal
///   and read it themselves. Here one loop reads the keyboard and the daemon, and messages appear above the line.
/// Invariants: the cursor stands between two characters as a person sees them, never inside one; the text is at most
///   kMaxEditedBytes; it contains no control characters but line ends and tabs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/chat/editor_key.h"
#include "cli/chat/line_history.h"

namespace relay::cli {

inline constexpr std::size_t kMaxEditedBytes = 512 * 1024;

/// What a key asks of the terminal beyond drawing the line again.
enum class Edited : std::uint8_t {
  Line,     // the line looks different, or may
  Nothing,  // the key meant nothing
  Refused,  // the line cannot do that: ring the bell
  Entered,  // `take` it
  Ended,    // Ctrl-D in an empty line
  Left,     // Ctrl-C in an empty line
  Cleared,  // Ctrl-C in a line with text: it is gone
  Complete,
  ClearScreen,
  Suspend,
};

class LineEditor {
 public:
  Edited press(EditorKey key);
  /// What was typed or pasted. Control characters are left out.
  Edited insert(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// A place in text(), in bytes.
  [[nodiscard]] std::size_t cursor() const { return cursor_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

  /// The entered line, which is remembered; the next one is empty.
  std::string take();
  /// Completion: what stands before the cursor from `begin` on becomes `text`.
  void replace_before_cursor(std::size_t begin, std::string_view text);

  /// The words searched for in the history, while that is going on; text() is what was found.
  [[nodiscard]] const std::optional<std::string>& search() const { return search_; }
  [[nodiscard]] bool search_failed() const { return search_failed_; }

 private:
  Edited press_in_search(EditorKey key);
  Edited search_from(std::size_t index);
  void end_search();
  Edited move_to(std::size_t place);
  Edited erase(std::size_t begin, std::size_t end);
  Edited kill(std::size_t begin, std::size_t end);
  Edited recall(std::size_t index);
  Edited interrupt();
  void set(std::string text);
  [[nodiscard]] std::size_t before(std::size_t place) const;
  [[nodiscard]] std::size_t after(std::size_t place) const;
  [[nodiscard]] std::size_t word_before(std::size_t place) const;
  [[nodiscard]] std::size_t word_after(std::size_t place) const;
  [[nodiscard]] std::size_t blank_word_before(std::size_t place) const;
  [[nodiscard]] std::size_t row_start() const;
  [[nodiscard]] std::size_t row_end() const;

  std::string text_;
  std::size_t cursor_ = 0;
  std::string killed_;
  LineHistory history_;
  std::optional<std::size_t> recalled_;  // which line of the history text_ was
  std::string draft_;                    // what was typed before the history was asked
  std::optional<std::string> search_;
  std::string before_search_;
  std::size_t found_ = 0;
  bool search_failed_ = false;
};

}  // namespace relay::cli
