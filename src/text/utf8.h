/// UTF-8: checking, reading, writing and truncating it.
///
/// A sequence is well formed as Unicode defines it: no overlong forms, no surrogates, nothing above U+10FFFF.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace relay::text {

inline constexpr char32_t kInvalidCodePoint = 0xFFFFFFFF;
inline constexpr char32_t kReplacementCharacter = 0xFFFD;

/// Vectorized; frames are checked with it.
bool is_utf8(std::string_view bytes);

/// The code point at `position`, which moves past it. kInvalidCodePoint where the bytes are malformed; `position` then
/// moves by one byte. `position` must be inside `text`.
char32_t next_code_point(std::string_view text, std::size_t& position);

/// Bytes of the character that starts the text; 1 for a byte that starts none, 0 at the end. Overlong forms and
/// surrogates count as characters.
std::size_t character_bytes(std::string_view text);

/// What the first byte of a multi-byte character implies for the rest, for readers that get one byte at a time. The
/// bounds of the second byte exclude malformed sequences.
struct Utf8Lead {
  std::uint8_t continuation_bytes = 0;  // 0: this byte starts no character of several bytes
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

/// Writes the UTF-8 of a code point (at most U+10FFFF) to `out`; returns the number of bytes, at most 4.
std::size_t write_code_point(char* out, char32_t point);
void append_utf8(std::string& out, char32_t point);

/// The longest prefix of well-formed `text` that fits `max_bytes` and splits no character.
std::string_view truncate_utf8(std::string_view text, std::size_t max_bytes);

/// Replaces every malformed sequence by U+FFFD.
std::string repair_utf8(std::string_view text);

/// Well-formed UTF-8 of at most `max_bytes` for display: malformed sequences become U+FFFD, control characters spaces.
std::string printable_utf8(std::string_view bytes, std::size_t max_bytes);

/// C0 and C1 controls and DEL, which a terminal obeys instead of printing.
bool has_control_characters(std::string_view text);

}  // namespace relay::text
