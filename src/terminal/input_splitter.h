/// Classifies the bytes from a user's terminal: typed, pasted, or reported by the terminal itself.
///
/// Why: a terminal sends query replies, mouse and focus reports on the same stream as the keys. Only keys and pastes
///   mean that the user is typing; a reply mistaken for typing would delay messages, or be mistaken for an answer.
///   Ambiguous sequences count as replies (CSI r ; c R is also a modified F3).
/// Invariants: the concatenated bytes of all events are the input; the same events result however the stream is split,
///   except that a run of text or a paste may arrive in parts. At most kMaxStringBytes are held.
/// The caller supplies the time: it passes `now`, and calls expire() at deadline(). Only time distinguishes a lone
///   Escape key from the start of a sequence.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"

namespace relay::terminal {

enum class InputKind : std::uint8_t {
  Text,        // printable characters, typed
  Enter,       // Enter without modifiers
  Key,         // any other key press
  KeyRelease,  // a key went up (kitty protocol)
  Paste,       // part of a bracketed paste
  Reply,       // the terminal replies to a query or reports an event
  Mouse,
  Focus,
};

/// True for keys and pastes of the user.
constexpr bool is_typing(InputKind kind) {
  return kind == InputKind::Text || kind == InputKind::Enter || kind == InputKind::Key || kind == InputKind::Paste;
}

struct InputEvent {
  InputKind kind{};
  std::string bytes{};       // exactly as received
  std::string text{};        // the typed or pasted text; empty for keys without text
  bool paste_start = false;  // the first part of a paste
  bool paste_end = false;    // the last part of a paste
  bool operator==(const InputEvent&) const = default;
};

class InputSplitter {
 public:
  std::vector<InputEvent> feed(std::string_view bytes, SteadyTime now);

  /// When the held bytes must be classified; empty when none are held.
  [[nodiscard]] std::optional<SteadyTime> deadline() const;
  /// The held bytes are a single ESC, which may be the Escape key.
  [[nodiscard]] bool may_be_escape() const { return state_ == State::Nothing && pending_ == "\x1b"; }
  /// The input so far ends inside a sequence, a character or a paste.
  [[nodiscard]] bool incomplete() const { return !pending_.empty() || state_ != State::Nothing; }
  [[nodiscard]] bool in_paste() const { return state_ == State::Paste; }
  /// Classifies the held bytes if their deadline has passed.
  std::vector<InputEvent> expire(SteadyTime now);

 private:
  enum class State : std::uint8_t { Nothing, Paste, LongReply };

  /// Cuts one event off the front; false when more bytes are needed.
  bool cut_event();
  bool cut_text();
  bool cut_escape();
  bool cut_csi();
  bool cut_string();
  bool cut_paste();
  bool cut_long_reply();
  void emit(InputKind kind, std::size_t bytes, std::string text = {});
  [[nodiscard]] bool reply_started() const;

  std::string pending_;
  State state_ = State::Nothing;
  bool paste_start_ = false;
  std::vector<InputEvent> events_;
  SteadyTime last_fed_{};
};

}  // namespace relay::terminal
