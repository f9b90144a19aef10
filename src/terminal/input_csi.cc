#include "terminal/input_csi.h"

#include "terminal/parameters.h"
#include "text/utf8.h"

namespace relay::terminal {
namespace {

constexpr std::uint32_t kEnterKey = 13;
constexpr std::uint32_t kKeypadEnterKey = 57'414;   // kitty's code
constexpr std::uint32_t kFirstPrivateKey = 57'344;  // kitty: keys without a character
constexpr std::uint32_t kRelease = 3;
constexpr std::uint32_t kLocks = 64 | 128;  // caps lock and num lock do not count as modifiers
constexpr std::uint32_t kShift = 1;

Parameters parse_parameters(std::string_view body) {
  Parameters parameters;
  for (const char byte : body) {
    if (byte >= '0' && byte <= '9') parameters.digit(static_cast<std::uint32_t>(byte - '0'));
    if (byte == ';') parameters.separator();
    if (byte == ':') parameters.part_separator();
  }
  return parameters;
}

/// The index of the n-th parameter, sub-parameters not counted.
std::size_t index_of(const Parameters& parameters, std::size_t number) {
  std::size_t index = 0;
  for (; index < parameters.size(); ++index)
    if (!parameters.is_part(index) && number-- == 0) break;
  return index;
}

std::uint32_t modifiers_of(std::uint32_t parameter) { return parameter == 0 ? 0 : (parameter - 1) & ~kLocks; }

bool is_printable(std::uint32_t code) { return code >= 0x20 && code != 0x7f && code < kFirstPrivateKey; }

/// A key of kitty's protocol: CSI code : shifted : base ; modifiers : event ; text u
ClassifiedInput parse_kitty_key(const Parameters& parameters) {
  const auto code = parameters[0];
  const auto modifiers = modifiers_of(parameters[index_of(parameters, 1)]);
  if ((code == kEnterKey || code == kKeypadEnterKey) && modifiers == 0) return {InputKind::Enter, {}};
  ClassifiedInput key;
  for (auto index = index_of(parameters, 2); index < parameters.size(); ++index)
    if (is_printable(parameters[index])) text::append_utf8(key.text, parameters[index]);
  if (key.text.empty() && is_printable(code) && (modifiers & ~kShift) == 0) {
    const bool shifted = modifiers == kShift;
    const auto produced = shifted && parameters.is_part(1) && is_printable(parameters[1]) ? parameters[1] : code;
    text::append_utf8(key.text, shifted && produced >= 'a' && produced <= 'z' ? produced - 'a' + 'A' : produced);
  }
  key.kind = key.text.empty() ? InputKind::Key : InputKind::Text;
  return key;
}

/// xterm's modifyOtherKeys: CSI 27 ; modifiers ; code ~
ClassifiedInput parse_other_key(const Parameters& parameters) {
  const auto modifiers = modifiers_of(parameters[1]);
  if (parameters[2] == kEnterKey && modifiers == 0) return {InputKind::Enter, {}};
  if ((modifiers & ~kShift) != 0 || !is_printable(parameters[2])) return {InputKind::Key, {}};
  ClassifiedInput key{InputKind::Text, {}};
  text::append_utf8(key.text, parameters[2]);
  return key;
}

}  // namespace

ClassifiedInput classify_csi(std::string_view sequence) {
  const char final = sequence.back();
  const std::string_view body = sequence.substr(2, sequence.size() - 3);
  const char prefix = body.empty() ? '\0' : body.front();
  if (prefix == '<') return {final == 'M' || final == 'm' ? InputKind::Mouse : InputKind::Reply, {}};
  if (prefix == '?' || prefix == '>' || prefix == '=') return {InputKind::Reply, {}};
  if (body.find_first_of(" !\"#$%&'()*+,-./") != std::string_view::npos) return {InputKind::Reply, {}};

  const Parameters parameters = parse_parameters(body);
  const auto modifier = index_of(parameters, 1);
  const bool released = parameters.is_part(modifier + 1) && parameters[modifier + 1] == kRelease;
  switch (final) {
    case 'I':
    case 'O':
      if (body.empty()) return {InputKind::Focus, {}};
      break;
    case 'M': return {InputKind::Mouse, {}};  // urxvt's form
    case 'R':
      if (modifier < parameters.size() && !parameters.is_part(modifier + 1)) return {InputKind::Reply, {}};
      break;
    case 'c':
    case 'n':
    case 't':
    case 'x':
    case 'y': return {InputKind::Reply, {}};
    case 'u':
      if (released) return {InputKind::KeyRelease, {}};
      return parse_kitty_key(parameters);
    case '~':
      if (!released && parameters[0] == 27 && parameters.size() >= 3) return parse_other_key(parameters);
      break;
    default: break;
  }
  return {released ? InputKind::KeyRelease : InputKind::Key, {}};
}

}  // namespace relay::terminal
