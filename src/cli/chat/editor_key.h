/// The keys of a line editor, as terminals send them: those of readline that hands remember.
#pragma once

#include <cstdint>
#include <string_view>

namespace relay::cli {

enum class EditorKey : std::uint8_t {
  None,  // a key that means nothing here
  Enter,
  NewLine,  // Alt-Enter: a line end inside the text
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

/// The key with exactly these bytes.
EditorKey editor_key(std::string_view bytes);

}  // namespace relay::cli
