/// Parses bytes from a terminal into keys.
///
/// Chunks may end anywhere. A lone ESC may start a sequence; `flush`, called after a timeout, makes it Escape. Replies of
/// the terminal (OSC, DCS, reports) are Reply, not keys.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace relay::scripted_agent {

struct Key {
  enum class Kind : std::uint8_t {
    Text,   // in `text`: typed at once
    Paste,  // in `text`: the text between the brackets
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
  /// An ESC that is not the start of a sequence.
  std::vector<Key> flush();
  [[nodiscard]] bool has_pending_escape() const { return pending_ == "\x1b"; }

 private:
  /// Takes one key from the pending bytes; false when it is incomplete.
  bool take(std::vector<Key>& keys);
  bool take_sequence(std::vector<Key>& keys);

  std::string pending_;
};

}  // namespace relay::scripted_agent
