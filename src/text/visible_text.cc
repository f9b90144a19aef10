#include "text/visible_text.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include "text/utf8.h"

namespace relay::text {
namespace {

struct CodePoints {
  std::uint32_t first;
  std::uint32_t last;
};

constexpr std::array kHidden = {
    CodePoints{0x00, 0x1f},        // control
    CodePoints{0x7f, 0xa0},        // control; a space that does not break
    CodePoints{0xad, 0xad},        // soft hyphen
    CodePoints{0x34f, 0x34f},      // joiner of graphemes
    CodePoints{0x600, 0x605},      // signs before Arabic numbers
    CodePoints{0x61c, 0x61c},      // Arabic direction
    CodePoints{0x6dd, 0x6dd},      //
    CodePoints{0x70f, 0x70f},      //
    CodePoints{0x115f, 0x1160},    // Hangul fillers
    CodePoints{0x1680, 0x1680},    // a space
    CodePoints{0x17b4, 0x17b5},    // Khmer, invisible
    CodePoints{0x180b, 0x180f},    // Mongolian selectors and separator
    CodePoints{0x2000, 0x200f},    // spaces, zero width, direction
    CodePoints{0x2028, 0x202f},    // line ends, embeddings, overrides
    CodePoints{0x205f, 0x206f},    // spaces, isolates, invisible operators
    CodePoints{0x2800, 0x2800},    // a Braille blank
    CodePoints{0x3000, 0x3000},    // a wide space
    CodePoints{0x3164, 0x3164},    // a Hangul filler
    CodePoints{0xe000, 0xf8ff},    // private use: looks like anything
    CodePoints{0xfe00, 0xfe0f},    // variation selectors
    CodePoints{0xfeff, 0xfeff},    // byte order mark
    CodePoints{0xffa0, 0xffa0},    // a Hangul filler
    CodePoints{0xfff0, 0xffff},    // specials
    CodePoints{0x1bca0, 0x1bca3},  // shorthand, invisible
    CodePoints{0x1d173, 0x1d17a},  // musical, invisible
    CodePoints{0xe0000, 0x10ffff}  // tags, selectors, private use
};

}  // namespace

bool is_visible_text(std::string_view text) {
  for (std::size_t position = 0; position < text.size();) {
    const auto point = next_code_point(text, position);
    if (point == kInvalidCodePoint) return false;
    if (std::ranges::any_of(kHidden, [&](CodePoints range) { return range.first <= point && point <= range.last; }))
      return false;
  }
  return true;
}

}  // namespace relay::text
