/// What comes from a person's terminal, told apart: what was typed, what was pasted, what the terminal itself reported.
///
/// Why: a terminal answers questions and reports mouse and focus on the same wire as the keys. Only keys and pastes mean
///   that a person is writing; a reply mistaken for typing would hold back messages for nothing, or worse, be taken for
///   an answer. In doubt (CSI r ; c R is also a modified F3) it is a reply.
/// Invariants: the bytes of all pieces, joined, are the bytes fed; however the stream is cut the same pieces follow,
///   except that a run of text or a paste may arrive in parts. At most kMaxStringBytes are held.
/// Time is the caller's: it passes `now`, asks deadline() when to come back, and calls expire() then. Only time tells a
///   lone Escape key from the beginning of a sequence.
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
  Reply,       // the terminal answers or reports by itself
  Mouse,
  Focus,
};

/// True for what a person does with the keyboard.
constexpr bool is_typing(InputKind kind) {
  return kind == InputKind::Text || kind == InputKind::Enter || kind == InputKind::Key || kind == InputKind::Paste;
}

struct InputPiece {
  InputKind kind{};
  std::string bytes{};        // exactly as they came
  std::string text{};         // what was typed or pasted; empty for keys without text
  bool paste_begins = false;  // the first part of a paste
  bool paste_ends = false;    // the last part of a paste
  bool operator==(const InputPiece&) const = default;
};

class InputSplitter {
 public:
  std::vector<InputPiece> feed(std::string_view bytes, SteadyTime now);

  /// When what is held must be decided; empty when nothing is held.
  [[nodiscard]] std::optional<SteadyTime> deadline() const;
  /// What is held may be the Escape key, and nothing else.
  [[nodiscard]] bool may_be_escape() const { return inside_ == Inside::Nothing && pending_ == "\x1b"; }
  /// What was fed ends inside a sequence, a character or a paste.
  [[nodiscard]] bool unfinished() const { return !pending_.empty() || inside_ != Inside::Nothing; }
  [[nodiscard]] bool in_paste() const { return inside_ == Inside::Paste; }
  /// Decides what is held if its time has come.
  std::vector<InputPiece> expire(SteadyTime now);

 private:
  enum class Inside : std::uint8_t { Nothing, Paste, LongReply };

  /// Cuts one piece off the front; false when more bytes are needed.
  bool cut_one();
  bool cut_text();
  bool cut_escape();
  bool cut_csi();
  bool cut_string();
  bool cut_paste();
  bool cut_long_reply();
  void emit(InputKind kind, std::size_t bytes, std::string text = {});
  [[nodiscard]] bool reply_begun() const;

  std::string pending_;
  Inside inside_ = Inside::Nothing;
  bool paste_begins_ = false;
  std::vector<InputPiece> pieces_;
  SteadyTime last_fed_{};
};

}  // namespace relay::terminal
