#include "hooks/json_repair.h"

#include <charconv>
#include <optional>

#include "text/utf8.h"

namespace relay::hooks {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr std::size_t kEscapeBytes = 6;  // \uXXXX

/// The code unit of an escape `\uXXXX` at that position.
std::optional<unsigned> escaped_unit(std::string_view text, std::size_t at) {
  if (text.size() - at < kEscapeBytes || text[at] != '\\' || text[at + 1] != 'u') return std::nullopt;
  unsigned unit = 0;
  const char* end = text.data() + at + kEscapeBytes;
  const auto parsed = std::from_chars(text.data() + at + 2, end, unit, 16);
  return parsed.ptr == end && parsed.ec == std::errc{} ? std::optional{unit} : std::nullopt;
}

bool is_high(unsigned unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool is_low(unsigned unit) { return unit >= 0xDC00 && unit < 0xE000; }

}  // namespace

std::string repair_json(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] != '\\') {
      const auto from = at;
      if (text::next_code_point(text, at) == text::kInvalidCodePoint)
        out += kReplacement;
      else
        out += text.substr(from, at - from);
      continue;
    }
    const auto unit = escaped_unit(text, at);
    std::size_t length = unit ? kEscapeBytes : std::min<std::size_t>(2, text.size() - at);
    bool broken = unit && is_low(*unit);
    if (unit && is_high(*unit)) {
      const auto next = escaped_unit(text, at + kEscapeBytes);
      broken = !next || !is_low(*next);
      if (!broken) length = 2 * kEscapeBytes;
    }
    // An incomplete character after a plain backslash is read in the next round.
    if (!unit && length == 2 && static_cast<unsigned char>(text[at + 1]) >= 0x80) length = 1;
    out += broken ? kReplacement : text.substr(at, length);
    at += length;
  }
  return out;
}

}  // namespace relay::hooks
