#include "terminal/interpreter.h"

#include <optional>

#include "terminal/sgr.h"

namespace relay::terminal {
namespace {

std::optional<EraseRange> erase_range(std::uint32_t number) {
  switch (number) {
    case 0: return EraseRange::After;
    case 1: return EraseRange::Before;
    case 2: return EraseRange::All;
    default: return std::nullopt;
  }
}

std::uint8_t keyboard_flags(std::uint32_t number) { return static_cast<std::uint8_t>(number & 0x1f); }

}  // namespace

void Interpreter::control(char code) {
  switch (code) {
    case '\a': display_.report(BellRang{}); break;
    case '\b': display_.backspace(); break;
    case '\t': display_.tab(1); break;
    case '\n':
    case '\v':
    case '\f': display_.line_feed(); break;
    case '\r': display_.carriage_return(); break;
    case '\x0e': display_.pen().charsets.active = 1; break;
    case '\x0f': display_.pen().charsets.active = 0; break;
    default: break;
  }
  display_.end_cluster();
}

void Interpreter::escape(char intermediate, char final) {
  Charsets& charsets = display_.pen().charsets;
  const Charset named = final == '0' ? Charset::DecGraphics : Charset::Ascii;
  switch (intermediate) {
    case 0:
      switch (final) {
        case '7': display_.save_pen(); break;
        case '8': display_.restore_pen(); break;
        case 'D': display_.index(); break;
        case 'E':
          display_.carriage_return();
          display_.index();
          break;
        case 'H': display_.tabs().set(display_.program_cursor().column); break;
        case 'M': display_.reverse_index(); break;
        case 'Z': report_query({.kind = QueryKind::PrimaryAttributes}); break;
        case 'c': display_.full_reset(); break;
        case 'n': charsets.active = 2; break;
        case 'o': charsets.active = 3; break;
        case '=': display_.modes().application_keypad = true; break;
        case '>': display_.modes().application_keypad = false; break;
        default: break;
      }
      break;
    case '(': charsets.designated[0] = named; break;
    case ')':
    case '-': charsets.designated[1] = named; break;
    case '*':
    case '.': charsets.designated[2] = named; break;
    case '+':
    case '/': charsets.designated[3] = named; break;
    case '#':
      if (final == '8') display_.alignment_pattern();
      break;
    default: break;
  }
  display_.end_cluster();
}

void Interpreter::csi(const Sequence& sequence) {
  if (sequence.intermediate == 0) {
    switch (sequence.prefix) {
      case 0: plain_csi(sequence); break;
      case '?': private_csi(sequence); break;
      case '>': greater_csi(sequence); break;
      case '<':
        if (sequence.final == 'u') keyboard(sequence);
        break;
      case '=':
        if (sequence.final == 'u') keyboard(sequence);
        if (sequence.final == 'c' && sequence.parameters[0] == 0) report_query({.kind = QueryKind::TertiaryAttributes});
        break;
      default: break;
    }
  } else if (sequence.intermediate == '$' && sequence.final == 'p') {
    if (sequence.prefix == 0) mode_query(sequence, ModeKind::Ansi);
    if (sequence.prefix == '?') mode_query(sequence, ModeKind::DecPrivate);
  } else if (sequence.intermediate == ' ' && sequence.final == 'q' && sequence.prefix == 0) {
    const auto shape = sequence.parameters[0];
    if (shape <= 6) display_.modes().cursor_shape = static_cast<CursorShape>(shape);
  } else if (sequence.intermediate == '!' && sequence.final == 'p' && sequence.prefix == 0) {
    display_.soft_reset();
  }
  display_.end_cluster();
}

void Interpreter::plain_csi(const Sequence& sequence) {
  const Parameters& parameters = sequence.parameters;
  const int count = parameters.or_default(0, 1);
  switch (sequence.final) {
    case '@': return display_.insert_characters(count);
    case 'A': return display_.move_vertically(-count);
    case 'B': return display_.move_vertically(count);
    case 'C': return display_.move_by(0, count);
    case 'D': return display_.move_by(0, -count);
    case 'E': display_.move_vertically(count); return display_.carriage_return();
    case 'F': display_.move_vertically(-count); return display_.carriage_return();
    case 'G':
    case '`': return display_.set_column(count - 1);
    case 'H':
    case 'f': return display_.move_to(count - 1, parameters.or_default(1, 1) - 1);
    case 'I': return display_.tab(count);
    case 'J':
      if (parameters[0] == 3) return display_.clear_scrollback();
      if (const auto range = erase_range(parameters[0])) display_.erase_display(*range);
      return;
    case 'K':
      if (const auto range = erase_range(parameters[0])) display_.erase_line(*range);
      return;
    case 'L': return display_.insert_lines(count);
    case 'M': return display_.delete_lines(count);
    case 'P': return display_.delete_characters(count);
    case 'S': return display_.scroll_up(count);
    case 'T':
      if (parameters.size() <= 1) display_.scroll_down(count);  // with five parameters it is mouse highlighting
      return;
    case 'X': return display_.erase_characters(count);
    case 'Z': return display_.back_tab(count);
    case 'a': return display_.move_by(0, count);
    case 'b': return display_.repeat(count);
    case 'c':
      if (parameters[0] == 0) report_query({.kind = QueryKind::PrimaryAttributes});
      return;
    case 'd': return display_.set_row(count - 1);
    case 'e': return display_.move_by(count, 0);
    case 'g':
      if (parameters[0] == 0) display_.tabs().clear(display_.program_cursor().column);
      if (parameters[0] == 3) display_.tabs().clear_all();
      return;
    case 'h': return set_modes(sequence, ModeKind::Ansi, true);
    case 'l': return set_modes(sequence, ModeKind::Ansi, false);
    case 'm': return apply_sgr(display_.pen().style, parameters);
    case 'n':
      if (parameters[0] == 5) report_query({.kind = QueryKind::Status});
      if (parameters[0] == 6) report_query({.kind = QueryKind::CursorPosition, .cursor = display_.program_cursor()});
      return;
    case 'r': return display_.set_region(count, static_cast<int>(parameters[1]));
    case 's': return display_.save_pen();
    case 't': return window_operation(parameters);
    case 'u': return display_.restore_pen();
    default: return;
  }
}

void Interpreter::private_csi(const Sequence& sequence) {
  const Parameters& parameters = sequence.parameters;
  switch (sequence.final) {
    case 'h': return set_modes(sequence, ModeKind::DecPrivate, true);
    case 'l': return set_modes(sequence, ModeKind::DecPrivate, false);
    case 'J':
      if (const auto range = erase_range(parameters[0])) display_.erase_display(*range);
      return;
    case 'K':
      if (const auto range = erase_range(parameters[0])) display_.erase_line(*range);
      return;
    case 'm':
      if (parameters[0] == 4)
        report_query({.kind = QueryKind::ModifyOtherKeys, .state = display_.modes().modify_other_keys});
      return;
    case 'n':
      if (parameters[0] == 6)
        report_query({.kind = QueryKind::PrivateCursorPosition, .cursor = display_.program_cursor()});
      if (parameters[0] == 996) report_query({.kind = QueryKind::ColorScheme});
      return;
    case 'u': return report_query({.kind = QueryKind::KeyboardFlags, .state = display_.modes().keyboard_flags});
    default: return;
  }
}

void Interpreter::greater_csi(const Sequence& sequence) {
  const Parameters& parameters = sequence.parameters;
  switch (sequence.final) {
    case 'c':
      if (parameters[0] == 0) report_query({.kind = QueryKind::SecondaryAttributes});
      return;
    case 'm':
      if (parameters.size() == 0 || parameters[0] == 4)
        display_.modes().modify_other_keys = static_cast<std::uint8_t>(parameters[1] <= 3 ? parameters[1] : 0);
      return;
    case 'n':
      if (parameters[0] == 4) display_.modes().modify_other_keys = 0;
      return;
    case 'q':
      if (parameters[0] == 0) report_query({.kind = QueryKind::TerminalVersion});
      return;
    case 'u': return keyboard(sequence);
    default: return;
  }
}

void Interpreter::keyboard(const Sequence& sequence) {
  const Parameters& parameters = sequence.parameters;
  switch (sequence.prefix) {
    case '>': return display_.push_keyboard(keyboard_flags(parameters[0]));
    case '<': return display_.pop_keyboard(parameters.or_default(0, 1));
    case '=': {
      const int change = parameters.or_default(1, 1);
      if (change <= 3) display_.change_keyboard(keyboard_flags(parameters[0]), static_cast<KeyboardChange>(change));
      return;
    }
    default: return;
  }
}

void Interpreter::set_modes(const Sequence& sequence, ModeKind kind, bool on) {
  for (std::size_t index = 0; index < sequence.parameters.size(); ++index) {
    const int number = static_cast<int>(sequence.parameters[index]);
    if (set_simple_mode(display_.modes(), kind, number, on)) continue;
    if (kind == ModeKind::DecPrivate) set_private_mode(number, on);
  }
}

void Interpreter::set_private_mode(int number, bool on) {
  switch (number) {
    case 6: return display_.set_origin(on);
    case 47:
    case 1047:
      return on ? display_.enter_alternate(ScreenSwitch::Plain) : display_.leave_alternate(ScreenSwitch::Plain);
    case 1048: return on ? display_.save_pen() : display_.restore_pen();
    case 1049:
      return on ? display_.enter_alternate(ScreenSwitch::SavingPen) : display_.leave_alternate(ScreenSwitch::SavingPen);
    default: return;
  }
}

void Interpreter::window_operation(const Parameters& parameters) {
  switch (parameters[0]) {
    case 14: return report_query({.kind = QueryKind::WindowPixels});
    case 16: return report_query({.kind = QueryKind::CellPixels});
    case 18: return report_query({.kind = QueryKind::WindowCells});
    case 22:
      if (parameters[1] != 1) display_.push_title();
      return;
    case 23:
      if (parameters[1] != 1) display_.pop_title();
      return;
    default: return;
  }
}

void Interpreter::mode_query(const Sequence& sequence, ModeKind kind) {
  const int number = static_cast<int>(sequence.parameters[0]);
  const auto state = mode_state(display_.modes(), kind, number);
  report_query({.kind = kind == ModeKind::Ansi ? QueryKind::AnsiMode : QueryKind::PrivateMode,
                .number = number,
                .state = !state ? 0 : (*state ? 1 : 2)});
}

}  // namespace relay::terminal
