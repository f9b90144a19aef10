/// What tmux says in control mode, from bytes to values.
///
///     %extended-output %3 20 : hello\015\012     → on_pane_output({pane 3, "hello\r\n", 20 ms old})
///     %begin 1700000000 266 1                    ┐
///     90 20                                      ├→ on_answer({number 266, asked, ok, "90 20\n"})
///     %end 1700000000 266 1                      ┘
///     %layout-change @0 b25d,80x24,0,0,0 …       → on_notice("layout-change", "@0 b25d,80x24,0,0,0 …")
///     no server running on /tmp/…                → on_notice("", "no server running on /tmp/…")
///
/// Invariants: however the stream is cut, the same calls come. A line beyond kMaxLineBytes is skipped whole, and unless
///   it belongs to an answer `on_skipped_line` says so; an answer beyond kMaxAnswerBytes is cut off. Inside an answer
///   every line is text but the end that carries its own number, as tmux promises; a pane may draw lines that look like
///   ours.
/// Ownership: the views given to a handler are gone when it returns. Pure: no input, no output, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace relay::tmux {

inline constexpr std::size_t kMaxLineBytes = 256 * 1024;  // tmux's own output lines stay below 12 KB
inline constexpr std::size_t kMaxAnswerBytes = 1024 * 1024;

/// A pane's number: the 3 of %3.
using PaneNumber = std::uint32_t;

/// What came back for one command.
struct CommandResult {
  std::uint64_t number = 0;
  bool asked = false;  // by a line we sent; otherwise it belongs to tmux's command line, or to a hook
  bool ok = false;
  std::string text;  // lines, each with its line feed
};

struct PaneOutput {
  PaneNumber pane = 0;
  std::string_view bytes;
  Millis age{};  // how long tmux had it before it could pass it on; zero where it does not say
};

class ControlHandler {
 public:
  virtual ~ControlHandler() = default;
  virtual void on_pane_output(const PaneOutput& output) = 0;
  virtual void on_answer(const CommandResult& answer) = 0;
  /// Everything else: the word behind the percent sign and the rest of the line. No word: a line that is none of tmux's
  /// control mode, like the sentence it dies with.
  virtual void on_notice(std::string_view name, std::string_view rest) = 0;
  /// It may have been output.
  virtual void on_skipped_line() = 0;
};

class ControlParser {
 public:
  void feed(std::string_view bytes, ControlHandler& handler);

 private:
  void take_line(std::string_view line, ControlHandler& handler);
  void take_output(std::string_view escaped, PaneNumber pane, Millis age, ControlHandler& handler);
  void take_text(std::string_view line);

  std::string line_;       // the beginning of a line whose end has not come
  bool skipping_ = false;  // until the next line feed
  std::optional<CommandResult> answer_;
  std::string decoded_;
};

/// The number in "%3"; nothing else may be there.
std::optional<PaneNumber> parse_pane(std::string_view word);

/// Cuts the first word, up to a blank, off the text.
std::string_view take_word(std::string_view& text);

/// \ooo becomes the byte it means; what is no such escape stays as it is. Appended to `bytes`.
void append_unescaped(std::string_view escaped, std::string& bytes);

}  // namespace relay::tmux
