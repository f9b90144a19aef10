#include "text/sanitize.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

#include "text/invisible.h"
#include "text/utf8.h"

namespace relay::text {
namespace {

constexpr char kEscape = '\x1b';
constexpr char kBell = '\x07';
constexpr std::size_t kMaxBlanks = 1'000;  // wider than any terminal

bool is_digit(char c) { return c >= '0' && c <= '9'; }

struct Sequence {
  std::size_t bytes = 0;
  char last = 0;  // the final byte of a CSI
  std::string_view parameters;
};

/// A CSI whose parameters start at `from`.
std::optional<Sequence> csi(std::string_view text, std::size_t from) {
  auto at = from;
  while (at < text.size() && text[at] >= 0x20 && text[at] <= 0x3f) ++at;
  if (at == text.size() || text[at] < 0x40 || text[at] > 0x7e) return std::nullopt;
  return Sequence{.bytes = at + 1, .last = text[at], .parameters = text.substr(from, at - from)};
}

/// An OSC (or other string sequence) whose text starts at `from`: to BEL or ST.
std::optional<Sequence> string_sequence(std::string_view text, std::size_t from) {
  for (auto at = from; at < text.size(); ++at) {
    if (text[at] == kBell) return Sequence{.bytes = at + 1, .last = 0, .parameters = {}};
    if (text[at] == kEscape)
      return at + 1 < text.size() && text[at + 1] == '\\'
                 ? std::optional{Sequence{.bytes = at + 2, .last = 0, .parameters = {}}}
                 : std::nullopt;
  }
  return std::nullopt;
}

std::optional<Sequence> sequence_at(std::string_view text) {
  if (text.size() < 2 || text[0] != kEscape) return std::nullopt;
  if (text[1] == '[') return csi(text, 2);
  if (text[1] == ']') return string_sequence(text, 2);
  return std::nullopt;
}

/// `[?25h`, `[0m`: a CSI that lost its escape. It must have a parameter, or "[Agent" would be one.
std::size_t bare_csi_bytes(std::string_view text) {
  if (text.size() < 3 || text[0] != '[' || (text[1] != '?' && !is_digit(text[1]))) return 0;
  auto at = std::size_t{1} + (text[1] == '?' ? 1 : 0);
  const auto first = at;
  while (at < text.size() && (is_digit(text[at]) || text[at] == ';')) ++at;
  if (at == first || at == text.size()) return 0;
  const char last = text[at];
  return (last >= 'A' && last <= 'Z') || (last >= 'a' && last <= 'z') ? at + 1 : 0;
}

std::size_t blanks_of(std::string_view parameters) {
  std::size_t count = 0;
  for (const char c : parameters) {
    if (!is_digit(c)) return 1;
    count = std::min(count * 10 + static_cast<std::size_t>(c - '0'), kMaxBlanks);
  }
  return std::max<std::size_t>(count, 1);
}

bool is_c1_control(std::string_view character) {
  return character.size() == 2 && character[0] == '\xc2' && static_cast<unsigned char>(character[1]) < 0xa0;
}

bool is_line_separator(std::string_view character) { return character == "\u2028" || character == "\u2029"; }

}  // namespace

std::string strip_control_sequences(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (const auto bytes = bare_csi_bytes(text)) text.remove_prefix(bytes);
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (const auto sequence = sequence_at(text.substr(at))) {
      if (sequence->last == 'C') out.append(blanks_of(sequence->parameters), ' ');
      at += sequence->bytes;
      continue;
    }
    if (c == '\r' && (at + 1 == text.size() || text[at + 1] != '\n')) {
      ++at;
      continue;
    }
    out += c;
    ++at;
  }
  return out;
}

std::string sanitize_line(std::string_view text, Invisible invisible) {
  const auto visible = strip_control_sequences(text);
  std::string out;
  out.reserve(visible.size());
  for (std::size_t at = 0; at < visible.size();) {
    const auto character = std::string_view{visible}.substr(at, character_bytes(std::string_view{visible}.substr(at)));
    at += character.size();
    const char c = character[0];
    if (c == kEscape) {
      if (at < visible.size() && visible[at] >= 0x20 && visible[at] < 0x7f) ++at;  // ESC 7, ESC c: two bytes
    } else if (c == '\r') {
      if (at < visible.size() && visible[at] == '\n') continue;
      out += ' ';
    } else if (c == '\n' || c == '\t' || is_line_separator(character)) {
      out += ' ';
    } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f || is_c1_control(character)) {
      continue;
    } else if (character.size() == 1 ? static_cast<unsigned char>(c) >= 0x80 : !is_utf8(character)) {
      out += "\ufffd";
    } else {
      out += character;
    }
  }
  return invisible == Invisible::Show ? show_invisible(out) : out;
}

}  // namespace relay::text
