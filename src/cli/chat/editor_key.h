/// The keys of a line editor, as in readline, and the bytes that terminals send for them.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::cli {

enum class EditorKey : std::uint8_t {
  None,  // no function
  Enter,
  NewLine,  // Alt-Enter: a line break inside the text
  Left,
  Right,
  WordLeft,
  WordRight,
  Home,
  End,
  Older,
  Newer,
  Backspace,
  Delete,
  KillToEnd,
  KillToStart,
  KillWordBack,
  KillWordForward,
  Yank,
  Complete,
  Search,
  Cancel,
  Interrupt,
  EndOfInput,
  ClearScreen,
  Suspend,
};

/// The key that sends exactly these bytes.
EditorKey parse_editor_key(std::string_view bytes);

}  // namespace relay::cli
