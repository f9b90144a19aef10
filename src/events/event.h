/// Everything that can happen, typed, and its one definition: the tables beside the structs.
///
///     session_events.h   who comes and goes            prompt_events.h    what agents ask a person
///     work_events.h      what an agent does            relay_events.h     what passes between agents
///     delivery_events.h  a message on its way
///
/// An event as it is told is one flat object: `type`, `sessionId`, the members of its table, and the envelope
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

/// Who may say that it happened.
enum class EventOrigin : std::uint8_t {
  Relay,    // the daemon alone
  Session,  // an agent's session, of itself
};

struct EventType {
  std::string_view type;
  EventOrigin source;
  schema::Object object;
};

/// All of them, in the order of the specification.
std::span<const EventType> event_types();
const EventType* find_event_type(std::string_view type);
/// Is it a type, or a group of them: `item.started`, `item`? The error is a sentence that names the groups.
Result<void> check_type(std::string_view wanted);

std::string_view type_of(const Event& event);
/// The members of its table, as an object.
json::object members_of(const Event& event);

/// Checked against the table of that type; what is not in the table is passed over.
Result<Event> read_event(std::string_view type, const json::object& members);

}  // namespace relay::events
