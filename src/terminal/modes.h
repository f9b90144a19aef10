/// Terminal modes that a program switches; the part of the terminal's state that outlives the program.
#pragma once

#include <cstdint>
#include <optional>

namespace relay::terminal {

enum class MouseTracking : std::uint8_t { Off, Press, PressRelease, Drag, Motion };  // 9, 1000, 1002, 1003
enum class MouseEncoding : std::uint8_t { Legacy, Utf8, Sgr, Urxvt, SgrPixels };     // 1005, 1006, 1015, 1016
enum class CursorShape : std::uint8_t { Default, BlinkingBlock, Block, BlinkingUnderline, Underline, BlinkingBar, Bar };

struct Modes {
  bool autowrap = true;        // DECAWM, ?7
  bool origin = false;         // DECOM, ?6: rows are counted from the scroll region
  bool insert = false;         // IRM, 4
  bool newline = false;        // LNM, 20: a line feed also returns
  bool reverse_wrap = false;   // ?45
  bool reverse_video = false;  // ?5
  bool cursor_visible = true;  // ?25
  CursorShape cursor_shape = CursorShape::Default;
  bool application_cursor = false;  // ?1: arrow keys send ESC O
  bool application_keypad = false;  // ?66, ESC =
  bool bracketed_paste = false;     // ?2004
  bool focus_reports = false;       // ?1004
  MouseTracking mouse = MouseTracking::Off;
  MouseEncoding mouse_encoding = MouseEncoding::Legacy;
  bool alternate_scroll = false;       // ?1007: the wheel sends arrow keys on the alternate screen
  bool alternate_screen = false;       // ?47, ?1047, ?1049
  bool synchronized = false;           // ?2026: a frame is being drawn; the screen is incomplete
  bool color_scheme_reports = false;   // ?2031
  bool resize_reports = false;         // ?2048
  std::uint8_t keyboard_flags = 0;     // kitty keyboard protocol, of the active screen
  std::uint8_t modify_other_keys = 0;  // CSI > 4 ; n m

  bool operator==(const Modes&) const = default;
};

enum class ModeKind : std::uint8_t { Ansi, DecPrivate };  // CSI n h, CSI ? n h

/// Whether a mode is on; empty if the mode is unknown.
std::optional<bool> mode_state(const Modes& modes, ModeKind kind, int number);

/// Sets a mode that has no side effects. False if it is unknown or needs more (alternate screen, origin).
bool set_simple_mode(Modes& modes, ModeKind kind, int number, bool on);

}  // namespace relay::terminal
