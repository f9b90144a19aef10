#include "schema/object.h"

#include <algorithm>

#include "base/format.h"

namespace relay::schema {

json::object write(const Object& object, const void* value) {
  json::object out;
  out.reserve(object.members.size());
  for (const auto& member : object.members) {
    const void* address = member.in(const_cast<void*>(value));  // read only
    if (!member.type().is_absent(address)) out.emplace(member.name, member.type().write(address));
  }
  return out;
}

Result<void> read(const Object& object, const json::object& from, void* into, UnknownMembers unknown,
                  const Path& path) {
  for (const auto& member : object.members) {
    const auto* found = from.if_contains(member.name);
    if (found != nullptr)
      RELAY_TRY(member.type().read(*found, member.in(into), member.bounds, path + std::string{member.name}));
    else if (!member.type().may_be_absent())
      return fail(format("\"{}{}\" is missing", path, member.name));
  }
  if (unknown == UnknownMembers::Ignore) return {};
  for (const auto& [name, value] : from) {
    const auto known = std::ranges::any_of(object.members, [&](const Member& one) { return one.name == name; });
    if (!known) return fail(format("\"{}{}\" is unknown", path, std::string_view{name}));
  }
  return {};
}

json::object json_schema(const Object& object, Components& components) {
  json::object properties;
  json::array required;
  for (const auto& member : object.members) {
    auto schema = member.type().json_schema(member.bounds, components);
    if (schema.contains("$ref"))  // only a description is allowed beside a reference
      schema = {{"$ref", schema["$ref"]}, {"description", member.description}};
    else
      schema["description"] = member.description;
    properties.emplace(member.name, std::move(schema));
    if (!member.type().may_be_absent()) required.emplace_back(member.name);
  }
  json::object schema = {
      {"type", "object"}, {"description", object.description}, {"properties", std::move(properties)}};
  if (!required.empty()) schema["required"] = std::move(required);
  return schema;
}

std::string markdown_table(const Object& object) {
  std::string page = "| member | type | meaning |\n|---|---|---|\n";
  for (const auto& member : object.members)
    page += format("| `{}`{} | {} | {} |\n", member.name, member.type().may_be_absent() ? "?" : "",
                   member.type().type_name(), member.description);
  return page;
}

json::object Components::refer_to(const Object& object) {
  if (!schemas_.contains(object.name)) {
    schemas_[object.name] = nullptr;  // ends the recursion of an object that contains its own type
    schemas_[object.name] = json_schema(object, *this);
  }
  return {{"$ref", format("#/components/schemas/{}", object.name)}};
}

json::object Components::refer_to(std::string_view name, json::object schema) {
  if (!schemas_.contains(name)) schemas_[name] = std::move(schema);
  return {{"$ref", format("#/components/schemas/{}", name)}};
}

}  // namespace relay::schema
