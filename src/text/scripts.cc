#include "text/scripts.h"

#include <utf8proc.h>

#include <algorithm>
#include <bitset>
#include <cstdlib>
#include <memory>
#include <span>

#include "text/unicode_tables.inc"

namespace relay::text {
namespace {

using Scripts = std::bitset<kScriptCount>;

/// Null for characters of every script, such as digits and punctuation.
const ScriptRange* range_of(char32_t point) {
  const auto after = std::ranges::upper_bound(kScriptRanges, point, {}, &ScriptRange::first);
  if (after == std::begin(kScriptRanges)) return nullptr;
  const auto* range = std::prev(after);
  return point <= range->last ? range : nullptr;
}

Scripts scripts_of(const ScriptRange& range) {
  Scripts scripts;
  for (const auto code : std::span{kScriptSets}.subspan(range.offset, range.length)) scripts.set(code);
  return scripts;
}

}  // namespace

bool is_highly_restrictive(std::string_view text) {
  Scripts common = Scripts{}.set(), beside_latin = Scripts{}.set();
  while (!text.empty()) {
    utf8proc_int32_t point = 0;
    const auto taken = utf8proc_iterate(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                        static_cast<utf8proc_ssize_t>(text.size()), &point);
    text.remove_prefix(taken > 0 ? static_cast<std::size_t>(taken) : 1);
    const auto* range = taken > 0 ? range_of(static_cast<char32_t>(point)) : nullptr;
    if (range == nullptr) continue;
    const auto scripts = scripts_of(*range);
    common &= scripts;
    if (!scripts.test(kLatin)) beside_latin &= scripts;
  }
  if (common.any()) return true;
  return beside_latin.test(kJapanese) || beside_latin.test(kHanWithBopomofo) || beside_latin.test(kKorean);
}

bool is_compatibility_composed(std::string_view text) {
  utf8proc_uint8_t* out = nullptr;
  const auto bytes =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &out, static_cast<utf8proc_option_t>(UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  const std::unique_ptr<utf8proc_uint8_t, decltype(&std::free)> owned{out, &std::free};
  return bytes >= 0 && text == std::string_view{reinterpret_cast<const char*>(out), static_cast<std::size_t>(bytes)};
}

}  // namespace relay::text
