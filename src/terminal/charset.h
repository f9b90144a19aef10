/// Character sets that a program can select: ASCII, and DEC's line drawing, which draws boxes with letter codes.
#pragma once

#include <array>
#include <cstdint>

namespace relay::terminal {

enum class Charset : std::uint8_t { Ascii, DecGraphics };

/// The four designated sets and the active one.
struct Charsets {
  std::array<Charset, 4> designated{};
  std::uint8_t active = 0;

  [[nodiscard]] Charset current() const { return designated[active]; }
  bool operator==(const Charsets&) const = default;
};

/// The character that DEC's line drawing shows for a printable ASCII character.
constexpr char32_t dec_graphic(char ascii) {
  constexpr char32_t kPieces[] = U"◆▒␉␌␍␊°±␤␋┘┐┌└┼⎺⎻─⎼⎽├┤┴┬│≤≥π≠£·";
  return ascii >= '`' && ascii <= '~' ? kPieces[ascii - '`'] : static_cast<char32_t>(ascii);
}

}  // namespace relay::terminal
