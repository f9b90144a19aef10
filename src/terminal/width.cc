#include "terminal/width.h"

#include <utf8proc.h>

#include <memory>

namespace relay::terminal {
namespace {

constexpr char32_t kBasicPlane = 0x10000;

/// Characters newer than utf8proc's Unicode version: emoji and ideographs are wide, the rest narrow.
std::uint8_t unassigned_width(char32_t code) {
  const bool wide = (code >= 0x1f300 && code <= 0x1faff) || (code >= 0x20000 && code <= 0x3fffd);
  return wide ? 2 : 1;
}

bool is_regional_indicator(char32_t code) { return code >= 0x1f1e6 && code <= 0x1f1ff; }

CharacterTraits look_up(char32_t code) {
  const auto* property = utf8proc_get_property(static_cast<utf8proc_int32_t>(code));
  CharacterTraits traits;
  traits.columns = static_cast<std::uint8_t>(property->charwidth);
  traits.plain = property->boundclass == UTF8PROC_BOUNDCLASS_OTHER && traits.columns != 0;
  switch (property->category) {
    case UTF8PROC_CATEGORY_CN:
      traits.columns = unassigned_width(code);
      traits.plain = traits.columns == 1;
      break;
    case UTF8PROC_CATEGORY_CO: traits.columns = 1; break;
    default: break;
  }
  if (is_regional_indicator(code)) traits.columns = 2;  // single or as a flag: a pair has the same width
  if (code == 0xad) return {1, true};                   // a soft hyphen that reaches a terminal is drawn
  return traits;
}

/// One byte per character of the basic plane, computed once: box drawing is half of a TUI's output.
class Table {
 public:
  Table() : traits_{std::make_unique<CharacterTraits[]>(kBasicPlane)} {
    for (char32_t code = 0; code < kBasicPlane; ++code) traits_[code] = look_up(code);
  }
  const CharacterTraits& operator[](char32_t code) const { return traits_[code]; }

 private:
  std::unique_ptr<CharacterTraits[]> traits_;
};

}  // namespace

CharacterTraits traits_of(char32_t code) {
  static const Table table;
  return code < kBasicPlane ? table[code] : look_up(code);
}

bool has_emoji_form(char32_t code) {
  if ((code >= '0' && code <= '9') || code == '#' || code == '*') return true;  // keycaps
  return utf8proc_get_property(static_cast<utf8proc_int32_t>(code))->boundclass ==
         UTF8PROC_BOUNDCLASS_EXTENDED_PICTOGRAPHIC;
}

bool ClusterState::joins(char32_t code) {
  if (previous_ == 0) {
    restart(code);
    return false;
  }
  const bool breaks = utf8proc_grapheme_break_stateful(static_cast<utf8proc_int32_t>(previous_),
                                                       static_cast<utf8proc_int32_t>(code), &state_);
  previous_ = code;
  if (breaks) state_ = 0;
  return !breaks;
}

}  // namespace relay::terminal
