// What is worth a line in the log and is no change by itself; and what sessions tell of themselves.
#include "base/format.h"
#include "base/json.h"
#include "broker/core.h"
#include "text/json_scanner.h"
#include "text/json_writer.h"

namespace relay::broker {

using events::Event;
using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

constexpr std::size_t kMaxEventBytes = 512 << 10;    // told, it fits a frame with room to spare
constexpr std::size_t kMaxRequestBytes = 224 << 10;  // behind a list of others it still fits a frame
constexpr std::size_t kMaxLevelsAround = 6;          // where it is told
constexpr std::size_t kMaxEventsWaiting = 16 << 10;  // bytes of a connection: what others say waits behind them

/// `<epoch>-<n>`.
struct EventId {
  std::string epoch;
  std::uint64_t number = 0;
};
std::optional<EventId> event_id(std::string_view id) {
  const auto dash = id.rfind('-');
  if (dash == std::string_view::npos || dash == 0) return std::nullopt;
  const auto epoch = id.substr(0, dash);
  const auto number = outbox_number(id, epoch);
  if (!number) return std::nullopt;
  return EventId{std::string{epoch}, *number};
}

}  // namespace

records::AddEvent Core::event_row(const Event& event, const AgentName& agent, const SessionId& session) const {
  return {{std::string{events::type_of(event)}, now_.wall, agent, session, json::serialize(events::members_of(event))}};
}

void Core::record_event(const Event& event, const AgentName& agent, const SessionId& session) {
  save_eventually(event_row(event, agent, session));
}

void Core::record_event(const Event& event, const AgentState& agent) {
  record_event(event, agent.name(), agent.session ? agent.session->id : SessionId{});
}

/// Told in STATUS and HEALTH from now on, and as an event.
void Core::damaged(const StoreDamage& damage) {
  if (info_.damage.find(damage.finding) == std::string::npos)
    info_.damage += (info_.damage.empty() ? "" : "; ") + damage.finding;
  info_.lost_messages += damage.lost_messages;
  info_.refused_changes = std::max(info_.refused_changes, damage.refused_changes);
  damaged_at_work_ = true;
  record_event(events::RelayDamaged{.reason = damage.reason,
                                    .lost_messages = static_cast<std::int64_t>(damage.lost_messages),
                                    .files = damage.files},
               AgentName{}, SessionId{});
}

events::AgentStatus Core::activity_event(const protocol::SessionStateChange& told) {
  return {.state = told.state.empty() ? "online" : told.state,
          .reason = told.reason.empty() ? std::optional<std::string>{} : std::optional{told.reason}};
}

/// With the session itself, so that they are stored together or not at all.
void Core::record_session_start(const AgentState& agent, const protocol::Hello& hello) {
  const auto said = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : std::optional{text};
  };
  const auto& record = agent.record;
  change(event_row(events::SessionStarted{.agent = {.name = agent.name().value(),
                                                    .cli = record.cli,
                                                    .model = said(record.model),
                                                    .version = said(hello.version)},
                                          .started_at = agent.session->started,
                                          .config = {.permission_mode = said(hello.permission_mode),
                                                     .working_directory = said(record.working_directory)}},
                   agent.name(), agent.session->id));
}

records::AddEvent Core::session_end(const AgentState& agent, const Ending& ending) const {
  const auto said = [](const std::string& text) {
    return text.empty() ? std::optional<std::string>{} : std::optional{text};
  };
  return event_row(events::SessionEnded{.ended_at = agent.session->ended,
                                        .reason = ending.how,
                                        .detail = said(ending.detail),
                                        .released_by = said(ending.by)},
                   agent.name(), agent.session->id);
}

void Core::on_agent_event(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  if (agent == nullptr || !agent->session)
    return error(connection, ErrorCode::BadRequest,
                 "events are told by sessions, of themselves: say HELLO with a name");
  const auto id = event_id(envelope.id);
  if (!id)
    return refuse(connection, envelope.id, NackCode::BadRequest,
                  "the id of an event reads '<epoch>-1', '<epoch>-2', …");
  if (!connection.first_event) connection.first_event = FirstEvent{id->epoch, id->number};
  if (id->epoch != connection.first_event->epoch || id->epoch == connection.capabilities.outbox)
    return refuse(connection, envelope.id, NackCode::BadRequest,
                  "the events of a connection have one epoch, which is not that of its outbox");
  switch (agent->outboxes.look_up(id->epoch, id->number, connection.first_event->number - 1)) {
    case SequenceCheck::Next: break;
    case SequenceCheck::Duplicate:
      on_repeated_event(connection, *agent, envelope);
      return answer_event_when_saved(connection, envelope.id, Occurrence::Repeated, {});
    case SequenceCheck::Refused:
      return answer_event_when_saved(connection, envelope.id, Occurrence::Repeated, "this event was refused before");
    case SequenceCheck::Gap:
      return refuse(connection, envelope.id, NackCode::Busy,
                    "an earlier event is still missing; tell that one again first", kBusyRetryMs);
  }
  const auto taken = accept_event(*agent, envelope);
  change(records::SetOutboxMark{
      agent->outboxes.advance(agent->name(), id->epoch, id->number, !taken.has_value(), now_.wall)});
  charge_event(connection, envelope);
  answer_event_when_saved(connection, envelope.id, Occurrence::First, taken ? std::string{} : taken.error().message());
}

void Core::charge_event(ConnectionState& connection, const protocol::Envelope& envelope) {
  const std::size_t bytes = envelope.payload.size();
  charge(connection, bytes, kMaxEventsWaiting);
  when_committed(
      [this, connection = connection.id, bytes](CommitResult) { release_uncommitted(find(connection), bytes); });
}

/// Refused for good when there is a sentence; else acknowledged. What was told before has its number already.
void Core::answer_event_when_saved(ConnectionState& connection, std::string_view id, Occurrence told,
                                   std::string refusal) {
  when_committed([this, connection = connection.id, name = connection.agent, id = std::string{id}, told,
                  refusal = std::move(refusal)](CommitResult saving) {
    ConnectionState* asker = find(connection);
    if (saving == CommitResult::Failed) {
      const auto event = event_id(id);
      AgentState* agent = find_agent(name.value());
      if (agent != nullptr && told == Occurrence::First) agent->outboxes.roll_back(event->epoch, event->number);
      if (asker != nullptr && asker->speaks())
        refuse(*asker, id, NackCode::Storage, "the event could not be stored; tell it again", kStorageRetryMs);
      return;
    }
    if (asker == nullptr || !asker->speaks()) return;
    if (refusal.empty())
      send_new(*asker, MessageType::Ack, protocol::write_ack(id));
    else
      refuse(*asker, id, NackCode::BadRequest, refusal);
  });
}

Result<void> Core::accept_event(AgentState& agent, const protocol::Envelope& envelope, Asking asking) {
  const auto text = RELAY_TRY(protocol::parse_agent_event(envelope.payload));
  RELAY_TRY(text::check_object(text, kMaxLevelsAround));
  const auto object = RELAY_TRY(parse_json_object(text));
  const auto type = string_member(object, "type").value_or("");
  const auto* kind = events::find_event_type(type);
  if (kind == nullptr || kind->source != events::EventOrigin::Session)
    return fail(format("\"{}\" is no event that a session tells", type));
  auto event = RELAY_TRY(events::read_event(type, object));
  const auto& session = agent.session->id;
  auto* tokens = std::get_if<events::TokensUsed>(&event);
  if (tokens != nullptr) {
    tokens->agent_name = agent.name().value();
    if (!tokens->thread && !agent.thread.empty()) tokens->thread = agent.thread;
  }
  auto row = event_row(event, agent.name(), session);
  if (row.event.body.size() > kMaxEventBytes)
    return fail(format("an event may have {} bytes, this one has {}", kMaxEventBytes, row.event.body.size()));
  if (auto request = parse_prompt(event, object, now_.wall)) {
    if (asking == Asking::Over) return fail("the agent that asks is gone");
    if (row.event.body.size() > kMaxRequestBytes)
      return fail(format("a request may have {} bytes, this one has {}", kMaxRequestBytes, row.event.body.size()));
    const bool again = string_member(object, "_again") == session.value();
    take_request(agent, *std::move(request), again ? Occurrence::Repeated : Occurrence::First);
    return {};
  }
  if (tokens != nullptr) change(records::PutUsage{usage_of(*tokens, agent, envelope.id)});
  if (std::holds_alternative<events::ItemCompleted>(event))
    change(records::AddSessionStats{session, {.items = 1}, now_.wall});
  else if (std::holds_alternative<events::CommandExecuted>(event))
    change(records::AddSessionStats{session, {.commands = 1}, now_.wall});
  else if (const auto* file = std::get_if<events::FileOperation>(&event);
           file != nullptr && file->operation != events::FileOperationKind::Read)
    change(records::AddSessionStats{session, {.files = {file->file_path}}, now_.wall});
  change(std::move(row));
  if (const auto request = resolved_prompt_id(event); !request.empty()) end_request_when_saved(agent, request);
  return {};
}

void Core::take_untold_events(AgentState& agent, const std::vector<protocol::EndedSession::UnackedEvent>& events) {
  const auto first = events.empty() ? std::nullopt : event_id(events.front().id);
  for (const auto& event : events) {
    const auto id = event_id(event.id);
    if (!first || !id || id->epoch != first->epoch) return;
    if (agent.outboxes.look_up(id->epoch, id->number, first->number - 1) != SequenceCheck::Next) continue;
    protocol::Envelope envelope;
    envelope.id = event.id;
    envelope.payload = event.payload;
    const auto before = changes_.size();
    const auto taken = accept_event(agent, envelope, Asking::Over);
    change(records::SetOutboxMark{
        agent.outboxes.advance(agent.name(), id->epoch, id->number, !taken.has_value(), now_.wall)});
    // Nobody tells them again: what they change is saved whatever becomes of this commit.
    records::Changes told;
    std::move(changes_.begin() + static_cast<std::ptrdiff_t>(before), changes_.end(), std::back_inserter(told));
    changes_.erase(changes_.begin() + static_cast<std::ptrdiff_t>(before), changes_.end());
    for (auto& each : told) save_eventually(std::move(each));
  }
}

/// It is in the log, but perhaps by the hand of another daemon: what is open must be known to this one as well.
void Core::on_repeated_event(ConnectionState& connection, AgentState& agent, const protocol::Envelope& envelope) {
  const auto text = protocol::parse_agent_event(envelope.payload);
  if (!text || text->size() > kMaxRequestBytes || !text::check_object(*text, kMaxLevelsAround)) return;
  const auto object = parse_json_object(*text);
  if (!object) return;
  charge_event(connection, envelope);
  const auto event = events::read_event(string_member(*object, "type").value_or(""), *object);
  if (!event) return;
  if (auto request = parse_prompt(*event, *object, now_.wall))
    take_request(agent, *std::move(request), Occurrence::Repeated);
  if (const auto request = resolved_prompt_id(*event); !request.empty()) end_request_when_saved(agent, request);
}

records::UsageRow Core::usage_of(const events::TokensUsed& tokens, const AgentState& agent, std::string_view id) const {
  return {.session = agent.session->id,
          .request = tokens.request_id.value_or(std::string{id}),
          .agent = agent.name(),
          .model = tokens.model,
          .thread = tokens.thread.value_or(""),
          .source = tokens.source.value_or(""),
          .at = now_.wall,
          .input = tokens.input_tokens,
          .output = tokens.output_tokens,
          .cache_read = tokens.cache_read_tokens.value_or(0),
          .cache_write = tokens.cache_write_tokens.value_or(0),
          .reasoning = tokens.reasoning_tokens.value_or(0),
          .cost = tokens.estimated_cost_usd};
}

}  // namespace relay::broker
