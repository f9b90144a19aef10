/// Bytes from a terminal, as keys.
///
/// Bytes may be cut anywhere. A lone ESC could begin a sequence: it becomes Escape when `flush` is called, that is
/// when nothing followed for a moment. What a terminal answers by itself (OSC, DCS, reports) is no key: Reply.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::scripted_agent {

struct Key {
  enum class Kind : std::uint8_t {
    Text,   // in `text`: what was typed in one go
    Paste,  // in `text`: what stood between the brackets
    Enter,
    Escape,
    Backspace,
    ControlC,
    ControlU,
    Up,
    Down,
    FocusIn,
    FocusOut,
    Reply,  // in `text`
    Other,
  };
  Kind kind = Kind::Other;
  std::string text = {};
  bool operator==(const Key&) const = default;
};

class KeyReader {
 public:
  std::vector<Key> read(std::string_view bytes);
  /// An Escape key that looked like the start of more.
  std::vector<Key> flush();
  [[nodiscard]] bool waits() const { return pending_ == "\x1b"; }

 private:
  /// Takes one key from the front of what is pending; false when it is not whole yet.
  bool take(std::vector<Key>& keys);
  bool take_sequence(std::vector<Key>& keys);

  std::string pending_;
};

}  // namespace relay::scripted_agent
