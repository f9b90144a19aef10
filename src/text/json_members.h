/// Visits the members of one object with a function that the compiler can inline. The implementation of json_scanner,
/// for the few readers that run once per frame; all others use scan_object.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "text/json_cursor.h"
#include "text/json_scanner.h"

namespace relay::text::detail {

/// The keys of one object, to find duplicates.
///
/// Most objects have a handful of members, so a short array and a one-word filter settle nearly all of them. An object
/// with thousands of keys must not cost their square, so the other keys are sorted once at the end.
class SeenKeys {
 public:
  /// False when the key is a known duplicate.
  bool add(std::string_view key) {
    if (count_ == kFew) {
      if (many_.empty()) {
        for (const Entry& entry : few_) many_.emplace_back(entry.text, entry.size);
      }
      many_.push_back(key);
      return true;
    }
    const std::uint64_t bit = std::uint64_t{1} << fingerprint(key);
    if ((filter_ & bit) != 0 && is_among_few(key)) return false;
    filter_ |= bit;
    few_[count_++] = {key.data(), key.size()};
    return true;
  }

  /// A duplicate among the other keys; empty when there is none.
  std::optional<std::string_view> repeated() {
    std::sort(many_.begin(), many_.end());
    const auto twice = std::adjacent_find(many_.begin(), many_.end());
    if (twice == many_.end()) return std::nullopt;
    return *twice;
  }

 private:
  static constexpr std::size_t kFew = 16;
  struct Entry {
    const char* text;
    std::size_t size;
  };

  static unsigned fingerprint(std::string_view key) {
    if (key.empty()) return 0;
    const auto first = static_cast<unsigned char>(key.front());
    const auto last = static_cast<unsigned char>(key.back());
    return (static_cast<unsigned>(key.size()) * 37 + first * 11u + last) % 64;
  }

  [[nodiscard]] bool is_among_few(std::string_view key) const {
    return std::any_of(few_, few_ + count_,
                       [key](Entry entry) { return std::string_view{entry.text, entry.size} == key; });
  }

  Entry few_[kFew];  // left unset on purpose: clearing it would cost more than most objects do
  std::size_t count_ = 0;
  std::uint64_t filter_ = 0;
  std::vector<std::string_view> many_;
};

Failure repeated_key(std::string_view key);

/// Fails unless only white space follows the outermost value.
Result<void> finish(JsonCursor& cursor);

/// The error for text that does not start with the expected container: either other JSON or no JSON at all.
Result<void> wrong_value(JsonCursor& cursor, JsonErrc code, const char* expected);

/// `visit(std::string_view key, JsonKind kind, std::string_view raw)` for each member, in order.
template <class Visit>
Result<void> for_each_member(std::string_view text, std::size_t depth_used, Visit&& visit) {
  JsonCursor cursor{text, depth_used};
  cursor.skip_space();
  if (!cursor.at('{'))
    return wrong_value(cursor, JsonErrc::NotAnObject, "expected a JSON object, found another JSON value");
  if (!cursor.enter()) return cursor.failure();
  cursor.take('{');
  cursor.skip_space();
  if (cursor.take('}')) return finish(cursor);

  SeenKeys keys;
  while (true) {
    const char* const key_start = cursor.position();
    bool plain = true;
    if (!cursor.skip_string(&plain)) return cursor.failure();
    const std::string_view raw_key = cursor.since(key_start);
    const std::string_view key = raw_key.substr(1, raw_key.size() - 2);
    if (!plain) return fail(JsonErrc::BadJson, "a key of this object contains an escape; write it plainly");
    if (!keys.add(key)) return repeated_key(key);
    cursor.skip_space();
    if (!cursor.take(':')) {
      cursor.fail_here("expected a colon after a key");
      return cursor.failure();
    }
    cursor.skip_space();
    const char* const value_start = cursor.position();
    JsonKind kind{};
    if (!cursor.skip_value(kind)) return cursor.failure();
    visit(key, kind, cursor.since(value_start));
    cursor.skip_space();
    if (cursor.take('}')) break;
    if (!cursor.take(',')) {
      cursor.fail_here("expected a comma or a closing bracket");
      return cursor.failure();
    }
    cursor.skip_space();
  }
  if (const auto key = keys.repeated()) return repeated_key(*key);
  return finish(cursor);
}

}  // namespace relay::text::detail
