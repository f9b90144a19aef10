/// A query of a program to its terminal, with everything needed to reply later.
///
/// The state that a reply reports (cursor, mode, flags) is copied when the query is read: it may have changed by the
/// time of the reply.
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
  int number = 0;      // mode or palette entry
  int state = 0;       // of the mode as in DECRPM (0 unknown, 1 set, 2 reset), or the queried flags
  Position cursor{};   // for the two cursor queries, in the program's coordinates (origin mode)
  std::string text{};  // the queried names, as sent
  bool operator==(const TerminalQuery&) const = default;
};

}  // namespace relay::terminal
