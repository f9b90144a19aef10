/// Reads payloads: the caller names the members, then reads the value of each. Internal to protocol/.
///
/// A member that is absent or null reads as its default. One of the wrong kind or beyond its limit is a BadField error
/// that names it. Unknown members are ignored, so that newer clients work with older daemons.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "protocol/delivery_mode.h"
#include "text/json_scanner.h"

namespace relay::protocol {

/// One member as found; Null when it is absent.
struct Field {
  std::string_view name;
  text::JsonSlice value = {};

  explicit Field(std::string_view wanted) : name{wanted} {}
  [[nodiscard]] bool present() const { return value.kind != text::JsonKind::Null; }
};

/// Fills in the fields that occur in `object`.
Result<void> read_fields(std::string_view object, std::initializer_list<Field*> fields);

/// Checks that a payload which is forwarded in another frame leaves room for that frame's envelope.
Result<void> check_forwardable(std::string_view payload);

/// A string; empty when absent, refused when longer than `max_bytes`.
Result<std::string> read_string(const Field& field, std::size_t max_bytes);
/// A string that must be present and not empty.
Result<std::string> read_required_string(const Field& field, std::size_t max_bytes);
/// A string that is only displayed: longer text is cut instead of refused.
Result<std::string> read_truncated_string(const Field& field, std::size_t max_bytes);
/// The strings of an array.
Result<std::vector<std::string>> read_strings(const Field& field, std::size_t max_count, std::size_t max_bytes);

/// Names of delivery modes.
Result<DeliveryModes> read_modes(const Field& field);

Result<bool> read_bool(const Field& field, bool when_absent);
Result<std::optional<std::int64_t>> read_integer(const Field& field);
/// A count or a sequence number: whole and not negative; 0 when absent.
Result<std::int64_t> read_count(const Field& field);
/// A time: milliseconds since the epoch, or an ISO 8601 string with a zone; 0 when absent.
Result<WallMs> read_time(const Field& field);
/// The raw object; empty when absent.
Result<std::string_view> read_object(const Field& field);

}  // namespace relay::protocol
