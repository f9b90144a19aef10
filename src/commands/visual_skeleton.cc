#include "commands/visual_skeleton.h"

#include <optional>

#include "commands/line_shape.h"
#include "text/display_width.h"
#include "text/utf8.h"

namespace relay::commands {
namespace {

struct Alike {
  char character;
  std::string_view others;
};

// From Unicode's list of confusables, for the characters of the header prefixes only.
constexpr Alike kAlike[] = {
    {'r', "гГʀᴦɾꭇꭈ"},  {'e', "еЕεΕёЁєЄᴇℯ℮ҽⅇ"}, {'l', "ӏӀⅼⅬℓʟІіΙι∣"}, {'a', "аАαΑɑᴀ⍺"},
    {'y', "уУүҮγΥʏყ"}, {'m', "мМΜᴍⅿⅯ"},        {'s', "ѕЅꜱƽſ"},       {'g', "ɡɢցǥԍ"},
    {'f', "ƒꜰꞙẝϝ"},    {'o', "оОοΟσᴏօ०"},      {'u', "υսᴜʋꞟᶙ"},
};

/// The character at that index of consecutive alphabets, each A to Z and a to z.
char character_at(char32_t index) {
  constexpr char32_t kBoth = 52, kOne = 26;
  const auto within = index % kBoth;
  return static_cast<char>(within < kOne ? 'A' + within : 'a' + (within - kOne));
}

bool is_blank(char32_t point) {
  return point == ' ' || point == '\t' || point == 0xA0 || point == 0x1680 || (point >= 0x2000 && point <= 0x200A) ||
         point == 0x2028 || point == 0x2029 || point == 0x202F || point == 0x205F || point == 0x2800 ||
         point == 0x3000 || point == 0x3164 || point == 0xFFA0;
}

bool is_invisible(std::string_view utf8, char32_t point) {
  return point == 0xAD || point == 0x115F || point == 0x1160 || point == 0x180E || text::display_width(utf8) == 0;
}

std::optional<char> latin(std::string_view utf8, char32_t point) {
  if (point >= 0xFF01 && point <= 0xFF5E) return static_cast<char>(point - 0xFF01 + '!');
  if (point >= 0x1D400 && point < 0x1D400 + 13 * 52) return character_at(point - 0x1D400);
  if (point >= 0x24B6 && point < 0x24B6 + 52) return character_at(point - 0x24B6);
  for (const auto& [character, others] : kAlike)
    if (others.contains(utf8)) return character;
  return std::nullopt;
}

}  // namespace

std::string visual_skeleton(std::string_view text) {
  std::string skeleton;
  skeleton.reserve(text.size());
  while (!text.empty()) {
    const auto utf8 = text.substr(0, text::character_bytes(text));
    text.remove_prefix(utf8.size());
    const auto point = text::first_character(utf8);
    if (is_blank(point)) {
      if (!skeleton.ends_with(' ')) skeleton += ' ';
    } else if (utf8.size() == 1) {
      skeleton += utf8;
    } else if (is_invisible(utf8, point)) {
      continue;
    } else if (const auto character = latin(utf8, point)) {
      skeleton += *character;
    } else {
      skeleton += utf8;
    }
  }
  return skeleton;
}

}  // namespace relay::commands
