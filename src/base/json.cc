#include "base/json.h"

#include <boost/json/parse.hpp>
#include <cmath>

#include "base/format.h"

namespace relay {
namespace {

constexpr std::size_t kMaxDepth = 64;

std::string_view kind_name(const json::value& value) {
  switch (value.kind()) {
    case json::kind::null: return "null";
    case json::kind::bool_: return "a boolean";
    case json::kind::int64:
    case json::kind::uint64:
    case json::kind::double_: return "a number";
    case json::kind::string: return "a string";
    case json::kind::array: return "an array";
    case json::kind::object: return "an object";
  }
  return "unknown";
}

const json::value* member(const json::object& object, std::string_view name) {
  return object.if_contains(json::string_view{name.data(), name.size()});
}

}  // namespace

Result<json::value> parse_json(std::string_view text) {
  json::parse_options options;
  options.max_depth = kMaxDepth;
  json::error_code code;
  auto value = json::parse(json::string_view{text.data(), text.size()}, code, {}, options);
  if (code) return fail(format("this is not valid JSON: {}", code.message()));
  return value;
}

Result<json::object> parse_json_object(std::string_view text) {
  auto value = RELAY_TRY(parse_json(text));
  if (!value.is_object()) return fail(format("expected a JSON object, got {}", kind_name(value)));
  return std::move(value.get_object());
}

std::optional<std::string> string_member(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_string()) return std::nullopt;
  return std::string{value->get_string().data(), value->get_string().size()};
}

std::optional<std::int64_t> integer_member(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr) return std::nullopt;
  if (value->is_int64()) return value->get_int64();
  if (value->is_double()) {
    // JavaScript writes 1e3 and 5.0 for integers; 2^53 is where doubles stop being exact.
    const double number = value->get_double();
    if (std::trunc(number) == number && std::abs(number) <= 9007199254740992.0)
      return static_cast<std::int64_t>(number);
  }
  return std::nullopt;
}

std::optional<double> number_member(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_number()) return std::nullopt;
  return value->to_number<double>();
}

std::optional<bool> bool_member(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  if (value == nullptr || !value->is_bool()) return std::nullopt;
  return value->get_bool();
}

const json::object* object_member(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  return value == nullptr ? nullptr : value->if_object();
}

const json::array* array_member(const json::object& object, std::string_view name) {
  const auto* value = member(object, name);
  return value == nullptr ? nullptr : value->if_array();
}

}  // namespace relay
