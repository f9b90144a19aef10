#include "broker/control.h"

#include <algorithm>

#include "base/format.h"
#include "broker/authority.h"
#include "broker/sessions.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ControlAction;
using protocol::ErrorCode;
using protocol::MessageType;
using protocol::NackCode;
using text::JsonWriter;

namespace {

/// Whether it relaxes what the user has restricted. An agent may only restrict further.
bool changes_user_settings(const protocol::ControlRequest& request) {
  return (request.action == ControlAction::Policy && request.rules) || request.action == ControlAction::Unpause ||
         request.action == ControlAction::ResetLoop;
}

/// Whether no check of the concerned agent is needed here: it only reads, or `read` checks its recipient.
bool is_free_for_agents(const protocol::ControlRequest& request) {
  return request.action == ControlAction::Policy || request.action == ControlAction::Read;
}

}  // namespace

void Control::on_control(ConnectionState& connection, const protocol::Envelope& envelope) {
  if (const auto rejected = requests_.check(connection))
    return connections_.send_error(connection, ErrorCode::Busy, rejected->message);
  Operation operation{.client = requests_.start_uncommitted(connection, envelope.id, MessageType::ControlResult),
                      .by = !connection.query_only                  ? connection.agent->value()
                            : connection.peer->origin.agent.empty() ? "the user"
                                                                    : connection.peer->origin.agent,
                      .end = Key{context_.newest_key().value() + 1}};
  auto request = protocol::parse_control(envelope.payload);
  if (!request) return answer(operation, {{NackCode::BadRequest, request.error().message()}});
  operation.request = *std::move(request);
  AgentState* agent = operation.request.agent.empty() ? nullptr : agents_.find(operation.request.agent);
  if (agent == nullptr && !operation.request.agent.empty())
    return answer(operation, {{NackCode::UnknownRecipient, agents_.unknown_reason(operation.request.agent)}});
  if (changes_user_settings(operation.request))
    if (auto refused = require_user(connection, "change policies, pauses and loop blocks"))
      return answer(operation, refused);
  if (connection.peer->origin.is_user() || is_free_for_agents(operation.request)) return start(std::move(operation));
  // The records of hosts name the agents that it started.
  operation.own.emplace();
  if (!connection.query_only) operation.own->push_back(connection.agent->value());
  if (const auto& inside = connection.peer->origin.agent; !inside.empty()) operation.own->push_back(inside);
  hosts_.list([this, operation = std::move(operation)](Result<std::vector<Worker>> workers) mutable {
    start_own(std::move(operation), workers);
  });
}

void Control::start_own(Operation operation, const Result<std::vector<Worker>>& workers) {
  const auto requesters = *operation.own;
  if (workers)
    for (const Worker& worker : *workers)
      if (std::ranges::find(requesters, worker.spawner) != requesters.end() && has_session(worker))
        operation.own->push_back(worker.name);
  start(std::move(operation));
}

/// True if the host of the record owns the session of that name. Another process may own it.
bool Control::has_session(const Worker& worker) {
  const AgentState* agent = agents_.find(worker.name);
  if (agent == nullptr) return true;
  std::int32_t pid = agent->times->lost_pid;
  if (agent->connected())
    if (const ConnectionState* connection = connections_.find(agent->connections->front())) pid = connection->peer->pid;
  return pid == 0 || pid == worker.pid;
}

/// An agent may control itself and the agents that it started; everything else is the user's.
std::optional<Rejection> Control::check(const Operation& operation, std::string_view action,
                                        std::initializer_list<std::string_view> concerned) {
  if (!operation.own) return std::nullopt;
  for (const auto name : concerned)
    if (std::ranges::find(*operation.own, name) != operation.own->end()) return std::nullopt;
  if (const ConnectionState* connection = connections_.find(operation.client.connection))
    return require_user(*connection, action);
  return Rejection{NackCode::Refused,
                   format("only the user may {}", action)};  // it has disconnected, and gets no answer
}

void Control::start(Operation operation) {
  AgentState* agent = operation.request.agent.empty() ? nullptr : agents_.find(operation.request.agent);
  if (agent == nullptr && !operation.request.agent.empty())  // it was removed while the hosts were listed
    return answer(operation, {{NackCode::UnknownRecipient, agents_.unknown_reason(operation.request.agent)}});
  const std::string_view name = operation.request.agent;
  const auto refused = operation.request.action == ControlAction::Pause ? check(operation, "pause other agents", {name})
                       : operation.request.action == ControlAction::Flush
                           ? check(operation, "flush messages of other agents", {name})
                       : operation.request.all ? check(operation, "redeliver messages of other agents", {name})
                                               : std::nullopt;
  if (refused) return answer(operation, refused);
  switch (operation.request.action) {
    case ControlAction::Flush: return request_held(std::move(operation));
    case ControlAction::Retry:
    case ControlAction::Cancel:
    case ControlAction::Read:
    case ControlAction::Redeliver: return request_deliveries(std::move(operation));
    case ControlAction::Pause:
    case ControlAction::Unpause: return set_paused(std::move(operation), *agent);
    case ControlAction::Policy: return set_policy(std::move(operation), *agent);
    case ControlAction::ResetLoop:
      operation.count = loops_.reset(operation.request.from, operation.request.to);
      return answer(operation);
  }
}

void Control::answer(const Operation& operation, const std::optional<Rejection>& rejected) {
  ConnectionState* connection = requests_.finish(operation.client);
  if (connection == nullptr) return;
  const auto& request = operation.request;
  JsonWriter payload;
  payload.field("replyTo", operation.client.id).field("success", !rejected);
  payload.field("action", name_of(request.action)).optional("agent", request.agent);
  if (rejected) {
    payload.field("error", rejected->message).field("code", name_of(rejected->code));
  } else if (request.action == ControlAction::Policy) {
    const AgentState* agent = agents_.find(request.agent);
    payload.raw("rules", protocol::write_policy(agent != nullptr ? agent->record->policy
                                                                 : std::vector<protocol::DeliveryPolicyRule>{}));
    if (agent != nullptr && agent->mailbox.held() > 0) payload.field("held", agent->mailbox.held());
  } else {
    payload.field("count", operation.count);
    if (!operation.ids.empty()) {
      payload.begin_array("deliveryIds");
      for (const auto& id : operation.ids) payload.element(id);
      payload.end();
    }
  }
  connections_.send_new(*connection, MessageType::ControlResult, payload.take());
}

void Control::answer_when_saved(Operation operation) {
  commits_.when_committed([this, operation = std::move(operation)](CommitResult result) {
    if (result == CommitResult::Done) return answer(operation);
    const bool dropped = operation.request.action == ControlAction::Redeliver;
    answer(operation,
           {{NackCode::Storage, dropped ? "it could not be stored; try again"
                                        : "it is not stored yet; the relay keeps trying; see `agent-relay status`"}});
  });
}

void Control::set_paused(Operation operation, AgentState& agent) {
  const bool paused = operation.request.action == ControlAction::Pause;
  if (paused && agent.cannot_be_addressed())
    return answer(operation, {{NackCode::Unsupported,
                               format("{} is only observed: it was started without agent-relay, so it cannot "
                                      "be paused",
                                      agent.name().value())}});
  const bool changed = agents_.set_paused(agent, paused, operation.request.reason);
  operation.count = changed ? 1 : 0;
  if (changed) {
    commits_.save_eventually(records::PutAgent{*agent.record});
    context_.log(WriteLog::Level::Info,
                 format("{} {} {}", operation.by, paused ? "paused" : "unpaused", agent.name().value()));
    send_pause_state(connections_, agent);
    context_.emit(RosterChanged{});
    deliveries_.deliver_pending(agent);
  }
  answer_when_saved(std::move(operation));
}

void Control::set_policy(Operation operation, AgentState& agent) {
  if (!operation.request.rules) return answer(operation);
  agents_.set_policy(agent, *operation.request.rules);
  commits_.save_eventually(records::PutAgent{*agent.record});
  answer_when_saved(std::move(operation));
}

}  // namespace relay::broker
