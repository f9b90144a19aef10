#include "permissions/plain_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>

namespace relay::permissions {
namespace {

struct Range {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr std::array kHidden = {
    Range{0x00, 0x1f},        // control
    Range{0x7f, 0xa0},        // control; a space that does not break
    Range{0xad, 0xad},        // soft hyphen
    Range{0x34f, 0x34f},      // joiner of graphemes
    Range{0x600, 0x605},      // signs before Arabic numbers
    Range{0x61c, 0x61c},      // Arabic direction
    Range{0x6dd, 0x6dd},      //
    Range{0x70f, 0x70f},      //
    Range{0x115f, 0x1160},    // Hangul fillers
    Range{0x1680, 0x1680},    // a space
    Range{0x17b4, 0x17b5},    // Khmer, not shown
    Range{0x180b, 0x180f},    // Mongolian selectors and separator
    Range{0x2000, 0x200f},    // spaces, zero width, direction
    Range{0x2028, 0x202f},    // line ends, embeddings, overrides
    Range{0x205f, 0x206f},    // spaces, isolates, invisible operators
    Range{0x2800, 0x2800},    // a Braille blank
    Range{0x3000, 0x3000},    // a wide space
    Range{0x3164, 0x3164},    // a Hangul filler
    Range{0xe000, 0xf8ff},    // private use: looks like anything
    Range{0xfe00, 0xfe0f},    // variation selectors
    Range{0xfeff, 0xfeff},    // byte order mark
    Range{0xffa0, 0xffa0},    // a Hangul filler
    Range{0xfff0, 0xffff},    // specials
    Range{0x1bca0, 0x1bca3},  // shorthand, not shown
    Range{0x1d173, 0x1d17a},  // musical, not shown
    Range{0xe0000, 0x10ffff}  // tags, selectors, private use
};

/// The letter at the front, which is taken away; nothing when the bytes are no UTF-8.
std::optional<std::uint32_t> take_letter(std::string_view& text) {
  const auto byte = [&](std::size_t at) { return static_cast<std::uint8_t>(text[at]); };
  const std::uint32_t lead = byte(0);
  const std::size_t size = lead < 0x80 ? 1 : lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if ((lead >= 0x80 && lead < 0xc2) || lead > 0xf4 || text.size() < size) return std::nullopt;
  constexpr std::array<std::uint32_t, 5> kMask = {0, 0x7f, 0x1f, 0x0f, 0x07};
  constexpr std::array<std::uint32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  auto letter = lead & kMask[size];
  for (std::size_t at = 1; at < size; ++at) {
    if ((byte(at) & 0xc0U) != 0x80U) return std::nullopt;
    letter = letter << 6U | (byte(at) & 0x3fU);
  }
  if (letter < kLeast[size] || (letter >= 0xd800 && letter <= 0xdfff) || letter > 0x10ffff) return std::nullopt;
  text.remove_prefix(size);
  return letter;
}

}  // namespace

bool is_plain_text(std::string_view text) {
  while (!text.empty()) {
    const auto letter = take_letter(text);
    if (!letter) return false;
    if (std::ranges::any_of(kHidden, [&](Range range) { return range.first <= *letter && *letter <= range.last; }))
      return false;
  }
  return true;
}

}  // namespace relay::permissions
