/// Interprets OSC, DCS and APC strings: titles, program status, queries; all others are ignored.
#include <charconv>
#include <optional>
#include <utility>

#include "terminal/interpreter.h"

namespace relay::terminal {
namespace {

struct Split {
  std::string_view head;
  std::string_view rest;
};

Split split_at(std::string_view text, char separator) {
  const auto at = text.find(separator);
  if (at == std::string_view::npos) return {text, {}};
  return {text.substr(0, at), text.substr(at + 1)};
}

std::optional<int> parse_number(std::string_view digits) {
  int value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc{} || end != digits.data() + digits.size() || value < 0) return std::nullopt;
  return value;
}

/// Removes the part before the next separator from the front of `text` and returns it.
std::string_view take_until(std::string_view& text, char separator) {
  const auto [head, rest] = split_at(text, separator);
  text = rest;
  return head;
}

}  // namespace

void Interpreter::osc(std::string_view string) {
  display_.end_cluster();
  const auto [code, rest] = split_at(string, ';');
  const auto number = parse_number(code);
  if (!number) return;
  switch (*number) {
    case 0:
    case 2: return display_.set_title(rest);
    case 4:  // pairs of entry and color; a question mark queries
      for (auto pairs = rest; !pairs.empty();) {
        const auto entry = parse_number(take_until(pairs, ';'));
        if (take_until(pairs, ';') == "?" && entry && *entry < 256)
          report_query({.kind = QueryKind::PaletteColor, .number = *entry});
      }
      return;
    case 10:
      // `10;?;?` queries the foreground and, one number higher, the background.
      if (rest == "?" || rest == "?;?") report_query({.kind = QueryKind::Foreground});
      if (rest == "?;?") report_query({.kind = QueryKind::Background});
      return;
    case 11:
      if (rest == "?") report_query({.kind = QueryKind::Background});
      return;
    case 12:
      if (rest == "?") report_query({.kind = QueryKind::CursorColor});
      return;
    case 7501:
      if (rest == "?") return report_query({.kind = QueryKind::ProgramStatus});
      if (const auto status = parse_program_status(rest)) display_.set_status(*status);
      return;
    default: return;  // hyperlinks (8), clipboard (52), notifications, prompt marks: ignored
  }
}

void Interpreter::dcs(const Sequence& head, std::string_view string) {
  display_.end_cluster();
  if (head.prefix != 0 || head.final != 'q') return;
  if (head.intermediate == '+') report_query({.kind = QueryKind::Termcap, .text = std::string{string}});
  if (head.intermediate == '$') report_query({.kind = QueryKind::Setting, .text = std::string{string}});
}

void Interpreter::apc(std::string_view string) {
  display_.end_cluster();
  if (!string.starts_with("G")) return;
  for (auto keys = split_at(string.substr(1), ';').head; !keys.empty();)
    if (take_until(keys, ',') == "a=q") return report_query({.kind = QueryKind::Graphics});
}

}  // namespace relay::terminal
