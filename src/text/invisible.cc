#include "text/invisible.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/format.h"
#include "text/unicode_tables.inc"

namespace relay::text {
namespace {

constexpr char32_t kNonJoiner = 0x200C, kJoiner = 0x200D, kTextStyle = 0xFE0E, kEmojiStyle = 0xFE0F;

bool is_symbol(char32_t point) {
  if (point < 0x80) return (point >= '0' && point <= '9') || point == '#' || point == '*';  // keycaps
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(point))) {
    case UTF8PROC_CATEGORY_SO:
    case UTF8PROC_CATEGORY_SM:
    case UTF8PROC_CATEGORY_SK:
    case UTF8PROC_CATEGORY_PO: return true;  // ‼ is an emoji too
    default: return false;
  }
}

bool writes_with_joiners(char32_t point) {
  return (point >= 0x0600 && point <= 0x109F) || (point >= 0x1780 && point <= 0x18AF);
}

/// Whether `point` changes how `before` is drawn.
bool is_seen_behind(char32_t before, char32_t point) {
  switch (point) {
    case kTextStyle:
    case kEmojiStyle: return is_symbol(before);
    case kJoiner: return is_symbol(before) || before == kEmojiStyle || writes_with_joiners(before);
    case kNonJoiner: return writes_with_joiners(before);
    default: return false;
  }
}

}  // namespace

bool is_invisible(char32_t point) {
  const auto after = std::ranges::upper_bound(kInvisibleRanges, point, {}, &PointRange::first);
  return after != std::begin(kInvisibleRanges) && point <= std::prev(after)->last;
}

std::string code_point_mark(char32_t point) {
  const auto number = static_cast<std::uint32_t>(point);
  return number <= 0xFFFF ? format("\\u{:04x}", number) : format("\\U{:08x}", number);
}

std::string show_invisible(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  char32_t before = 0;
  while (!text.empty()) {
    utf8proc_int32_t decoded = 0;
    const auto taken = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &decoded);
    const auto bytes = taken > 0 ? static_cast<std::size_t>(taken) : 1U;
    const auto point = taken > 0 ? static_cast<char32_t>(decoded) : U'\uFFFD';
    if (is_invisible(point) && !is_seen_behind(before, point))
      out += code_point_mark(point);
    else
      out += text.substr(0, bytes);
    before = point;
    text.remove_prefix(bytes);
  }
  return out;
}

}  // namespace relay::text
