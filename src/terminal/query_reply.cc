#include "terminal/query_reply.h"

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/format.h"

namespace relay::terminal {
namespace {

constexpr int kCellPixelsWide = 10;
constexpr int kCellPixelsHigh = 20;

struct Rgb {
  int red, green, blue;
};

constexpr Rgb kForeground{0xd0, 0xd0, 0xd0};
constexpr Rgb kBackground{0, 0, 0};

/// xterm's 256 colors: sixteen named ones, a 6x6x6 cube, 24 grays.
Rgb palette(int index) {
  static constexpr Rgb kNamed[16] = {{0, 0, 0},       {205, 0, 0},   {0, 205, 0},   {205, 205, 0},
                                     {0, 0, 238},     {205, 0, 205}, {0, 205, 205}, {229, 229, 229},
                                     {127, 127, 127}, {255, 0, 0},   {0, 255, 0},   {255, 255, 0},
                                     {92, 92, 255},   {255, 0, 255}, {0, 255, 255}, {255, 255, 255}};
  if (index < 16) return kNamed[index];
  if (index >= 232) {
    const int grey = 8 + 10 * (index - 232);
    return {grey, grey, grey};
  }
  const auto level = [](int step) { return step == 0 ? 0 : 55 + 40 * step; };
  const int cube = index - 16;
  return {level(cube / 36), level(cube / 6 % 6), level(cube % 6)};
}

std::string color_reply(std::string_view code, Rgb color) {
  return format("\x1b]{};rgb:{:02x}{:02x}/{:02x}{:02x}/{:02x}{:02x}\x1b\\", code, color.red, color.red, color.green,
                color.green, color.blue, color.blue);
}

std::string hex(std::string_view text) {
  std::string out;
  for (const char byte : text) out += format("{:02X}", static_cast<unsigned char>(byte));
  return out;
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdefABCDEF") == std::string_view::npos;
}

std::string upper(std::string_view text) {
  std::string out{text};
  for (char& letter : out)
    if (letter >= 'a' && letter <= 'f') letter = static_cast<char>(letter - 'a' + 'A');
  return out;
}

/// XTGETTCAP: names in hex, separated by semicolons; each gets a separate reply.
std::string termcap_reply(std::string_view names) {
  static constexpr struct {
    std::string_view name, value;
  } kCapabilities[] = {{"TN", "xterm-256color"}, {"Co", "256"}, {"colors", "256"}, {"RGB", "8"}};
  std::string out;
  while (!names.empty()) {
    const auto name = names.substr(0, names.find(';'));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
    if (!is_hex(name)) continue;  // never echo invalid input
    std::string reply = format("\x1bP0+r{}\x1b\\", name);
    for (const auto& capability : kCapabilities)
      if (hex(capability.name) == upper(name)) reply = format("\x1bP1+r{}={}\x1b\\", name, hex(capability.value));
    out += reply;
  }
  return out;
}

}  // namespace

std::string reply_to_query(const TerminalQuery& query, Size size) {
  switch (query.kind) {
    case QueryKind::PrimaryAttributes: return "\x1b[?62;22c";  // a VT220 with colors
    case QueryKind::SecondaryAttributes: return "\x1b[>1;10;0c";
    case QueryKind::TertiaryAttributes: return "\x1bP!|00000000\x1b\\";
    case QueryKind::TerminalVersion: return "\x1bP>|agent-relay\x1b\\";
    case QueryKind::Status: return "\x1b[0n";
    case QueryKind::CursorPosition: return format("\x1b[{};{}R", query.cursor.row + 1, query.cursor.column + 1);
    case QueryKind::PrivateCursorPosition: return format("\x1b[?{};{}R", query.cursor.row + 1, query.cursor.column + 1);
    case QueryKind::ColorScheme: return "\x1b[?997;1n";  // dark
    case QueryKind::AnsiMode: return format("\x1b[{};{}$y", query.number, query.state);
    case QueryKind::PrivateMode: return format("\x1b[?{};{}$y", query.number, query.state);
    case QueryKind::KeyboardFlags: return format("\x1b[?{}u", query.state);
    case QueryKind::ModifyOtherKeys: return format("\x1b[>4;{}m", query.state);
    case QueryKind::WindowPixels:
      return format("\x1b[4;{};{}t", size.rows * kCellPixelsHigh, size.columns * kCellPixelsWide);
    case QueryKind::CellPixels: return format("\x1b[6;{};{}t", kCellPixelsHigh, kCellPixelsWide);
    case QueryKind::WindowCells: return format("\x1b[8;{};{}t", size.rows, size.columns);
    case QueryKind::PaletteColor: return color_reply(format("4;{}", query.number), palette(query.number));
    case QueryKind::Foreground: return color_reply("10", kForeground);
    case QueryKind::Background: return color_reply("11", kBackground);
    case QueryKind::CursorColor: return color_reply("12", kForeground);
    case QueryKind::ProgramStatus: return "\x1b]7501;?\x1b\\";
    case QueryKind::Termcap: return termcap_reply(query.text);
    case QueryKind::Setting: return "\x1bP0$r\x1b\\";  // no setting is reported
    case QueryKind::Graphics: return {};
  }
  return {};
}

}  // namespace relay::terminal
