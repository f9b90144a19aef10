#include "terminal/sgr.h"

#include <optional>

#include "base/format.h"

namespace relay::terminal {
namespace {

std::uint8_t byte_of(std::uint32_t value) { return static_cast<std::uint8_t>(value > 255 ? 255 : value); }

/// Index of the first parameter behind the one at `index` and its sub-parameters.
std::size_t after_parts(const Parameters& parameters, std::size_t index) {
  ++index;
  while (parameters.is_part(index)) ++index;
  return index;
}

struct ReadColor {
  std::optional<Color> color;
  std::size_t next = 0;  // index of the next parameter
};

/// 38, 48 and 58, in both forms: `38;2;r;g;b` and `38:2:space:r:g:b` (the space may be absent).
ReadColor read_color(const Parameters& parameters, std::size_t index) {
  if (parameters.is_part(index + 1)) {
    const std::size_t next = after_parts(parameters, index);
    const std::size_t parts = next - index - 1;
    if (parameters[index + 1] == 5 && parts >= 2) return {Color::indexed(byte_of(parameters[index + 2])), next};
    if (parameters[index + 1] == 2 && parts >= 4) {
      const std::size_t red = index + (parts >= 5 ? 3 : 2);
      return {Color::rgb(byte_of(parameters[red]), byte_of(parameters[red + 1]), byte_of(parameters[red + 2])), next};
    }
    return {std::nullopt, next};
  }
  if (parameters[index + 1] == 5 && index + 2 < parameters.size())
    return {Color::indexed(byte_of(parameters[index + 2])), index + 3};
  if (parameters[index + 1] == 2 && index + 4 < parameters.size())
    return {Color::rgb(byte_of(parameters[index + 2]), byte_of(parameters[index + 3]), byte_of(parameters[index + 4])),
            index + 5};
  return {std::nullopt, parameters.size()};  // incomplete color: the rest is ambiguous
}

Underline underline_of(const Parameters& parameters, std::size_t index) {
  if (!parameters.is_part(index + 1)) return Underline::Single;
  const auto value = parameters[index + 1];
  return value <= 5 ? static_cast<Underline>(value) : Underline::Single;
}

void apply_simple(Style& style, std::uint32_t number) {
  switch (number) {
    case 0: style = {}; break;
    case 1: style.set(Attribute::Bold); break;
    case 2: style.set(Attribute::Dim); break;
    case 3: style.set(Attribute::Italic); break;
    case 5:
    case 6: style.set(Attribute::Blink); break;
    case 7: style.set(Attribute::Inverse); break;
    case 8: style.set(Attribute::Hidden); break;
    case 9: style.set(Attribute::Struck); break;
    case 21: style.underline = Underline::Double; break;
    case 22:
      style.clear(Attribute::Bold);
      style.clear(Attribute::Dim);
      break;
    case 23: style.clear(Attribute::Italic); break;
    case 24: style.underline = Underline::None; break;
    case 25: style.clear(Attribute::Blink); break;
    case 27: style.clear(Attribute::Inverse); break;
    case 28: style.clear(Attribute::Hidden); break;
    case 29: style.clear(Attribute::Struck); break;
    case 39: style.foreground = {}; break;
    case 49: style.background = {}; break;
    case 53: style.set(Attribute::Overlined); break;
    case 55: style.clear(Attribute::Overlined); break;
    default:
      if (number >= 30 && number <= 37) style.foreground = Color::indexed(byte_of(number - 30));
      if (number >= 40 && number <= 47) style.background = Color::indexed(byte_of(number - 40));
      if (number >= 90 && number <= 97) style.foreground = Color::indexed(byte_of(number - 90 + 8));
      if (number >= 100 && number <= 107) style.background = Color::indexed(byte_of(number - 100 + 8));
  }
}

void append_color(std::string& out, const Color& color, int base) {
  switch (color.kind()) {
    case Color::Kind::Default: return;
    case Color::Kind::Indexed:
      if (color.index() < 8)
        out += format(";{}", base + color.index());
      else if (color.index() < 16)
        out += format(";{}", base + 60 + color.index() - 8);
      else
        out += format(";{};5;{}", base + 8, color.index());
      return;
    case Color::Kind::Rgb: out += format(";{};2;{};{};{}", base + 8, color.red(), color.green(), color.blue()); return;
  }
}

}  // namespace

void apply_sgr(Style& style, const Parameters& parameters) {
  if (parameters.size() == 0) {
    style = {};
    return;
  }
  std::size_t index = 0;
  while (index < parameters.size()) {
    const auto number = parameters[index];
    if (number == 38 || number == 48 || number == 58) {
      const auto [color, next] = read_color(parameters, index);
      if (color && number == 38) style.foreground = *color;
      if (color && number == 48) style.background = *color;
      index = next;
      continue;
    }
    if (number == 4)
      style.underline = underline_of(parameters, index);
    else
      apply_simple(style, number);
    index = after_parts(parameters, index);
  }
}

std::string sgr_of(const Style& style) {
  static constexpr struct {
    Attribute attribute;
    int number;
  } kNumbers[] = {{Attribute::Bold, 1},    {Attribute::Dim, 2},    {Attribute::Italic, 3}, {Attribute::Blink, 5},
                  {Attribute::Inverse, 7}, {Attribute::Hidden, 8}, {Attribute::Struck, 9}, {Attribute::Overlined, 53}};
  std::string out = "\x1b[0";
  for (const auto& [attribute, number] : kNumbers)
    if (style.has(attribute)) out += format(";{}", number);
  if (style.underline == Underline::Single) out += ";4";
  if (style.underline > Underline::Single) out += format(";4:{}", static_cast<int>(style.underline));
  append_color(out, style.foreground, 30);
  append_color(out, style.background, 40);
  return out + "m";
}

}  // namespace relay::terminal
