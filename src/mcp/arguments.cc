#include "mcp/arguments.h"

#include <algorithm>
#include <cmath>

#include "base/format.h"
#include "text/utf8.h"

namespace relay::mcp {
namespace {

constexpr std::size_t kShownBytes = 64;

std::string structured(std::string_view text) { return std::string{text::truncate_utf8(text, kShownBytes)}; }

std::string reservation_lines(const json::array& choices) {
  std::string all;
  for (const auto& choice : choices) all += (all.empty() ? "" : ", ") + std::string{choice.get_string()};
  return all;
}

/// Some clients write every number as a fraction: 30.0 is 30.
json::value without_empty_fraction(const json::value& value) {
  constexpr double kExact = 1LL << 53;
  const auto* number = value.if_double();
  if (number == nullptr || !(std::abs(*number) <= kExact) || std::trunc(*number) != *number) return value;
  return static_cast<std::int64_t>(*number);
}

Result<void> check_member(std::string_view name, const json::value& value, const json::object& schema) {
  const auto type = string_member(schema, "type").value_or("string");
  if (type == "string") {
    if (!value.is_string()) return fail(format("`{}` must be a string", name));
    if (const auto* choices = array_member(schema, "enum");
        choices != nullptr && std::ranges::find(*choices, value) == choices->end())
      return fail(format("`{}` must be one of {}", name, reservation_lines(*choices)));
  } else if (type == "boolean") {
    if (!value.is_bool()) return fail(format("`{}` must be true or false", name));
  } else if (type == "integer") {
    const auto low = integer_member(schema, "minimum").value_or(0),
               high = integer_member(schema, "maximum").value_or(0);
    const auto* number = value.if_int64();
    if (number == nullptr || *number < low || *number > high)
      return fail(format("`{}` must be a whole number from {} to {}", name, low, high));
  } else {
    const auto* list = value.if_array();
    const auto max = static_cast<std::size_t>(integer_member(schema, "maxItems").value_or(0));
    const auto min = static_cast<std::size_t>(integer_member(schema, "minItems").value_or(0));
    if (list == nullptr || list->size() > max || list->size() < min ||
        !std::ranges::all_of(*list, [](const json::value& entry) { return entry.is_string(); }))
      return fail(format("`{}` must be a list of {} to {} strings", name, min, max));
  }
  return {};
}

}  // namespace

Result<Arguments> Arguments::check(const Tool& tool, const json::object& given) {
  const auto properties = RELAY_TRY(parse_json_object(tool.properties));
  const auto required = RELAY_TRY(parse_json(tool.required));
  json::object checked;
  for (const auto& member : given) {
    const std::string_view name = member.key();
    const auto* schema = object_member(properties, name);
    if (schema == nullptr) return fail(format("{} takes no `{}`", tool.name, structured(name)));
    if (member.value().is_null()) continue;
    const auto value = without_empty_fraction(member.value());
    RELAY_TRY(check_member(name, value, *schema));
    checked[name] = value;
  }
  for (const auto& name : required.get_array())
    if (!checked.contains(name.get_string()))
      return fail(format("{} needs `{}`", tool.name, std::string_view{name.get_string()}));
  return Arguments{std::move(checked)};
}

std::string Arguments::text(std::string_view name) const { return string_member(given_, name).value_or(""); }
bool Arguments::flag(std::string_view name) const { return bool_member(given_, name).value_or(false); }
std::int64_t Arguments::number(std::string_view name, std::int64_t default_value) const {
  return integer_member(given_, name).value_or(default_value);
}
std::optional<std::int64_t> Arguments::number(std::string_view name) const { return integer_member(given_, name); }
std::vector<std::string> Arguments::list(std::string_view name) const {
  std::vector<std::string> all;
  if (const auto* array = array_member(given_, name))
    for (const auto& entry : *array) all.emplace_back(entry.get_string());
  return all;
}

}  // namespace relay::mcp
