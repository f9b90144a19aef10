#include "broker/vocabulary.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace relay::broker {

namespace {

constexpr bool is_alphanumeric(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}
constexpr std::array<bool, 256> kPlain = [] {
  std::array<bool, 256> plain{};
  for (unsigned c = 0; c < 256; ++c) plain[c] = is_alphanumeric(static_cast<unsigned char>(c));
  return plain;
}();

// Words are read eight bytes at a time: single bytes would cost three times as much.
using Eight = std::uint64_t;
constexpr Eight kOnes = 0x0101010101010101ULL;
constexpr Eight kHighs = 0x8080808080808080ULL;

/// Padded with zeros after the end.
Eight eight_at(std::string_view text, std::size_t i) {
  Eight bytes = 0;
  if (i + sizeof bytes <= text.size()) {
    std::memcpy(&bytes, text.data() + i, sizeof bytes);
  } else {
    for (std::size_t at = text.size(); at > i; --at) bytes = (bytes << 8U) | static_cast<unsigned char>(text[at - 1]);
  }
  return bytes;
}

/// The high bit of each byte that is white space, a zero, a backslash or not ASCII; bits after the first one may be
/// wrong.
constexpr Eight stops_in(Eight bytes) {
  const Eight low = ((bytes | kHighs) - kOnes * 0x21) ^ kHighs;  // below 0x21
  const Eight other = (bytes ^ (kOnes * '\\'));
  const Eight backslash = (other - kOnes) & ~other;
  return (bytes | low | backslash) & kHighs;
}

constexpr bool has_digit(Eight bytes) {
  const Eight above = (bytes & ~kHighs) + kOnes * (0x80 - '0');
  const Eight beyond = (bytes & ~kHighs) + kOnes * (0x80 - '9' - 1);
  return (above & ~beyond & kHighs) != 0;
}

constexpr std::uint64_t kSeed = 0x9E3779B97F4A7C15ULL;

constexpr std::uint64_t mixed(std::uint64_t value) {
  value = (value ^ (value >> 29)) * 0xBF58476D1CE4E5B9ULL;
  return value ^ (value >> 32);
}

constexpr bool is_separator(char32_t c) {
  return c == 0xA0 || (c >= 0x2000 && c < 0x2C00) || (c >= 0x3000 && c < 0x3040) || (c >= 0xD800 && c < 0xE000) ||
         (c >= 0xFE00 && c < 0xFE10) || c >= 0x1F000;
}

/// Scripts without spaces: each character is a word.
constexpr bool is_single_character_word(char32_t c) { return c >= 0x2E80 && c < 0xD800; }

/// A code point and its number of bytes.
struct Decoded {
  char32_t code_point = 0;
  std::size_t bytes = 1;
};

/// An invalid byte counts as one character, which is harmless here.
Decoded decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned lead = byte(0);
  const std::size_t bytes = lead >= 0xF0 ? 4 : lead >= 0xE0 ? 3 : lead >= 0xC0 ? 2 : 1;
  if (bytes == 1 || text.size() < bytes) return {lead, 1};
  char32_t code_point = lead & (0xFFU >> (bytes + 1));
  for (std::size_t i = 1; i < bytes; ++i) code_point = (code_point << 6U) | (byte(i) & 0x3FU);
  return {code_point, bytes};
}

/// `\n`, `\"` and similar escapes are separators; `\u00fc` is a character.
Decoded unescape(std::string_view text) {
  if (text.size() < 6 || text[1] != 'u') return {U'\u2028', text.size() < 2 ? 1U : 2U};
  char32_t code_point = 0;
  for (const char c : text.substr(2, 4)) {
    const auto digit = static_cast<unsigned char>(c);
    code_point = (code_point << 4U) | ((digit <= '9' ? digit - '0' : (digit | 0x20U) - 'a' + 10U) & 0xFU);
  }
  return {code_point, 6};
}

/// An identifier or path: `broker/loop_breaker.cc`, `read_frame`, `Loops::open`.
bool is_name(std::string_view word) { return word.find_first_of("_./:@") != std::string_view::npos; }

/// The word that is being read.
struct Word {
  std::uint64_t hash = 0;
  std::size_t length = 0;  // in characters
  bool number = false;
  std::string_view ascii = {};  // its last part in ASCII

  /// ASCII without white space: `text` from `begin` to `end`.
  void add(std::string_view text, std::size_t begin, std::size_t end) {
    const auto plain = [&](std::size_t i) { return kPlain[static_cast<unsigned char>(text[i])]; };
    while (begin < end && !plain(end - 1)) --end;
    while (begin < end && !plain(begin)) ++begin;
    length += end - begin;
    ascii = text.substr(begin, end - begin);
    for (; begin < end; begin += sizeof(Eight)) {
      Eight bytes = eight_at(text, begin);
      if (end - begin < sizeof bytes) bytes &= (Eight{1} << 8 * (end - begin)) - 1;
      number |= has_digit(bytes);
      hash = (std::rotl(hash, 5) ^ (bytes | kOnes * 0x20)) * kSeed;
    }
  }
  void add(char32_t code_point) {
    hash = (std::rotl(hash, 5) ^ code_point) * kSeed;
    ++length;
  }
};

}  // namespace

TextNovelty Vocabulary::read(std::string_view body) {
  body = body.substr(0, kReadBytes);
  TextNovelty novelty{.fingerprint = kSeed};
  Word word;
  const auto finish = [&] {
    if (word.length == 0) return;
    const std::uint64_t hash = mixed(word.hash);
    novelty.fingerprint = (novelty.fingerprint ^ hash) * kSeed;
    if ((word.number || word.length >= kLongWord) && add(hash)) {
      ++(word.number ? novelty.new_numbers : is_name(word.ascii) ? novelty.new_names : novelty.new_words);
    }
    word = {};
  };
  for (std::size_t i = 0; i < body.size();) {
    const std::size_t begin = i;
    Eight stops = 0;
    while (i < body.size() && (stops = stops_in(eight_at(body, i))) == 0) i += sizeof(Eight);
    i = std::min(body.size(), i + (stops == 0 ? 0 : static_cast<std::size_t>(std::countr_zero(stops)) / 8));
    word.add(body, begin, i);
    if (i == body.size()) break;
    const auto stop = static_cast<unsigned char>(body[i]);
    if (stop <= ' ') {
      finish();
      ++i;
      continue;
    }
    const Decoded decoded = stop == '\\' ? unescape(body.substr(i)) : decode(body.substr(i));
    i += decoded.bytes;
    const bool single = is_single_character_word(decoded.code_point);
    if (single || is_separator(decoded.code_point)) finish();
    if (is_separator(decoded.code_point)) continue;
    word.add(decoded.code_point);
    if (!single) continue;
    word.length = kLongWord;
    finish();
  }
  finish();
  return novelty;
}

void Vocabulary::next_turn() {
  if (++turns_ > kTurnsEach) clear_oldest();
}

/// Whether the word is new.
bool Vocabulary::add(std::uint64_t word) {
  const std::size_t cells[] = {word % kCells, (word >> 32U) % kCells};
  const std::uint64_t bits[] = {1ULL << (word >> 16U) % 64, 1ULL << (word >> 48U) % 64};
  const auto contains = [&](const Filter& filter) {
    return (filter[cells[0]] & bits[0]) != 0 && (filter[cells[1]] & bits[1]) != 0;
  };
  if (contains(filters_[newest_])) return false;
  const bool repeated = std::ranges::any_of(filters_, contains);
  if (words_ == kWordsEach) clear_oldest();
  filters_[newest_][cells[0]] |= bits[0];
  filters_[newest_][cells[1]] |= bits[1];
  ++words_;
  return !repeated;
}

void Vocabulary::clear_oldest() {
  newest_ = (newest_ + 1) % kFilters;
  filters_[newest_] = {};
  words_ = 0;
  turns_ = 1;
}

}  // namespace relay::broker
