/// Keys and pastes as a terminal sends them to the program that runs in it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "terminal/modes.h"

namespace relay::terminal {

enum class NamedKey : std::uint8_t {
  Character,  // Key::character says which
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

/// The bytes of a key press, as the program asked for them (application cursor keys, kitty's protocol).
/// A combination that has no bytes is sent without what cannot be said.
std::string encode_key(const Key& key, const Modes& modes);

/// A key by its name, as people write it: `Enter`, `Escape`, `Up`, `y`, `C-c`, `M-x`, `S-Tab`; any case of the long names.
std::optional<Key> parse_key(std::string_view name);

/// The names that `key_named` knows, for people.
std::string key_names();

/// Text as if it were pasted: in brackets if the program asked for them, else with its newlines as Enter would send
/// them. Control characters other than newline and tab are left out, so that no text can close the brackets or press
/// a key. "\r\n" and "\r" count as one newline.
std::string encode_paste(std::string_view text, const Modes& modes);

}  // namespace relay::terminal
