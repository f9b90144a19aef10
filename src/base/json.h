/// JSON outside the hot path: Boost.JSON with this project's limits.
///
/// The hot path (frames, SEND, ACK, DELIVER) uses text/json_scanner.h.
#pragma once

#include <boost/json/array.hpp>
#include <boost/json/object.hpp>
#include <boost/json/serialize.hpp>
#include <boost/json/value.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace relay {

namespace json = boost::json;

/// Strict JSON, UTF-8 checked, at most 64 levels deep. The error gives the position and the reason.
Result<json::value> parse_json(std::string_view text);

/// The same, and the outermost value must be an object.
Result<json::object> parse_json_object(std::string_view text);

/// A member by name if it is there and of that kind; otherwise empty. Never throws.
std::optional<std::string> string_member(const json::object& object, std::string_view name);
std::optional<std::int64_t> integer_member(const json::object& object, std::string_view name);
std::optional<double> number_member(const json::object& object, std::string_view name);
std::optional<bool> bool_member(const json::object& object, std::string_view name);
const json::object* object_member(const json::object& object, std::string_view name);
const json::array* array_member(const json::object& object, std::string_view name);

}  // namespace relay
