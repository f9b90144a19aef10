#include "terminal/keys.h"

#include <algorithm>
#include <utility>

#include "base/format.h"
#include "text/utf8.h"

namespace relay::terminal {
namespace {

constexpr std::uint8_t kDisambiguate = 1;   // kitty: ambiguous keys get separate codes
constexpr std::uint8_t kReportAllKeys = 8;  // kitty: every key is a sequence, text too

constexpr std::pair<std::string_view, NamedKey> kKeyNames[] = {
    {"Enter", NamedKey::Enter},   {"Return", NamedKey::Enter},      {"Escape", NamedKey::Escape},
    {"Esc", NamedKey::Escape},    {"Tab", NamedKey::Tab},           {"Backspace", NamedKey::Backspace},
    {"Up", NamedKey::Up},         {"Down", NamedKey::Down},         {"Right", NamedKey::Right},
    {"Left", NamedKey::Left},     {"Home", NamedKey::Home},         {"End", NamedKey::End},
    {"PageUp", NamedKey::PageUp}, {"PageDown", NamedKey::PageDown}, {"Insert", NamedKey::Insert},
    {"Delete", NamedKey::Delete},
};

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; }

bool equals_ignoring_case(std::string_view name, std::string_view key_name) {
  return std::ranges::equal(name, key_name, {}, lower, lower);
}

/// 1 + shift + 2 alt + 4 control, as xterm and kitty count.
int modifiers_of(const Key& key) { return 1 + (key.shift ? 1 : 0) + (key.alt ? 2 : 0) + (key.control ? 4 : 0); }

/// CSI 1 ; modifiers letter, or CSI number ; modifiers ~.
struct Functional {
  char letter = 0;
  int number = 0;
};

std::optional<Functional> functional_of(NamedKey name) {
  switch (name) {
    case NamedKey::Up: return Functional{'A', 0};
    case NamedKey::Down: return Functional{'B', 0};
    case NamedKey::Right: return Functional{'C', 0};
    case NamedKey::Left: return Functional{'D', 0};
    case NamedKey::End: return Functional{'F', 0};
    case NamedKey::Home: return Functional{'H', 0};
    case NamedKey::Insert: return Functional{0, 2};
    case NamedKey::Delete: return Functional{0, 3};
    case NamedKey::PageUp: return Functional{0, 5};
    case NamedKey::PageDown: return Functional{0, 6};
    case NamedKey::Character:
    case NamedKey::Enter:
    case NamedKey::Escape:
    case NamedKey::Tab:
    case NamedKey::Backspace: return std::nullopt;
  }
  return std::nullopt;
}

std::string encode_functional(const Functional& key, int modifiers, const Modes& modes) {
  if (key.number != 0)
    return modifiers == 1 ? format("\x1b[{}~", key.number) : format("\x1b[{};{}~", key.number, modifiers);
  if (modifiers != 1) return format("\x1b[1;{}{}", modifiers, key.letter);
  return format("\x1b{}{}", modes.application_cursor ? 'O' : '[', key.letter);
}

char32_t key_code(const Key& key) {
  switch (key.name) {
    case NamedKey::Enter: return '\r';
    case NamedKey::Escape: return 0x1b;
    case NamedKey::Tab: return '\t';
    case NamedKey::Backspace: return 0x7f;
    default: return key.character;
  }
}

/// Control with a letter or one of a few characters is a C0 control.
std::optional<char> control_code(char32_t character) {
  if (character >= 'a' && character <= 'z') return static_cast<char>(character - 'a' + 1);
  if (character >= '@' && character <= '_') return static_cast<char>(character - '@');
  if (character == ' ') return '\0';
  if (character == '?') return '\x7f';
  return std::nullopt;
}

bool needs_code(const Key& key, const Modes& modes) {
  if ((modes.keyboard_flags & kReportAllKeys) != 0) return true;
  if ((modes.keyboard_flags & kDisambiguate) == 0) return false;
  switch (key.name) {
    case NamedKey::Escape: return true;
    case NamedKey::Enter:
    case NamedKey::Tab:
    case NamedKey::Backspace: return key.shift || key.alt || key.control;
    default: return key.alt || key.control;
  }
}

std::string encode_code(const Key& key) {
  char32_t code = key_code(key);
  if (code >= 'A' && code <= 'Z') code += 'a' - 'A';  // kitty identifies a key by its unshifted letter
  const int modifiers = modifiers_of(key);
  return modifiers == 1 ? format("\x1b[{}u", static_cast<std::uint32_t>(code))
                        : format("\x1b[{};{}u", static_cast<std::uint32_t>(code), modifiers);
}

std::string encode_legacy(const Key& key) {
  std::string out;
  if (key.alt) out += '\x1b';
  if (key.name == NamedKey::Tab && key.shift) return out + "\x1b[Z";
  if (key.name == NamedKey::Character && key.control) {
    if (const auto control = control_code(key.character)) return out + *control;
  }
  text::append_utf8(out, key_code(key));
  return out;
}

}  // namespace

std::string encode_key(const Key& key, const Modes& modes) {
  if (const auto functional = functional_of(key.name)) return encode_functional(*functional, modifiers_of(key), modes);
  if (needs_code(key, modes)) return encode_code(key);
  std::string out = encode_legacy(key);
  if (modes.newline && key.name == NamedKey::Enter) out += '\n';
  return out;
}

std::optional<Key> parse_key(std::string_view name) {
  Key key;
  while (name.size() > 2 && name[1] == '-') {
    switch (name[0]) {
      case 'C': key.control = true; break;
      case 'M': key.alt = true; break;
      case 'S': key.shift = true; break;
      default: return std::nullopt;
    }
    name.remove_prefix(2);
  }
  if (equals_ignoring_case(name, "Space")) {
    key.character = ' ';
    return key;
  }
  for (const auto& [key_name, named] : kKeyNames) {
    if (!equals_ignoring_case(name, key_name)) continue;
    key.name = named;
    return key;
  }
  if (name.empty()) return std::nullopt;
  const auto lead = text::utf8_lead(static_cast<unsigned char>(name[0]));
  if (name.size() != 1u + lead.continuation_bytes) return std::nullopt;
  if (lead.continuation_bytes == 0) {
    if (static_cast<unsigned char>(name[0]) < 0x20 || static_cast<unsigned char>(name[0]) > 0x7e) return std::nullopt;
    key.character = static_cast<unsigned char>(name[0]);
    return key;
  }
  key.character = lead.bits;
  for (const char byte : name.substr(1))
    key.character = (key.character << 6) | (static_cast<unsigned char>(byte) & 0x3f);
  return key;
}

std::string key_names() {
  std::string names;
  for (const auto& [key_name, named] : kKeyNames) names += relay::format("{}, ", key_name);
  return names + "Space and single characters, such as y, each also with C-, M- or S- before it";
}

std::string encode_paste(std::string_view text, const Modes& modes) {
  const bool bracketed = modes.bracketed_paste;
  std::string out = bracketed ? "\x1b[200~" : "";
  for (std::size_t index = 0; index < text.size(); ++index) {
    const auto byte = static_cast<unsigned char>(text[index]);
    if (byte == '\r' || byte == '\n') {
      if (byte == '\r' && index + 1 < text.size() && text[index + 1] == '\n') ++index;
      out += bracketed ? '\n' : '\r';
    } else if (byte == 0xc2 && index + 1 < text.size() && static_cast<unsigned char>(text[index + 1]) < 0xa0 &&
               static_cast<unsigned char>(text[index + 1]) >= 0x80) {
      ++index;  // a C1 control in UTF-8
    } else if (byte == '\t' || (byte >= 0x20 && byte != 0x7f)) {
      out += static_cast<char>(byte);
    }
  }
  if (bracketed) out += "\x1b[201~";
  return out;
}

}  // namespace relay::terminal
