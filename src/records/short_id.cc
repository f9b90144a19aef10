#include "records/short_id.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace relay::records {
namespace {

constexpr std::string_view kAlphabet = "0123456789abcdefghjkmnpqrstvwxyz";  // without i, l, o and u
constexpr unsigned kBitsPerCharacter = 5;
constexpr unsigned kIdBits = kBitsPerCharacter * kShortIdLength;
constexpr std::uint64_t kIdMask = (std::uint64_t{1} << kIdBits) - 1;
constexpr std::string_view kDeliveryPrefix = "d-";

// Odd factors are invertible modulo 2^40. They are part of the stored format: changing one renames every message.
constexpr std::uint64_t kFactor1 = 0x9E3779B97F4A7C15 & kIdMask;
constexpr std::uint64_t kFactor2 = 0xD6E8FEB86659FD93 & kIdMask;

constexpr std::uint64_t inverse_of(std::uint64_t odd) {
  std::uint64_t inverse = odd;  // right in the lowest 3 bits; each step doubles that
  for (int i = 0; i < 5; ++i) inverse *= 2 - odd * inverse;
  return inverse & kIdMask;
}
static_assert(((kFactor1 * inverse_of(kFactor1)) & kIdMask) == 1);
static_assert(((kFactor2 * inverse_of(kFactor2)) & kIdMask) == 1);

/// Folding the upper half onto the lower is its own inverse.
constexpr std::uint64_t fold(std::uint64_t bits) { return bits ^ (bits >> (kIdBits / 2)); }

constexpr std::uint64_t scatter(std::uint64_t bits) {
  bits = fold((bits * kFactor1) & kIdMask);
  return fold((bits * kFactor2) & kIdMask);
}

constexpr std::uint64_t gather(std::uint64_t bits) {
  bits = (fold(bits) * inverse_of(kFactor2)) & kIdMask;
  return (fold(bits) * inverse_of(kFactor1)) & kIdMask;
}
static_assert(gather(scatter(1)) == 1 && gather(scatter(kIdMask)) == kIdMask);

constexpr std::uint8_t kNotADigit = 0xFF;

/// 0 to 31 for each character, in a table because every acknowledgement is read through it. Characters that users
/// confuse are read as the one they resemble.
constexpr std::array<std::uint8_t, 256> digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNotADigit);
  for (std::size_t i = 0; i < 256; ++i) {
    char character = static_cast<char>(i);
    if (character >= 'A' && character <= 'Z') character = static_cast<char>(character - 'A' + 'a');
    if (character == 'o') character = '0';
    if (character == 'i' || character == 'l') character = '1';
    const std::size_t at = kAlphabet.find(character);
    if (at != std::string_view::npos) values[i] = static_cast<std::uint8_t>(at);
  }
  return values;
}
constexpr auto kValues = digit_values();

std::optional<std::uint64_t> value_of(char character) {
  const std::uint8_t value = kValues[static_cast<unsigned char>(character)];
  if (value == kNotADigit) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> value_of(std::string_view characters) {
  std::uint64_t value = 0;
  for (const char character : characters) {
    const auto digit = value_of(character);
    if (!digit) return std::nullopt;
    value = (value << kBitsPerCharacter) | *digit;
  }
  return value;
}

/// A key has 63 bits; those above 40 need at most this many characters after the eight.
constexpr std::size_t kMaxExtraLength = 5;

Key make_key(std::uint64_t high, std::uint64_t low) { return Key{static_cast<std::int64_t>((high << kIdBits) | low)}; }

}  // namespace

std::string short_id(Key key) {
  const auto bits = static_cast<std::uint64_t>(key.value());
  std::uint64_t scattered = scatter(bits & kIdMask);
  std::string id(kShortIdLength, '0');
  for (auto character = id.rbegin(); character != id.rend(); ++character, scattered >>= kBitsPerCharacter)
    *character = kAlphabet[scattered & 31];
  if (bits >> kIdBits == 0) return id;
  std::string extra;
  for (std::uint64_t high = bits >> kIdBits; high != 0; high >>= kBitsPerCharacter) extra += kAlphabet[high & 31];
  id.append(extra.rbegin(), extra.rend());
  return id;
}

std::optional<Key> key_of_short_id(std::string_view id) {
  if (id.size() < kShortIdLength || id.size() > kShortIdLength + kMaxExtraLength) return std::nullopt;
  const auto scattered = value_of(id.substr(0, kShortIdLength));
  const auto high = value_of(id.substr(kShortIdLength));
  if (!scattered || !high || *high >= (std::uint64_t{1} << (63 - kIdBits))) return std::nullopt;
  // One key, one id: the extra characters never start with a zero.
  if (id.size() > kShortIdLength && value_of(id[kShortIdLength]) == 0) return std::nullopt;
  return make_key(*high, gather(*scattered));
}

std::vector<Key> keys_matching(std::string_view prefix, KeyRange range, std::size_t max_keys) {
  std::vector<Key> keys;
  range.oldest = std::max(range.oldest, Key{1});
  if (prefix.size() < kMinPrefixLength || range.newest < range.oldest || max_keys == 0) return keys;
  const auto within = [&](Key key) { return range.oldest <= key && key <= range.newest; };
  if (prefix.size() > kShortIdLength) {
    if (const auto key = key_of_short_id(prefix); key && within(*key)) keys.push_back(*key);
    return keys;
  }
  const auto wanted = value_of(prefix);
  if (!wanted) return keys;
  const unsigned free_bits = kBitsPerCharacter * static_cast<unsigned>(kShortIdLength - prefix.size());
  const auto first = static_cast<std::uint64_t>(range.oldest.value());
  const auto last = static_cast<std::uint64_t>(range.newest.value());
  const std::uint64_t candidates = std::uint64_t{1} << free_bits;
  if (last - first < candidates) {  // a young workspace: fewer keys than ids with the prefix
    for (std::uint64_t key = first; key <= last && keys.size() < max_keys; ++key) {
      if (scatter(key & kIdMask) >> free_bits == *wanted) keys.push_back(make_key(key >> kIdBits, key & kIdMask));
    }
    return keys;
  }
  // Each round covers 2^40 keys and, but for the first and the last, finds at least one, so `max_keys` bounds the
  // rounds.
  for (std::uint64_t high = first >> kIdBits; high <= last >> kIdBits && keys.size() < max_keys; ++high) {
    const auto round = static_cast<std::ptrdiff_t>(keys.size());
    for (std::uint64_t tail = 0; tail < candidates; ++tail) {
      const Key key = make_key(high, gather((*wanted << free_bits) | tail));
      if (within(key)) keys.push_back(key);
    }
    std::sort(keys.begin() + round, keys.end());
  }
  if (keys.size() > max_keys) keys.resize(max_keys);
  return keys;
}

std::string delivery_id(Key key) { return std::string{kDeliveryPrefix} + short_id(key); }

std::optional<Key> key_of_delivery_id(std::string_view id) {
  if (!id.starts_with(kDeliveryPrefix)) return std::nullopt;
  return key_of_short_id(id.substr(kDeliveryPrefix.size()));
}

}  // namespace relay::records
