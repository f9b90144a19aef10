/// A position in JSON text that only moves over well-formed JSON. The implementation of json_scanner; use that instead.
///
/// Invariants: never reads outside the text; never recurses (the open levels are bits of one word), so no input can
///   exhaust the stack; after a `false` the failure is set and the position is meaningless.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "text/json_errors.h"
#include "text/json_scanner.h"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace relay::text {

class JsonCursor {
 public:
  /// `depth_used` levels already surround the text.
  JsonCursor(std::string_view text, std::size_t depth_used)
      : begin_{text.data()}, at_{text.data()}, end_{text.data() + text.size()}, depth_{depth_used} {}

  void skip_space() {
    // Most frames contain no white space, so one comparison is usually enough.
    if (at_ == end_ || static_cast<unsigned char>(*at_) > ' ') return;
    const char* at = at_;
    while (at != end_ && is_space(*at)) ++at;
    at_ = at;
  }
  [[nodiscard]] bool at_end() const { return at_ == end_; }
  [[nodiscard]] bool at(char c) const { return at_ != end_ && *at_ == c; }
  [[nodiscard]] const char* position() const { return at_; }
  [[nodiscard]] std::string_view since(const char* start) const {
    return {start, static_cast<std::size_t>(at_ - start)};
  }

  /// Moves over `c` if it is the next character.
  bool take(char c) {
    if (!at(c)) return false;
    ++at_;
    return true;
  }

  /// Enters one level; false when that is too deep.
  bool enter();
  void leave() { --depth_; }

  /// Clears `plain`, when given, if the string has escapes.
  bool skip_string(bool* plain = nullptr);
  bool skip_value(JsonKind& kind);

  bool fail_here(const char* reason) { return fail(JsonErrc::BadJson, reason); }
  [[nodiscard]] Failure failure() const;

 private:
  static bool is_space(char c) { return c == ' ' || c == '\n' || c == '\r' || c == '\t'; }
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }

  bool fail(JsonErrc code, const char* reason);
  bool skip_scalar(JsonKind& kind);
  bool skip_containers();
  bool skip_number();
  bool skip_fraction();
  bool skip_digits();
  bool skip_literal(std::string_view literal, JsonKind kind, JsonKind& found);
  bool skip_rest_of_string();
  bool skip_escape();
  bool read_code_unit(std::uint32_t& unit);

  const char* begin_;
  const char* at_;
  const char* end_;
  std::size_t depth_;
  JsonErrc code_ = JsonErrc::BadJson;
  const char* reason_ = "";
};

// Inline, because every byte of every frame passes through here. Loops walk on a local pointer: a char pointer may
// alias the cursor itself, so walking on the member would store and reload it at every byte.

/// The first byte that ends a run of plain string text: a quote, a backslash or a control character.
inline const char* end_of_plain_text(const char* at, const char* end) {
#if defined(__SSE2__)
  while (end - at >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at));
    // An unsigned byte is a control character when the smaller of it and 0x1F is itself.
    const __m128i control = _mm_cmpeq_epi8(_mm_min_epu8(bytes, _mm_set1_epi8(0x1F)), bytes);
    const __m128i special = _mm_or_si128(
        control, _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')), _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'))));
    const auto mask = static_cast<unsigned>(_mm_movemask_epi8(special));
    if (mask != 0) return at + __builtin_ctz(mask);
    at += 16;
  }
#endif
  while (at != end && *at != '"' && *at != '\\' && static_cast<unsigned char>(*at) >= 0x20) ++at;
  return at;
}

inline bool JsonCursor::skip_string(bool* plain) {
  const char* at = at_;
  if (at == end_ || *at != '"') return fail_here("expected a quote");
  at = end_of_plain_text(at + 1, end_);
  if (at != end_ && *at == '"') [[likely]] {
    at_ = at + 1;
    return true;
  }
  at_ = at;
  if (plain != nullptr) *plain = false;
  return skip_rest_of_string();
}

inline bool JsonCursor::skip_digits() {
  const char* at = at_;
  while (at != end_ && is_digit(*at)) ++at;
  const bool some = at != at_;
  at_ = at;
  return some;
}

inline bool JsonCursor::skip_number() {
  take('-');
  // A zero has no digits after it: "01" would be octal to some readers.
  if (!take('0') && !skip_digits()) return fail_here("expected a value");
  return at_ == end_ || (*at_ != '.' && *at_ != 'e' && *at_ != 'E') || skip_fraction();
}

inline bool JsonCursor::skip_scalar(JsonKind& kind) {
  if (at_ == end_) return fail_here("expected a value, found the end");
  switch (*at_) {
    case '"': kind = JsonKind::String; return skip_string();
    case 't': return skip_literal("true", JsonKind::Bool, kind);
    case 'f': return skip_literal("false", JsonKind::Bool, kind);
    case 'n': return skip_literal("null", JsonKind::Null, kind);
    default: kind = JsonKind::Number; return skip_number();
  }
}

inline bool JsonCursor::skip_value(JsonKind& kind) {
  if (!at('{') && !at('[')) return skip_scalar(kind);
  kind = *at_ == '{' ? JsonKind::Object : JsonKind::Array;
  return skip_containers();
}

}  // namespace relay::text
