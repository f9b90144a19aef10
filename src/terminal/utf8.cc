#include "terminal/utf8.h"

namespace relay::terminal {
namespace {

bool is_control(char32_t code) { return code < 0x20 || (code >= 0x7f && code < 0xa0); }

/// Takes one character off the front; a broken part counts as one.
char32_t take_character(std::string_view& bytes) {
  const auto first = static_cast<unsigned char>(bytes.front());
  bytes.remove_prefix(1);
  if (first < 0x80) return first;
  Utf8Lead lead = utf8_lead(first);
  if (lead.continuation_bytes == 0) return kReplacementCharacter;
  for (; lead.continuation_bytes > 0; --lead.continuation_bytes) {
    if (bytes.empty()) return kReplacementCharacter;
    const auto byte = static_cast<unsigned char>(bytes.front());
    if (byte < lead.lowest || byte > lead.highest) return kReplacementCharacter;
    bytes.remove_prefix(1);
    lead.bits = (lead.bits << 6) | (byte & 0x3f);
    lead.lowest = 0x80;
    lead.highest = 0xbf;
  }
  return lead.bits;
}

}  // namespace

void append_utf8(std::string& out, char32_t code) {
  const auto byte = [&out](char32_t value) { out += static_cast<char>(static_cast<unsigned char>(value)); };
  if (code < 0x80) {
    byte(code);
  } else if (code < 0x800) {
    byte(0xc0 | (code >> 6));
    byte(0x80 | (code & 0x3f));
  } else if (code < 0x10000) {
    byte(0xe0 | (code >> 12));
    byte(0x80 | ((code >> 6) & 0x3f));
    byte(0x80 | (code & 0x3f));
  } else {
    byte(0xf0 | (code >> 18));
    byte(0x80 | ((code >> 12) & 0x3f));
    byte(0x80 | ((code >> 6) & 0x3f));
    byte(0x80 | (code & 0x3f));
  }
}

std::string shown_text(std::string_view bytes, std::size_t max_bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t before = text.size();
    const char32_t code = take_character(bytes);
    append_utf8(text, is_control(code) ? U' ' : code);
    if (text.size() <= max_bytes) continue;
    text.resize(before);
    break;
  }
  return text;
}

}  // namespace relay::terminal
