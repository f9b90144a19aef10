/// The style of a cell: two colors, an underline and a few attributes, in twelve bytes.
///
/// Deliberately absent: the color of the underline and hyperlinks. Both are ignored; neither changes the text.
#pragma once

#include <cstdint>

namespace relay::terminal {

/// The terminal's default, one of 256 palette entries, or 24-bit RGB.
class Color {
 public:
  enum class Kind : std::uint8_t { Default, Indexed, Rgb };

  constexpr Color() = default;
  static constexpr Color indexed(std::uint8_t index) { return Color{(1u << 24) | index}; }
  static constexpr Color rgb(std::uint8_t red, std::uint8_t green, std::uint8_t blue) {
    return Color{(2u << 24) | (std::uint32_t{red} << 16) | (std::uint32_t{green} << 8) | blue};
  }

  [[nodiscard]] constexpr Kind kind() const { return static_cast<Kind>(bits_ >> 24); }
  [[nodiscard]] constexpr std::uint8_t index() const { return static_cast<std::uint8_t>(bits_); }
  [[nodiscard]] constexpr std::uint8_t red() const { return static_cast<std::uint8_t>(bits_ >> 16); }
  [[nodiscard]] constexpr std::uint8_t green() const { return static_cast<std::uint8_t>(bits_ >> 8); }
  [[nodiscard]] constexpr std::uint8_t blue() const { return static_cast<std::uint8_t>(bits_); }

  constexpr bool operator==(const Color&) const = default;

 private:
  constexpr explicit Color(std::uint32_t bits) : bits_{bits} {}
  std::uint32_t bits_ = 0;
};

enum class Attribute : std::uint16_t {
  Bold = 1,
  Dim = 2,
  Italic = 4,
  Blink = 8,
  Inverse = 16,
  Hidden = 32,
  Struck = 64,
  Overlined = 128,
};

enum class Underline : std::uint16_t { None, Single, Double, Curly, Dotted, Dashed };

struct Style {
  Color foreground{};
  Color background{};
  std::uint16_t attributes = 0;
  Underline underline = Underline::None;

  [[nodiscard]] constexpr bool has(Attribute attribute) const {
    return (attributes & static_cast<std::uint16_t>(attribute)) != 0;
  }
  constexpr void set(Attribute attribute) { attributes |= static_cast<std::uint16_t>(attribute); }
  constexpr void clear(Attribute attribute) {
    attributes = static_cast<std::uint16_t>(attributes & ~static_cast<std::uint16_t>(attribute));
  }
  constexpr bool operator==(const Style&) const = default;
};
static_assert(sizeof(Style) == 12);

}  // namespace relay::terminal
