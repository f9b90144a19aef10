#include "terminal/modes.h"

namespace relay::terminal {
namespace {

/// Modes that are a single bool without side effects.
struct Flag {
  ModeKind kind;
  int number;
  bool Modes::* flag;
};

constexpr Flag kFlags[] = {
    {ModeKind::Ansi, 4, &Modes::insert},
    {ModeKind::Ansi, 20, &Modes::newline},
    {ModeKind::DecPrivate, 1, &Modes::application_cursor},
    {ModeKind::DecPrivate, 5, &Modes::reverse_video},
    {ModeKind::DecPrivate, 7, &Modes::autowrap},
    {ModeKind::DecPrivate, 25, &Modes::cursor_visible},
    {ModeKind::DecPrivate, 45, &Modes::reverse_wrap},
    {ModeKind::DecPrivate, 66, &Modes::application_keypad},
    {ModeKind::DecPrivate, 1004, &Modes::focus_reports},
    {ModeKind::DecPrivate, 1007, &Modes::alternate_scroll},
    {ModeKind::DecPrivate, 2004, &Modes::bracketed_paste},
    {ModeKind::DecPrivate, 2026, &Modes::synchronized},
    {ModeKind::DecPrivate, 2031, &Modes::color_scheme_reports},
    {ModeKind::DecPrivate, 2048, &Modes::resize_reports},
};

/// Modes that exclude each other.
template <class Choice>
struct Option {
  int number;
  Choice choice;
};

constexpr Option<MouseTracking> kTracking[] = {{9, MouseTracking::Press},
                                               {1000, MouseTracking::PressRelease},
                                               {1002, MouseTracking::Drag},
                                               {1003, MouseTracking::Motion}};
constexpr Option<MouseEncoding> kEncoding[] = {{1005, MouseEncoding::Utf8},
                                               {1006, MouseEncoding::Sgr},
                                               {1015, MouseEncoding::Urxvt},
                                               {1016, MouseEncoding::SgrPixels}};

}  // namespace

std::optional<bool> mode_state(const Modes& modes, ModeKind kind, int number) {
  for (const auto& flag : kFlags)
    if (flag.kind == kind && flag.number == number) return modes.*flag.flag;
  if (kind == ModeKind::Ansi) return std::nullopt;
  for (const auto& option : kTracking)
    if (option.number == number) return modes.mouse == option.choice;
  for (const auto& option : kEncoding)
    if (option.number == number) return modes.mouse_encoding == option.choice;
  switch (number) {
    case 6: return modes.origin;
    case 47:
    case 1047:
    case 1049: return modes.alternate_screen;
    default: return std::nullopt;
  }
}

bool set_simple_mode(Modes& modes, ModeKind kind, int number, bool on) {
  for (const auto& flag : kFlags) {
    if (flag.kind != kind || flag.number != number) continue;
    modes.*flag.flag = on;
    return true;
  }
  if (kind == ModeKind::Ansi) return false;
  for (const auto& option : kTracking) {
    if (option.number != number) continue;
    modes.mouse = on ? option.choice : MouseTracking::Off;
    return true;
  }
  for (const auto& option : kEncoding) {
    if (option.number != number) continue;
    modes.mouse_encoding = on ? option.choice : MouseEncoding::Legacy;
    return true;
  }
  return false;
}

}  // namespace relay::terminal
