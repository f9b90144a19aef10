/// Strict JSON on the hot path: validates everything, copies nothing.
///
/// `scan_object` walks one object and passes each member's key and raw value slice to a visitor; nested values are checked
/// (grammar, depth, escapes, surrogates) but not built. UTF-8 is checked once for the whole frame by the caller
/// (envelope.cc). Keys that contain escapes and duplicate keys are refused at the level that is visited, because two
/// readers could disagree about them. Fuzzed against simdjson: both accept or both reject.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay::text {

enum class JsonKind : std::uint8_t { Null, Bool, Number, String, Array, Object };

struct JsonSlice {
  JsonKind kind = JsonKind::Null;
  std::string_view raw;  // exactly the bytes of the value, quotes included for strings
};

class MemberVisitor {
 public:
  virtual ~MemberVisitor() = default;
  virtual void member(std::string_view key, JsonSlice value) = 0;
};

class ElementVisitor {
 public:
  virtual ~ElementVisitor() = default;
  virtual void element(JsonSlice value) = 0;
};

/// The whole of `text` must be one object; its members are visited in order. `depth_used` levels already surround it
/// (0 for a frame). Members may be visited before an error is found: after an error the caller discards them.
Result<void> scan_object(std::string_view text, MemberVisitor& visitor, std::size_t depth_used = 0);
/// Only checks `text`: would it still be accepted inside that many levels?
Result<void> check_object(std::string_view text, std::size_t depth_used);

/// The same for one array and its elements.
Result<void> scan_array(std::string_view text, ElementVisitor& visitor, std::size_t depth_used = 0);

/// The text of a raw string slice (as passed to the visitor, with its quotes), escapes resolved.
std::string decode_string(std::string_view raw);

/// The same into `out`, which has room for raw.size() bytes; returns how many were written.
std::size_t decode_string_into(char* out, std::string_view raw);

/// True when the raw string slice has no escapes, so that its text is `raw` without the quotes.
bool is_plain_string(std::string_view raw);

/// A whole number in any notation (5, 5.0, 5e0); empty when it is not one or does not fit.
std::optional<std::int64_t> decode_integer(std::string_view raw);

/// Any number; empty when it does not fit a double.
std::optional<double> decode_number(std::string_view raw);

}  // namespace relay::text
