#include "events/catalog.h"

#include <set>

#include "base/format.h"

namespace relay::events {
namespace {

/// `delivery.in_doubt` → `DeliveryInDoubtEvent`.
std::string schema_name(std::string_view type) {
  std::string name;
  bool upper = true;
  for (const char c : type) {
    if (c == '.' || c == '_') {
      upper = true;
      continue;
    }
    name += upper ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return name + "Event";
}

json::object described(std::string_view type, const char* about) { return {{"type", type}, {"description", about}}; }

json::object event_schema(const EventType& event_type, schema::Components& components) {
  auto schema = schema::json_schema(event_type.object, components);
  json::object properties = {{"type", {{"type", "string"}, {"const", event_type.type}}},
                             {"sessionId", described("string", "the session it concerns; may be empty")}};
  for (auto& [name, value] : schema["properties"].as_object()) properties[name] = std::move(value);
  properties["_seq"] = described("integer", "its number in the workspace: one more than that of the previous event");
  properties["_ts"] =
      described("integer", "when it was stored, in Unix milliseconds; never less than that of the previous event");
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
  for (const auto& event_type : event_types()) {
    auto reference = components.refer_to(schema_name(event_type.type), event_schema(event_type, components));
    mapping[event_type.type] = reference["$ref"];
    any.push_back(std::move(reference));
  }
  return components.refer_to(
      "AgentEvent",
      {{"oneOf", std::move(any)}, {"discriminator", {{"propertyName", "type"}, {"mapping", std::move(mapping)}}}});
}

std::string events_markdown() {
  std::string page;
  std::set<std::string_view> written;
  for (const auto& event_type : event_types()) {
    if (!written.insert(event_type.object.name).second) continue;
    std::string types;
    for (const auto& one : event_types())
      if (one.object.name == event_type.object.name) types += format("{}`{}`", types.empty() ? "" : ", ", one.type);
    page +=
        format("### {}\n\n{}\n\n{}\n", types, event_type.object.description, schema::markdown_table(event_type.object));
  }
  return page;
}

}  // namespace relay::events
