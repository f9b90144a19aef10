/// The list of event types as JSON Schema for OpenAPI and as the page docs/spec/events.md.
#pragma once

#include <string>

#include "events/event.h"

namespace relay::events {

/// A reference to the schema `AgentEvent`: any event, distinguished by `type`.
json::object events_json_schema(schema::Components& components);

/// The part of the page that lists all event types with their members.
std::string events_markdown();

}  // namespace relay::events
