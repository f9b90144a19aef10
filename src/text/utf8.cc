#include "text/utf8.h"

#include <array>
#include <cstdint>
#include <cstring>

namespace relay::text {
namespace {

/// Eight bytes at a time: a byte below 0x20 borrows into its top bit, 0x7F carries into it, larger ones have it set.
bool is_printable_ascii(std::string_view text) {
  constexpr std::uint64_t kOnes = 0x0101010101010101;
  std::uint64_t unusual = 0;
  for (; text.size() >= sizeof(std::uint64_t); text.remove_prefix(sizeof(std::uint64_t))) {
    std::uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof bytes);
    unusual |= ((bytes - kOnes * 0x20) | (bytes + kOnes) | bytes) & (kOnes * 0x80);
  }
  for (const char c : text) unusual |= c < 0x20 || c == 0x7F ? 1u : 0u;
  return unusual == 0;
}

bool is_continuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

bool is_control(char32_t point) { return point < 0x20 || (point >= 0x7F && point < 0xA0); }

/// Overlong forms and surrogates, which character_bytes() accepts.
bool is_malformed(std::string_view character) {
  const auto first = static_cast<unsigned char>(character[0]);
  if (character.size() == 1) return first >= 0x80;
  const auto second = static_cast<unsigned char>(character[1]);
  return (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) || (first == 0xF0 && second < 0x90) ||
         (first == 0xF4 && second >= 0x90);
}

/// Removes one character from the front; a malformed sequence counts as one.
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

char32_t next_code_point(std::string_view text, std::size_t& position) {
  const auto byte = [&](std::size_t offset) { return static_cast<unsigned char>(text[position + offset]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) {
    ++position;
    return lead;
  }
  const std::size_t length = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : 2;
  // C0, C1 and F5 and above never start a well-formed sequence.
  bool good = lead >= 0xC2 && lead <= 0xF4 && text.size() - position >= length;
  char32_t point = lead & (0x7Fu >> length);
  for (std::size_t i = 1; good && i < length; ++i) {
    good = is_continuation(byte(i));
    point = (point << 6) | (byte(i) & 0x3F);
  }
  // Overlong forms, surrogates and values beyond Unicode.
  if (good && length == 3) good = point >= 0x800 && (point < 0xD800 || point > 0xDFFF);
  if (good && length == 4) good = point >= 0x10000 && point <= 0x10FFFF;
  position += good ? length : 1;
  return good ? point : kInvalidCodePoint;
}

std::size_t write_code_point(char* out, char32_t point) {
  const auto tail = [point](unsigned shift) { return static_cast<char>(0x80 | ((point >> shift) & 0x3F)); };
  if (point < 0x80) {
    out[0] = static_cast<char>(point);
    return 1;
  }
  if (point < 0x800) {
    out[0] = static_cast<char>(0xC0 | (point >> 6));
    out[1] = tail(0);
    return 2;
  }
  if (point < 0x10000) {
    out[0] = static_cast<char>(0xE0 | (point >> 12));
    out[1] = tail(6);
    out[2] = tail(0);
    return 3;
  }
  out[0] = static_cast<char>(0xF0 | (point >> 18));
  out[1] = tail(12);
  out[2] = tail(6);
  out[3] = tail(0);
  return 4;
}

std::string_view truncate_utf8(std::string_view text, std::size_t max_bytes) {
  if (text.size() <= max_bytes) return text;
  while (max_bytes > 0 && is_continuation(static_cast<unsigned char>(text[max_bytes]))) --max_bytes;
  return text.substr(0, max_bytes);
}

std::size_t character_bytes(std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t length = first < 0xC2 ? 1 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 1;
  if (length > text.size()) return 1;
  for (std::size_t i = 1; i < length; ++i)
    if (!is_continuation(static_cast<unsigned char>(text[i]))) return 1;
  return length;
}

void append_utf8(std::string& out, char32_t point) {
  std::array<char, 4> bytes{};
  out.append(bytes.data(), write_code_point(bytes.data(), point));
}

std::string repair_utf8(std::string_view text) {
  std::string out;
  out.reserve(text.size() + 8);
  while (!text.empty()) {
    const auto character = text.substr(0, character_bytes(text));
    if (is_malformed(character))
      append_utf8(out, kReplacementCharacter);
    else
      out += character;
    text.remove_prefix(character.size());
  }
  return out;
}

std::string printable_utf8(std::string_view bytes, std::size_t max_bytes) {
  std::string text;
  while (!bytes.empty()) {
    const std::size_t before = text.size();
    const char32_t point = take_character(bytes);
    append_utf8(text, is_control(point) ? U' ' : point);
    if (text.size() <= max_bytes) continue;
    text.resize(before);
    break;
  }
  return text;
}

bool has_control_characters(std::string_view text) {
  if (is_printable_ascii(text)) return false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7F) return true;
    // U+0080 to U+009F are C2 80 to C2 9F.
    if (byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0) return true;
  }
  return false;
}

}  // namespace relay::text
