/// unicode_tables FILE: writes the tables of confusables, scripts and invisible characters as C++, from ICU's data.
#include <unicode/normalizer2.h>
#include <unicode/uchar.h>
#include <unicode/uscript.h>
#include <unicode/uspoof.h>

#include <cstdio>
#include <fstream>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/format.h"

namespace {

using relay::format;

constexpr UChar32 kLastPoint = 0x10FFFF;

bool is_assigned(UChar32 point) {
  const auto category = u_charType(point);
  return category != U_UNASSIGNED && category != U_SURROGATE && category != U_PRIVATE_USE_CHAR;
}

std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char byte : text) out += format("\\{:03o}", static_cast<unsigned char>(byte));
  return out + "\"";
}

std::string prototypes() {
  UErrorCode status = U_ZERO_ERROR;
  const std::unique_ptr<USpoofChecker, decltype(&uspoof_close)> checker{uspoof_open(&status), &uspoof_close};
  const auto* normalizer = icu::Normalizer2::getNFDInstance(status);
  std::string rows, pool;
  std::map<std::string, std::size_t> entries;
  for (UChar32 point = 0x20; point <= kLastPoint; ++point) {
    const icu::UnicodeString one{point};
    if (!is_assigned(point) || !normalizer->isInert(point) || normalizer->normalize(one, status) != one) continue;
    icu::UnicodeString skeleton;
    uspoof_getSkeletonUnicodeString(checker.get(), 0, one, skeleton, &status);
    if (U_FAILURE(status) != 0) return {};
    if (skeleton == one || skeleton.isEmpty()) continue;
    std::string bytes;
    skeleton.toUTF8String(bytes);
    const auto [entry, added] = entries.try_emplace(bytes, pool.size());
    if (added) pool += bytes;
    rows += format("    {{0x{:X}, {}, {}}},\n", static_cast<unsigned>(point), entry->second, bytes.size());
  }
  return format(
      "struct Prototype {{\n  char32_t point;\n  std::uint16_t offset, length;\n}};\n"
      "constexpr Prototype kPrototypes[] = {{\n{}}};\nconstexpr std::string_view kPrototypeText =\n    {};\n",
      rows, quoted(pool));
}

/// As UTS 39 augments them: Han is also written in Japanese, Korean and with Bopomofo.
std::vector<int> scripts_of(UChar32 point) {
  UErrorCode status = U_ZERO_ERROR;
  UScriptCode codes[32];
  const auto count = uscript_getScriptExtensions(point, codes, 32, &status);
  std::vector<int> scripts;
  for (int i = 0; i < count; ++i) {
    const auto add = [&](UScriptCode code) { scripts.push_back(code); };
    if (codes[i] == USCRIPT_COMMON || codes[i] == USCRIPT_INHERITED) return {};
    add(codes[i]);
    if (codes[i] == USCRIPT_HAN) add(USCRIPT_JAPANESE), add(USCRIPT_KOREAN), add(USCRIPT_HAN_WITH_BOPOMOFO);
    if (codes[i] == USCRIPT_HIRAGANA || codes[i] == USCRIPT_KATAKANA) add(USCRIPT_JAPANESE);
    if (codes[i] == USCRIPT_HANGUL) add(USCRIPT_KOREAN);
    if (codes[i] == USCRIPT_BOPOMOFO) add(USCRIPT_HAN_WITH_BOPOMOFO);
  }
  return scripts;
}

std::string scripts() {
  std::string rows, sets;
  std::size_t used = 0;
  std::map<std::vector<int>, std::size_t> entries;
  const auto add_row = [&](UChar32 first, UChar32 last, const std::vector<int>& codes) {
    if (codes.empty()) return;
    const auto [entry, added] = entries.try_emplace(codes, used);
    if (added) {
      for (const int code : codes) sets += format("{}, ", code);
      used += codes.size();
    }
    rows += format("    {{0x{:X}, 0x{:X}, {}, {}}},\n", static_cast<unsigned>(first), static_cast<unsigned>(last),
                   entry->second, codes.size());
  };
  UChar32 first = 0;
  auto current = scripts_of(0);
  for (UChar32 point = 1; point <= kLastPoint; ++point) {
    auto codes = is_assigned(point) ? scripts_of(point) : std::vector<int>{};
    if (codes == current) continue;
    add_row(first, point - 1, current);
    first = point;
    current = std::move(codes);
  }
  add_row(first, kLastPoint, current);
  return format(
      "struct ScriptRange {{\n  char32_t first, last;\n  std::uint16_t offset, length;\n}};\n"
      "constexpr ScriptRange kScriptRanges[] = {{\n{}}};\nconstexpr std::uint8_t kScriptSets[] = {{{}}};\n"
      "constexpr std::size_t kScriptCount = 256, kLatin = {}, kJapanese = {}, kKorean = {}, kHanWithBopomofo = {};\n",
      rows, sets, static_cast<int>(USCRIPT_LATIN), static_cast<int>(USCRIPT_JAPANESE), static_cast<int>(USCRIPT_KOREAN),
      static_cast<int>(USCRIPT_HAN_WITH_BOPOMOFO));
}

bool is_invisible(UChar32 point) {
  return u_hasBinaryProperty(point, UCHAR_DEFAULT_IGNORABLE_CODE_POINT) != 0 ||
         u_hasBinaryProperty(point, UCHAR_BIDI_CONTROL) != 0 || (point >= 0xFFF9 && point <= 0xFFFB);
}

std::string invisible() {
  std::string rows;
  for (UChar32 point = 0; point <= kLastPoint; ++point) {
    if (!is_invisible(point)) continue;
    const auto first = point;
    while (point < kLastPoint && is_invisible(point + 1)) ++point;
    rows += format("    {{0x{:X}, 0x{:X}}},\n", static_cast<unsigned>(first), static_cast<unsigned>(point));
  }
  return format(
      "struct PointRange {{\n  char32_t first, last;\n}};\nconstexpr PointRange kInvisibleRanges[] = {{\n{}}};\n",
      rows);
}

}  // namespace

int main(int count, char** arguments) {
  const auto skeletons = prototypes();
  if (count != 2 || skeletons.empty()) {
    std::fputs("usage: unicode_tables FILE (needs ICU's data of confusables)\n", stderr);
    return 1;
  }
  std::ofstream{arguments[1]} << "// Written by unicode_tables from ICU " U_ICU_VERSION ", Unicode " U_UNICODE_VERSION
                                 ".\n#pragma once\n#include <cstddef>\n#include <cstdint>\n#include <string_view>\n"
                                 "namespace relay::text {\nnamespace {\n"
                              << skeletons << scripts() << invisible() << "}\n}\n";
  return 0;
}
