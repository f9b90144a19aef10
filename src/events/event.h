/// Every event type as a struct; the tables beside the structs are their only definition.
///
///     session_events.h   sessions and agents          prompt_events.h    permissions and questions
///     work_events.h      what an agent does           relay_events.h     messages, votes, loops
///     delivery_events.h  deliveries
///
/// In JSON an event is one flat object: `type`, `sessionId`, the members of its table, and the envelope
/// `_seq` (its number in the workspace, without gaps), `_ts`, `_sessionId`, `_agentName`.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "events/delivery_events.h"
#include "events/prompt_events.h"
#include "events/relay_events.h"
#include "events/session_events.h"
#include "events/work_events.h"

namespace relay::events {

using Event = std::variant<SessionStarted, SessionEnded, ItemStarted, ItemDelta, ItemCompleted, PermissionRequested,
                           PermissionResolved, QuestionRequested, QuestionResolved, MessageExchanged, AgentSpawned,
                           AgentReleased, ConsensusProposed, ConsensusResolved, TokensUsed, FileOperation,
                           CommandExecuted, AgentStatus, AgentUnparsed, LoopTripped, RelayDamaged>;

/// Who may report the event.
enum class EventOrigin : std::uint8_t {
  Relay,    // only the daemon
  Session,  // an agent's session, about itself
};

struct EventType {
  std::string_view type;
  EventOrigin source;
  schema::Object object;
};

/// All of them, in the order of the specification.
std::span<const EventType> event_types();
const EventType* find_event_type(std::string_view type);
/// Checks that `wanted` is a type or a group of types: `item.started`, `item`. The error names the groups.
Result<void> check_type(std::string_view wanted);

std::string_view type_of(const Event& event);
/// The members of its table, as an object.
json::object members_of(const Event& event);

/// Checked against the table of that type; members that the table does not name are ignored.
Result<Event> read_event(std::string_view type, const json::object& members);

}  // namespace relay::events
