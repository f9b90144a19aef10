/// A line editor as a value: keys go in, text and cursor come out. No terminal, no time.
///
/// Why not a library: the editors in Debian with a compatible licence (libedit, linenoise) own the terminal and read it
///   themselves. Here one loop reads the keyboard and the daemon, and messages appear above the line.
/// Invariants: the cursor is between two visible characters, never inside one; the text is at most
///   kMaxEditedBytes; it has no control characters but line breaks and tabs.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "cli/chat/editor_key.h"
#include "cli/chat/line_history.h"

namespace relay::cli {

inline constexpr std::size_t kMaxEditedBytes = 512 * 1024;

/// The result of a key: what the terminal must do.
enum class EditResult : std::uint8_t {
  Line,     // redraw the line
  Nothing,  // no effect
  Refused,  // not possible: ring the bell
  Entered,  // `take` it
  Ended,    // Ctrl-D in an empty line
  Left,     // Ctrl-C in an empty line
  Cleared,  // Ctrl-C in a line with text, which is cleared
  Complete,
  ClearScreen,
  Suspend,
};

class LineEditor {
 public:
  EditResult press(EditorKey key);
  /// Inserts typed or pasted text without its control characters.
  EditResult insert(std::string_view text);

  [[nodiscard]] const std::string& text() const { return text_; }
  /// A byte offset in text().
  [[nodiscard]] std::size_t cursor() const { return cursor_; }
  [[nodiscard]] bool empty() const { return text_.empty(); }

  /// Returns the entered line, adds it to the history and starts an empty one.
  std::string take();
  /// Replaces the text from `begin` to the cursor by `text`, for completion.
  void replace_before_cursor(std::size_t begin, std::string_view text);

  /// The search text while searching the history; text() is the match.
  [[nodiscard]] const std::optional<std::string>& search() const { return search_; }
  [[nodiscard]] bool search_failed() const { return search_failed_; }

 private:
  EditResult press_in_search(EditorKey key);
  EditResult search_from(std::size_t index);
  void end_search();
  EditResult move_to(std::size_t place);
  EditResult erase(std::size_t begin, std::size_t end);
  EditResult kill(std::size_t begin, std::size_t end);
  EditResult recall(std::size_t index);
  EditResult interrupt();
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
  std::optional<std::size_t> recalled_;  // the history line in text_
  std::string draft_;                    // the typed text before a recall
  std::optional<std::string> search_;
  std::string before_search_;
  std::size_t found_ = 0;
  bool search_failed_ = false;
};

}  // namespace relay::cli
