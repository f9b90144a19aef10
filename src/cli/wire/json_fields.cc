#include "cli/wire/json_fields.h"

#include "cli/render/text.h"

namespace relay::cli {

std::string display_field(const json::object& object, std::string_view name) {
  return sanitize(string_member(object, name).value_or(""), Lines::Join);
}

WallMs time_in(const json::object& object, std::string_view name) {
  return static_cast<WallMs>(number_member(object, name).value_or(0));
}

std::vector<const json::object*> objects_in(const json::object& object, std::string_view name) {
  std::vector<const json::object*> found;
  if (const auto* array = array_member(object, name))
    for (const auto& value : *array)
      if (const auto* entry = value.if_object()) found.push_back(entry);
  return found;
}

}  // namespace relay::cli
