#include "broker/workers.h"

#include <algorithm>

#include "base/format.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::NackCode;
using text::JsonWriter;

namespace {

constexpr Millis kLeaveTimeout{2'000};  // between the end of an agent and that of its connection

std::string workers_payload(std::string_view request, const std::vector<Worker>& workers) {
  JsonWriter payload;
  payload.field("replyTo", request).field("success", true).begin_array("workers");
  bool cut = false;
  for (const Worker& worker : workers) {
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    payload.begin_element().field("name", worker.name).field("cli", worker.cli).optional("task", worker.task);
    payload.optional("team", worker.team).optional("spawnerName", worker.spawner).field("spawnedAt", worker.started);
    payload.field("pid", worker.pid).optional("model", worker.model).optional("cwd", worker.directory).end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  return payload.take();
}

}  // namespace

void Workers::on_release(ConnectionState& connection, const protocol::Envelope& envelope) {
  constexpr auto kResult = MessageType::ReleaseResult;
  auto wanted = protocol::parse_release(envelope.payload);
  if (!wanted) return refuse(connection, envelope.id, kResult, {}, {NackCode::BadRequest, wanted.error().message()});
  const std::string name = std::move(wanted->name);
  if (is_starting(name))
    return refuse(connection, envelope.id, kResult, name,
                  {NackCode::Busy, format("'{}' is being started; release it when its SPAWN is answered", name)});
  const auto& origin = connection.peer->origin;
  const bool nameless = connection.query_only && origin.agent.empty();  // an agent may end itself and those it started
  if (const auto refused = nameless ? require_user(connection, "end an agent") : std::nullopt)
    return refuse(connection, envelope.id, kResult, name, *refused);
  auto request = open_request(connection, envelope.id, kResult, name);
  if (!request) return;
  // A session acts under its own name, a process inside an agent under that agent's; the user's programs give a name.
  std::string by = connection.agent->value();
  if (connection.query_only && origin.is_agent() && !origin.agent.empty())
    by = origin.agent;
  else if (connection.query_only)
    by = wanted->by.empty() ? std::string{protocol::kUserName} : wanted->by;
  const Release release{std::move(by), wanted->reason, !origin.is_user()};
  AgentState* agent = agents_.find(name);
  if (agent != nullptr && agent->session && agent->session->ended == 0 && !*agent->releasing)
    *agent->releasing = release;
  hosts_.stop(name, release, [this, request = *std::move(request), name, release](Result<void> outcome) {
    on_released(request, name, release, outcome);
  });
}

void Workers::on_released(const ClientRequest& request, const std::string& name, const Release& release,
                          const Result<void>& outcome) {
  AgentState* agent = agents_.find(name);
  if (!outcome && agent != nullptr) agent->releasing->reset();
  if (outcome && (agent == nullptr || !agent->session))  // its host never sent HELLO: no session ends
    record_release(event_recorder_, AgentName{name}, {}, release);
  // The name can be given to another agent as soon as the response arrives, so the old connection must be closed.
  if (outcome && agent != nullptr && agent->connected()) {
    const SteadyTime due = context_.steady() + kLeaveTimeout;
    leaving_.emplace(name, PendingRelease{request, due});
    return context_.arm(due, {.kind = TimerKind::Release, .name = name});
  }
  if (outcome && agent != nullptr && *agent->releasing) sessions_.end_session(*agent, {});  // it ended without BYE
  respond(request, name, outcome);
}

void Workers::finish_releases(const std::string& name, SteadyTime due_by) {
  const auto [begin, end] = leaving_.equal_range(name);
  if (AgentState* agent = agents_.find(name); begin != end && agent != nullptr && *agent->releasing) {
    if (agent->connected())
      agent->releasing->reset();  // it is still connected, and may end in another way
    else
      sessions_.end_session(*agent, {});
  }
  for (auto place = begin; place != end;) {
    if (place->second.due > due_by) {
      ++place;
      continue;
    }
    const ClientRequest request = std::move(place->second.request);
    place = leaving_.erase(place);
    respond(request, name, {});
  }
}

void Workers::on_send_input(ConnectionState& connection, const protocol::Envelope& envelope) {
  constexpr auto kResult = MessageType::SendInputResult;
  auto wanted = protocol::parse_send_input(envelope.payload);
  if (!wanted) return refuse(connection, envelope.id, kResult, {}, {NackCode::BadRequest, wanted.error().message()});
  if (const auto refused = require_user(connection, "type into an agent"))
    return refuse(connection, envelope.id, kResult, wanted->name, *refused);
  auto request = open_request(connection, envelope.id, kResult, wanted->name);
  if (!request) return;
  // If the agent is being released, it ends once its host has accepted the input.
  hosts_.send_input(wanted->name, std::move(wanted->data),
                    [this, request = *std::move(request), name = wanted->name](Result<void> outcome) {
                      AgentState* agent = agents_.find(name);
                      if (outcome && agent != nullptr && *agent->releasing) sessions_.end_session(*agent, {});
                      respond(request, name, outcome);
                    });
}

void Workers::on_list_workers(ConnectionState& connection, const protocol::Envelope& envelope) {
  auto request = open_request(connection, envelope.id, MessageType::ListWorkersResult, {});
  if (!request) return;
  hosts_.list([this, request = *std::move(request)](Result<std::vector<Worker>> workers) {
    if (!workers) return respond(request, {}, Failure{workers.error()});
    ConnectionState* client = requests_.finish(request);
    if (client != nullptr) connections_.send_new(*client, request.response, workers_payload(request.id, *workers));
  });
}

void Workers::on_set_model(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto name = protocol::parse_name(envelope.payload);
  refuse(connection, envelope.id, MessageType::SetModelResult, name ? *name : std::string{},
         {NackCode::Unsupported, "the relay cannot change an agent's model; change it in the agent's terminal"});
}

std::optional<ClientRequest> Workers::open_request(ConnectionState& connection, std::string_view request,
                                                   MessageType response, std::string_view name) {
  if (const auto rejected = requests_.check(connection)) {
    refuse(connection, request, response, name, *rejected);
    return std::nullopt;
  }
  return requests_.start(connection, request, response);
}

void Workers::refuse(ConnectionState& connection, std::string_view request, MessageType response, std::string_view name,
                     const Rejection& rejected) {
  JsonWriter payload;
  payload.field("replyTo", request).field("success", false).field("name", name);
  payload.field("code", name_of(rejected.code)).field("error", rejected.message);
  if (response == MessageType::ListWorkersResult) payload.begin_array("workers").end();
  connections_.send_new(connection, response, payload.take());
}

void Workers::respond(const ClientRequest& request, std::string_view name, const Result<void>& outcome) {
  ConnectionState* client = requests_.finish(request);
  if (client == nullptr) return;
  JsonWriter payload;
  payload.field("replyTo", request.id).field("success", outcome.has_value()).field("name", name);
  if (!outcome) payload.field("error", outcome.error().message());
  if (request.response == MessageType::ListWorkersResult) payload.begin_array("workers").end();
  connections_.send_new(*client, request.response, payload.take());
}

}  // namespace relay::broker
