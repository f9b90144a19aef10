/// What the strings mean: titles, program status, questions; everything else is read past.
#include <charconv>
#include <optional>
#include <utility>

#include "terminal/interpreter.h"

namespace relay::terminal {
namespace {

struct Cut {
  std::string_view head;
  std::string_view rest;
};

Cut cut_at(std::string_view text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<int> number_of(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

/// Takes the part before the next separator off the front.
std::string_view take_until(std::string_view& text, char separator) {
  const auto [head, rest] = cut_at(text, separator);
  text = rest;
  return head;
}

}  // namespace

void Interpreter::osc(std::string_view string) {
  display_.end_cluster();
  const auto [code, rest] = cut_at(string, ';');
  const auto number = number_of(code);
  if (!number) return;
  switch (*number) {
    case 0:
    case 2: return display_.set_title(rest);
    case 4:  // pairs of entry and colour; a question mark asks
      for (auto pairs = rest; !pairs.empty();) {
        const auto entry = number_of(take_until(pairs, ';'));
        if (take_until(pairs, ';') == "?" && entry && *entry < 256)
          ask({.kind = QueryKind::PaletteColor, .number = *entry});
      }
      return;
    case 10:
      // `10;?;?` asks for the foreground and, one number further, the background.
      if (rest == "?" || rest == "?;?") ask({.kind = QueryKind::Foreground});
      if (rest == "?;?") ask({.kind = QueryKind::Background});
      return;
    case 11:
      if (rest == "?") ask({.kind = QueryKind::Background});
      return;
    case 12:
      if (rest == "?") ask({.kind = QueryKind::CursorColor});
      return;
    case 7501:
      if (rest == "?") return ask({.kind = QueryKind::ProgramStatus});
      if (const auto status = parse_program_status(rest)) display_.set_status(*status);
      return;
    default: return;  // hyperlinks (8), clipboard (52), notifications, prompt marks: nothing we show
  }
}

void Interpreter::dcs(const Sequence& head, std::string_view string) {
  display_.end_cluster();
  if (head.prefix != 0 || head.final != 'q') return;
  if (head.intermediate == '+') ask({.kind = QueryKind::Termcap, .text = std::string{string}});
  if (head.intermediate == '$') ask({.kind = QueryKind::Setting, .text = std::string{string}});
}

void Interpreter::apc(std::string_view string) {
  display_.end_cluster();
  if (!string.starts_with("G")) return;
  for (auto keys = cut_at(string.substr(1), ';').head; !keys.empty();)
    if (take_until(keys, ',') == "a=q") return ask({.kind = QueryKind::Graphics});
}

}  // namespace relay::terminal
