/// Parses tmux's control mode protocol.
///
///     %extended-output %3 20 : hello\015\012     → on_pane_output({pane 3, "hello\r\n", 20 ms old})
///     %begin 1700000000 266 1                    ┐
///     90 20                                      ├→ on_reply({number 266, requested, ok, "90 20\n"})
///     %end 1700000000 266 1                      ┘
///     %layout-change @0 b25d,80x24,0,0,0 …       → on_notice("layout-change", "@0 b25d,80x24,0,0,0 …")
///     no server running on /tmp/…                → on_notice("", "no server running on /tmp/…")
///
/// Invariants: the same calls result however the stream is split. A line above kMaxLineBytes is skipped, and outside of
///   a reply `on_skipped_line` reports it; a reply above kMaxReplyBytes is truncated. Inside a reply every line is text
///   except the end with its own number, as tmux guarantees; a pane may print lines that look like control lines.
/// Ownership: views passed to a handler are valid until it returns. Pure: no I/O, no clock.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/clock.h"

namespace relay::tmux {

inline constexpr std::size_t kMaxLineBytes = 256 * 1024;  // tmux's output lines stay below 12 KB
inline constexpr std::size_t kMaxReplyBytes = 1024 * 1024;

/// The number of a pane: the 3 of %3.
using PaneNumber = std::uint32_t;

/// The reply to one command.
struct CommandResult {
  std::uint64_t number = 0;
  bool requested = false;  // for a line sent by the client; else for tmux's command line or a hook
  bool ok = false;
  std::string text;  // lines, each with its line feed
};

struct PaneOutput {
  PaneNumber pane = 0;
  std::string_view bytes;
  Millis age{};  // how long tmux held the bytes; zero where it does not report it
};

class ControlHandler {
 public:
  virtual ~ControlHandler() = default;
  virtual void on_pane_output(const PaneOutput& output) = 0;
  virtual void on_reply(const CommandResult& answer) = 0;
  /// All other lines: the word behind the percent sign and the rest. An empty name: a line outside of control mode,
  ///   like tmux's final error message.
  virtual void on_notice(std::string_view name, std::string_view rest) = 0;
  /// A skipped line, which may have been output.
  virtual void on_skipped_line() = 0;
};

class ControlParser {
 public:
  void feed(std::string_view bytes, ControlHandler& handler);

 private:
  void take_line(std::string_view line, ControlHandler& handler);
  void take_output(std::string_view escaped, PaneNumber pane, Millis age, ControlHandler& handler);
  void take_text(std::string_view line);

  std::string line_;       // an incomplete line
  bool skipping_ = false;  // until the next line feed
  std::optional<CommandResult> reply_;
  std::string decoded_;
};

/// Parses the number in "%3"; the word must contain nothing else.
std::optional<PaneNumber> parse_pane(std::string_view word);

/// Removes the first word, up to a blank, from the text and returns it.
std::string_view take_word(std::string_view& text);

/// Appends the bytes with \ooo decoded; anything else stays unchanged.
void append_unescaped(std::string_view escaped, std::string& bytes);

}  // namespace relay::tmux
