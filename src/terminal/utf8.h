/// UTF-8: one character out, foreign bytes made fit to be shown.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace relay::terminal {

inline constexpr char32_t kReplacementCharacter = 0xfffd;

/// What the first byte of a character says about the rest. The bounds of the second byte leave out overlong forms,
/// surrogates and everything above U+10FFFF.
struct Utf8Lead {
  std::uint8_t continuation_bytes = 0;  // 0: this byte begins no character of several bytes
  unsigned char lowest = 0x80;
  unsigned char highest = 0xbf;
  char32_t bits = 0;
};

constexpr Utf8Lead utf8_lead(unsigned char byte) {
  if (byte >= 0xc2 && byte <= 0xdf) return {1, 0x80, 0xbf, static_cast<char32_t>(byte & 0x1f)};
  if (byte >= 0xe0 && byte <= 0xef) {
    const unsigned char lowest = byte == 0xe0 ? 0xa0 : 0x80;
    const unsigned char highest = byte == 0xed ? 0x9f : 0xbf;
    return {2, lowest, highest, static_cast<char32_t>(byte & 0x0f)};
  }
  if (byte >= 0xf0 && byte <= 0xf4) {
    const unsigned char lowest = byte == 0xf0 ? 0x90 : 0x80;
    const unsigned char highest = byte == 0xf4 ? 0x8f : 0xbf;
    return {3, lowest, highest, static_cast<char32_t>(byte & 0x07)};
  }
  return {};
}

void append_utf8(std::string& out, char32_t code);

/// Foreign bytes as text for people: valid UTF-8, broken parts replaced, control characters blanks, at most
/// `max_bytes` and never half a character.
std::string shown_text(std::string_view bytes, std::size_t max_bytes);

}  // namespace relay::terminal
