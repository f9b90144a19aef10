/// One cell of the grid, sixteen bytes: character, width and style.
///
/// A wide character is a cell of two columns followed by its spacer (0 columns, no text). Most cells hold one code
/// point; a cluster of several is stored in the row (row.h), and the cell holds its index.
#pragma once

#include <cstdint>

#include "terminal/style.h"

namespace relay::terminal {

class Cell {
 public:
  /// A blank of the default style.
  constexpr Cell() = default;
  constexpr Cell(char32_t code, int columns, const Style& style)
      : glyph_{static_cast<std::uint32_t>(code) | (static_cast<std::uint32_t>(columns) << kColumnsShift)},
        style_{style} {}

  static constexpr Cell blank(const Style& style) { return {U' ', 1, style}; }
  static constexpr Cell spacer(const Style& style) { return {0, 0, style}; }
  /// Left empty at the end of a row because a wide character did not fit: a blank that the program did not write.
  static constexpr Cell filler(const Style& style) { return {0, 1, style}; }

  [[nodiscard]] constexpr int columns() const { return static_cast<int>(glyph_ >> kColumnsShift); }
  [[nodiscard]] constexpr bool is_spacer() const { return columns() == 0; }
  [[nodiscard]] constexpr bool is_filler() const { return glyph_ == (1u << kColumnsShift); }
  [[nodiscard]] constexpr bool is_blank() const { return is_filler() || glyph_ == (U' ' | (1u << kColumnsShift)); }
  [[nodiscard]] constexpr bool is_ascii() const { return (glyph_ & ~0x7fu) == (1u << kColumnsShift) && !is_filler(); }
  [[nodiscard]] constexpr bool is_cluster() const { return (glyph_ & kClusterBit) != 0; }
  /// The code point, or the index of the cluster in its row.
  [[nodiscard]] constexpr std::uint32_t value() const { return glyph_ & kValueMask; }
  [[nodiscard]] constexpr const Style& style() const { return style_; }

  constexpr void set_style(const Style& style) { style_ = style; }
  constexpr void set_cluster(std::uint32_t number, int columns) {
    glyph_ = number | kClusterBit | (static_cast<std::uint32_t>(columns) << kColumnsShift);
  }

 private:
  static constexpr std::uint32_t kValueMask = 0x1f'ffff;
  static constexpr std::uint32_t kClusterBit = 0x20'0000;
  static constexpr unsigned kColumnsShift = 22;

  std::uint32_t glyph_ = U' ' | (1u << kColumnsShift);
  Style style_;
};
static_assert(sizeof(Cell) == 16);

}  // namespace relay::terminal
