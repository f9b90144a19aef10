/// A question a program asked its terminal, with everything needed to answer it later.
///
/// The state that an answer speaks of (cursor, mode, flags) is taken down when the question is read: the program may
/// have moved on by the time somebody answers.
#pragma once

#include <cstdint>
#include <string>

#include "terminal/geometry.h"

namespace relay::terminal {

enum class QueryKind : std::uint8_t {
  PrimaryAttributes,      // CSI c
  SecondaryAttributes,    // CSI > c
  TertiaryAttributes,     // CSI = c
  TerminalVersion,        // CSI > q
  Status,                 // CSI 5 n
  CursorPosition,         // CSI 6 n
  PrivateCursorPosition,  // CSI ? 6 n
  ColorScheme,            // CSI ? 996 n
  AnsiMode,               // CSI n $ p
  PrivateMode,            // CSI ? n $ p
  KeyboardFlags,          // CSI ? u
  ModifyOtherKeys,        // CSI ? 4 m
  WindowPixels,           // CSI 14 t
  CellPixels,             // CSI 16 t
  WindowCells,            // CSI 18 t
  PaletteColor,           // OSC 4 ; n ; ?
  Foreground,             // OSC 10 ; ?
  Background,             // OSC 11 ; ?
  CursorColor,            // OSC 12 ; ?
  ProgramStatus,          // OSC 7501 ; ?
  Termcap,                // DCS + q names ST
  Setting,                // DCS $ q name ST
  Graphics,               // APC G ... a=q ... ST
};

struct TerminalQuery {
  QueryKind kind{};
  int number = 0;      // of the mode or palette entry
  int state = 0;       // of the mode as DECRPM says it (0 unknown, 1 set, 2 reset), or the flags asked for
  Position cursor{};   // for the two cursor questions, as the program counts (origin mode)
  std::string text{};  // the names asked for, as written
  bool operator==(const TerminalQuery&) const = default;
};

}  // namespace relay::terminal
