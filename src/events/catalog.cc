#include "events/catalog.h"

#include <set>

#include "base/format.h"

namespace relay::events {
namespace {

/// `delivery.in_doubt` → `DeliveryInDoubtEvent`.
std::string schema_name(std::string_view type) {
  std::string name;
  bool upper = true;
  for (const char letter : type) {
    if (letter == '.' || letter == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(letter - 'a' + 'A') : letter;
    upper = false;
  }
  return name + "Event";
}

json::object described(std::string_view type, const char* about) { return {{"type", type}, {"description", about}}; }

json::object describe_one(const EventType& kind, schema::Components& components) {
  auto schema = schema::json_schema(kind.object, components);
  json::object properties = {{"type", {{"type", "string"}, {"const", kind.type}}},
                             {"sessionId", described("string", "which session it concerns; may be empty")}};
  for (auto& [name, value] : schema["properties"].as_object()) properties[name] = std::move(value);
  properties["_seq"] = described("integer", "its number in the workspace: one more than the last, without gaps");
  properties["_ts"] = described("integer", "when it was stored, in Unix milliseconds; never less than the last");
  properties["_sessionId"] = described("string", "the session that produced it; may be empty");
  properties["_agentName"] = described("string", "the agent that produced it; may be empty");
  json::array required = {"type", "sessionId"};
  if (const auto* names = schema["required"].if_array())
    for (const auto& name : *names) required.push_back(name);
  for (const auto* name : {"_seq", "_ts", "_sessionId", "_agentName"}) required.emplace_back(name);
  schema["properties"] = std::move(properties);
  schema["required"] = std::move(required);
  return schema;
}

}  // namespace

json::object events_json_schema(schema::Components& components) {
  json::array any;
  json::object mapping;
  for (const auto& kind : event_types()) {
    auto reference = components.refer_to(schema_name(kind.type), describe_one(kind, components));
    mapping[kind.type] = reference["$ref"];
    any.push_back(std::move(reference));
  }
  return components.refer_to(
      "AgentEvent",
      {{"oneOf", std::move(any)}, {"discriminator", {{"propertyName", "type"}, {"mapping", std::move(mapping)}}}});
}

std::string events_markdown() {
  std::string page;
  std::set<std::string_view> told;
  for (const auto& kind : event_types()) {
    if (!told.insert(kind.object.name).second) continue;
    std::string types;
    for (const auto& one : event_types())
      if (one.object.name == kind.object.name) types += format("{}`{}`", types.empty() ? "" : ", ", one.type);
    page += format("### {}\n\n{}\n\n{}\n", types, kind.object.about, schema::markdown_table(kind.object));
  }
  return page;
}

}  // namespace relay::events
