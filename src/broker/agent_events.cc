#include "broker/agent_events.h"

#include "base/format.h"
#include "base/json.h"
#include "text/json_scanner.h"

namespace relay::broker {

using events::Event;
using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;

namespace {

constexpr std::size_t kMaxEventBytes = 512 << 10;            // fits a frame with room to spare
constexpr std::size_t kMaxPromptBytes = 224 << 10;           // fits a frame after a list of others
constexpr std::size_t kMaxLevelsAround = 6;                  // of JSON, in the frames around it
constexpr std::size_t kMaxUncommittedEventBytes = 16 << 10;  // of a connection; they delay the messages of others

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

void AgentEvents::on_session_state(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto change = protocol::parse_session_state(envelope.payload);
  if (!change) return connections_.send_error(connection, ErrorCode::BadRequest, change.error().message());
  context_.log(WriteLog::Level::Debug, format("{} is {}", connection.agent->value(), change->state));
  AgentState* const agent = agents_.find(connection.agent->value());
  if (agent == nullptr) return;
  AgentActivity& activity = agent->activity.write();
  auto reported = *std::move(change);
  if (reported.capabilities.empty()) reported.capabilities = std::move(activity.state.capabilities);  // unchanged
  if (!reported.modes) reported.modes = activity.state.modes;
  if (reported.boundary) activity.boundaries[*reported.boundary] = context_.newest_key();
  const bool other_modes = reported.modes != activity.state.modes;
  if (reported.state != activity.state.state) event_recorder_.record_activity(*agent, reported);
  activity.state = std::move(reported);
  if (other_modes) unsupported_.scan(*agent);
  deliveries_.deliver_pending(*agent);
}

void AgentEvents::on_agent_event(ConnectionState& connection, const protocol::Envelope& envelope) {
  AgentState* agent = connection.query_only ? nullptr : agents_.find(connection.agent->value());
  if (agent == nullptr || !agent->session)
    return connections_.send_error(connection, ErrorCode::BadRequest,
                                   "a session reports events about itself: send HELLO with a name first");
  const auto id = event_id(envelope.id);
  if (!id)
    return replies_.refuse(connection, envelope.id, NackCode::BadRequest,
                           "the id of an event reads '<epoch>-1', '<epoch>-2', …");
  auto& first = *connection.first_event;
  if (!first) first = FirstEvent{id->epoch, id->number};
  if (id->epoch != first->epoch || id->epoch == connection.capabilities->outbox)
    return replies_.refuse(connection, envelope.id, NackCode::BadRequest,
                           "the events of a connection have one epoch, which is not that of its outbox");
  switch (agent->outboxes.look_up(id->epoch, id->number, first->number - 1)) {
    case SequenceCheck::Next: break;
    case SequenceCheck::Duplicate:
      on_repeated(connection, *agent, envelope);
      return answer_when_saved(connection, envelope.id, Occurrence::Repeated, {});
    case SequenceCheck::Refused:
      return answer_when_saved(connection, envelope.id, Occurrence::Repeated, "this event was refused before");
    case SequenceCheck::Gap:
      return replies_.refuse(connection, envelope.id, NackCode::Busy,
                             "an earlier event is still missing; send that one again first", kBusyRetryMs);
  }
  const auto accepted = accept(*agent, envelope);
  commits_.change(records::SetOutboxMark{
      agent->outboxes.advance(agent->name(), id->epoch, id->number, !accepted.has_value(), context_.wall())});
  charge(connection, envelope);
  answer_when_saved(connection, envelope.id, Occurrence::First, accepted ? std::string{} : accepted.error().message());
}

void AgentEvents::resume_activity(AgentState& agent, const std::string& state) {
  auto& activity = agent.activity.write().state;
  if (!state.empty()) activity.state = state;
  activity.reason.clear();
}

void AgentEvents::charge(ConnectionState& connection, const protocol::Envelope& envelope) {
  const std::size_t bytes = envelope.payload.size();
  budget_.charge(connection, bytes, kMaxUncommittedEventBytes);
  commits_.when_committed(
      [this, connection = connection.id, bytes](CommitResult) { budget_.release(connection, bytes); });
}

/// A refusal is final; without one the event is acknowledged. A repeated event already has its number.
void AgentEvents::answer_when_saved(ConnectionState& connection, std::string_view id, Occurrence occurrence,
                                    std::string refusal) {
  commits_.when_committed([this, connection = connection.id, name = *connection.agent, id = std::string{id}, occurrence,
                           refusal = std::move(refusal)](CommitResult result) {
    ConnectionState* client = connections_.find(connection);
    if (result == CommitResult::Failed) {
      const auto event = event_id(id);
      AgentState* agent = agents_.find(name.value());
      if (agent != nullptr && occurrence == Occurrence::First) agent->outboxes.roll_back(event->epoch, event->number);
      if (client != nullptr && client->is_open())
        replies_.refuse(*client, id, NackCode::Storage, "the event could not be stored; send it again",
                        kStorageRetryMs);
      return;
    }
    if (client == nullptr || !client->is_open()) return;
    if (refusal.empty())
      connections_.send_new(*client, MessageType::Ack, protocol::write_ack(id));
    else
      replies_.refuse(*client, id, NackCode::BadRequest, refusal);
  });
}

Result<void> AgentEvents::accept(AgentState& agent, const protocol::Envelope& envelope, PromptMode mode) {
  const auto text = RELAY_TRY(protocol::parse_agent_event(envelope.payload));
  RELAY_TRY(text::check_object(text, kMaxLevelsAround));
  const auto object = RELAY_TRY(parse_json_object(text));
  const auto type = string_member(object, "type").value_or("");
  const auto* event_type = events::find_event_type(type);
  if (event_type == nullptr || event_type->source != events::EventOrigin::Session)
    return fail(format("\"{}\" is not an event that a session can report", type));
  auto event = RELAY_TRY(events::read_event(type, object));
  const auto& session = agent.session->id;
  auto* tokens = std::get_if<events::TokensUsed>(&event);
  if (tokens != nullptr) {
    tokens->agent_name = agent.name().value();
    if (!tokens->thread && !agent.thread->empty()) tokens->thread = *agent.thread;
  }
  auto row = event_recorder_.row(event, agent.name(), session);
  if (row.event.body.size() > kMaxEventBytes)
    return fail(format("an event may be at most {} bytes; this one is {}", kMaxEventBytes, row.event.body.size()));
  if (auto prompt = parse_prompt(event, object, context_.wall())) {
    if (mode == PromptMode::Closed) return fail("the agent of this prompt has ended");
    if (row.event.body.size() > kMaxPromptBytes)
      return fail(format("a prompt may be at most {} bytes; this one is {}", kMaxPromptBytes, row.event.body.size()));
    const bool again = string_member(object, "_again") == session.value();
    prompts_.open(agent, *std::move(prompt), again ? Occurrence::Repeated : Occurrence::First);
    return {};
  }
  if (tokens != nullptr) commits_.change(records::PutUsage{usage_of(*tokens, agent, envelope.id)});
  count_work(event, session);
  commits_.change(std::move(row));
  if (const auto prompt = resolved_prompt_id(event); !prompt.empty()) prompts_.end_when_saved(agent, prompt);
  return {};
}

void AgentEvents::count_work(const Event& event, const SessionId& session) {
  if (std::holds_alternative<events::ItemCompleted>(event))
    commits_.change(records::AddSessionStats{session, {.items = 1}, context_.wall()});
  else if (std::holds_alternative<events::CommandExecuted>(event))
    commits_.change(records::AddSessionStats{session, {.commands = 1}, context_.wall()});
  else if (const auto* file = std::get_if<events::FileOperation>(&event);
           file != nullptr && file->operation != events::FileOperationKind::Read)
    commits_.change(records::AddSessionStats{session, {.files = {file->file_path}}, context_.wall()});
}

void AgentEvents::accept_unsent(AgentState& agent, const std::vector<protocol::EndedSession::UnackedEvent>& events) {
  const auto first = events.empty() ? std::nullopt : event_id(events.front().id);
  for (const auto& event : events) {
    const auto id = event_id(event.id);
    if (!first || !id || id->epoch != first->epoch) return;
    if (agent.outboxes.look_up(id->epoch, id->number, first->number - 1) != SequenceCheck::Next) continue;
    protocol::Envelope envelope;
    envelope.id = event.id;
    envelope.payload = event.payload;
    // No client sends them again, so their changes are retried until they are stored.
    commits_.make_eventual([&] {
      const auto accepted = accept(agent, envelope, PromptMode::Closed);
      commits_.change(records::SetOutboxMark{
          agent.outboxes.advance(agent.name(), id->epoch, id->number, !accepted.has_value(), context_.wall())});
    });
  }
}

/// A previous daemon may have stored it: this one needs the open prompts as well.
void AgentEvents::on_repeated(ConnectionState& connection, AgentState& agent, const protocol::Envelope& envelope) {
  const auto text = protocol::parse_agent_event(envelope.payload);
  if (!text || text->size() > kMaxPromptBytes || !text::check_object(*text, kMaxLevelsAround)) return;
  const auto object = parse_json_object(*text);
  if (!object) return;
  charge(connection, envelope);
  const auto event = events::read_event(string_member(*object, "type").value_or(""), *object);
  if (!event) return;
  if (auto prompt = parse_prompt(*event, *object, context_.wall()))
    prompts_.open(agent, *std::move(prompt), Occurrence::Repeated);
  if (const auto prompt = resolved_prompt_id(*event); !prompt.empty()) prompts_.end_when_saved(agent, prompt);
}

records::UsageRow AgentEvents::usage_of(const events::TokensUsed& tokens, const AgentState& agent,
                                        std::string_view id) const {
  return {.session = agent.session->id,
          .request = tokens.request_id.value_or(std::string{id}),
          .agent = agent.name(),
          .model = tokens.model,
          .thread = tokens.thread.value_or(""),
          .source = tokens.source.value_or(""),
          .at = context_.wall(),
          .input = tokens.input_tokens,
          .output = tokens.output_tokens,
          .cache_read = tokens.cache_read_tokens.value_or(0),
          .cache_write = tokens.cache_write_tokens.value_or(0),
          .reasoning = tokens.reasoning_tokens.value_or(0),
          .cost = tokens.estimated_cost_usd};
}

}  // namespace relay::broker
