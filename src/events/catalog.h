/// The list of events for others: JSON Schema for OpenAPI, and the page docs/spec/events.md.
#pragma once

#include <string>

#include "events/event.h"

namespace relay::events {

/// A reference to `AgentEvent`: any event as it is told, told apart by `type`.
json::object events_json_schema(schema::Components& components);

/// The part of the page that lists all events and what is in them.
std::string events_markdown();

}  // namespace relay::events
