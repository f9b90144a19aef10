#include "schema/types.h"

#include <cmath>

#include "base/format.h"

namespace relay::schema::detail {

Failure invalid(const Path& path, std::string_view must_be) { return fail(format("\"{}\" must be {}", path, must_be)); }

Result<std::string> read_string(const json::value& from, const Bounds& bounds, const Path& path) {
  const auto* text = from.if_string();
  if (text == nullptr) return invalid(path, "a string");
  const auto size = static_cast<std::int64_t>(text->size());
  const auto limit = std::min(bounds.max, kMaxTextBytes);
  if (size > limit) return invalid(path, format("at most {} bytes long", limit));
  if (size < bounds.min)
    return bounds.min == 1 ? fail(format("\"{}\" must not be empty", path))
                           : invalid(path, format("at least {} bytes long", bounds.min));
  return std::string{*text};
}

Result<std::int64_t> read_integer(const json::value& from, const Bounds& bounds, const Path& path) {
  std::int64_t number = 0;
  constexpr double kExact = 9007199254740992.0;  // 2^53: beyond it a double is no exact integer
  if (const auto* whole = from.if_int64()) {
    number = *whole;
  } else if (const auto* real = from.if_double();
             real != nullptr && std::trunc(*real) == *real && std::abs(*real) <= kExact) {
    number = static_cast<std::int64_t>(*real);
  } else {
    return invalid(path, "a whole number");
  }
  if (number < bounds.min) return invalid(path, format("at least {}", bounds.min));
  if (number > bounds.max) return invalid(path, format("at most {}", bounds.max));
  return number;
}

Result<double> read_number(const json::value& from, const Path& path) {
  if (const auto* whole = from.if_int64()) return static_cast<double>(*whole);
  if (const auto* whole = from.if_uint64()) return static_cast<double>(*whole);
  if (const auto* real = from.if_double()) return *real;
  return invalid(path, "a number");
}

Result<bool> read_bool(const json::value& from, const Path& path) {
  if (const auto* flag = from.if_bool()) return *flag;
  return invalid(path, "true or false");
}

Result<const json::array*> read_list(const json::value& from, const Bounds& bounds, const Path& path) {
  const auto* list = from.if_array();
  if (list == nullptr) return invalid(path, "a list");
  const auto limit = std::min(bounds.max, kMaxItems), size = static_cast<std::int64_t>(list->size());
  if (size > limit) return invalid(path, format("a list of at most {}", limit));
  if (size < bounds.min) return invalid(path, format("a list of at least {}", bounds.min));
  return list;
}

Result<const json::object*> read_object(const json::value& from, const Path& path) {
  if (const auto* object = from.if_object()) return object;
  return invalid(path, "an object");
}

Failure invalid_choice(const Path& path, std::span<const std::string_view> names) {
  return invalid(path, format("one of {}", join_names(names)));
}

json::object string_schema(const Bounds& bounds) {
  json::object schema = {{"type", "string"}};
  if (bounds.min > 0) schema["minLength"] = bounds.min;
  if (bounds.max < kMaxTextBytes) schema["maxLength"] = bounds.max;
  return schema;
}

json::object integer_schema(const Bounds& bounds) {
  json::object schema = {{"type", "integer"}};
  if (bounds.min != Bounds{}.min) schema["minimum"] = bounds.min;
  if (bounds.max != Bounds{}.max) schema["maximum"] = bounds.max;
  return schema;
}

json::object array_schema(json::object items, const Bounds& bounds) {
  json::object schema = {{"type", "array"}, {"items", std::move(items)}};
  if (bounds.min > 0) schema["minItems"] = bounds.min;
  if (bounds.max < kMaxItems) schema["maxItems"] = bounds.max;
  return schema;
}

json::object map_schema(json::object values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

json::object nullable_schema(json::object inner) {
  RELAY_ASSERT(inner.contains("type"));  // a reference would need `anyOf`
  inner["type"] = json::array{inner["type"], "null"};
  return inner;
}

json::object enum_schema(std::span<const std::string_view> names) {
  json::array choices;
  for (const auto name : names) choices.emplace_back(name);
  return {{"type", "string"}, {"enum", std::move(choices)}};
}

std::string join_names(std::span<const std::string_view> names) {
  std::string words;
  for (const auto name : names) words += format("{}{}", words.empty() ? "" : ", ", name);
  return words;
}

}  // namespace relay::schema::detail
