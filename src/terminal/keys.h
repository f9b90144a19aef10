/// Encodes keys and pastes as a terminal sends them to its program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/modes.h"

namespace relay::terminal {

enum class NamedKey : std::uint8_t {
  Character,  // see Key::character
  Enter,
  Escape,
  Tab,
  Backspace,
  Up,
  Down,
  Right,
  Left,
  Home,
  End,
  PageUp,
  PageDown,
  Insert,
  Delete,
};

struct Key {
  NamedKey name = NamedKey::Character;
  char32_t character = 0;
  bool shift = false;
  bool alt = false;
  bool control = false;
};

/// The bytes of a key press in the program's modes (application cursor keys, kitty's protocol). Modifiers that the
/// encoding cannot express are dropped.
std::string encode_key(const Key& key, const Modes& modes);

/// Parses a key name: `Enter`, `Escape`, `Up`, `y`, `C-c`, `M-x`, `S-Tab`; long names in any case.
std::optional<Key> parse_key(std::string_view name);

/// The names that `parse_key` accepts, for users.
std::string key_names();

/// Encodes text as a paste: bracketed if the program enabled that, else with newlines as Enter sends them. Control
///   characters other than newline and tab are dropped, so that no text can end the bracket or press a key. "\r\n" and
///   "\r" count as one newline.
std::string encode_paste(std::string_view text, const Modes& modes);

}  // namespace relay::terminal
