// STATUS and its like: answered from memory, or by the store a moment later. Responses reuse the request's id.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "broker/query_error.h"
#include "records/short_id.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using text::JsonWriter;

namespace {

/// An answer shorter than this holds no row yet: the first one always goes in.
constexpr std::size_t kEmptyListBytes = 64;

std::size_t rows_wanted(std::size_t asked, std::size_t usual) {
  return asked == 0 ? usual : std::min(asked, protocol::kMaxQueryRows);
}

}  // namespace

void Core::respond(ConnectionState& connection, MessageType type, std::string_view request_id,
                   std::string_view payload) {
  send(connection, {.type = type, .id = request_id, .ts = now_.wall, .payload = payload});
}

void Core::on_inbox(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_inbox(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto id = ask(connection, envelope.id, MessageType::InboxResponse);
  if (!id) return;
  asked_[*id].inbox = true;
  records::MessageQuery query;
  query.limit = rows_wanted(wanted->limit, protocol::kDefaultInboxRows);
  query.delivered_to = wanted->agent.empty() ? connection.agent.value() : wanted->agent;
  query.from = wanted->from;
  query.channel = wanted->channel;
  query.topic = wanted->topic;
  query.unread_only = wanted->unread_only;
  query.before = Key{wanted->before_key};
  emit(QueryMessages{*id, std::move(query)});
}

void Core::on_messages_query(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_messages_query(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto id = ask(connection, envelope.id, MessageType::MessagesResponse);
  if (!id) return;
  records::MessageQuery query;
  query.limit = rows_wanted(wanted->limit, protocol::kDefaultMessageRows);
  query.since = wanted->since;
  query.from = wanted->from;
  query.to = wanted->to;
  query.thread = wanted->thread;
  query.topic = wanted->topic;
  query.ascending = wanted->ascending;
  query.id = wanted->id;
  query.search = wanted->search;
  query.after = Key{wanted->after_key};
  query.before = Key{wanted->before_key};
  emit(QueryMessages{*id, std::move(query)});
}

void Core::on_trace(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_trace(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  if (const auto id = ask(connection, envelope.id, MessageType::TraceResponse)) emit(QueryTrace{*id, *wanted});
}

std::optional<QueryId> Core::ask(ConnectionState& connection, std::string_view request_id, MessageType answer) {
  if (connection.open_queries >= limits_.max_open_queries) {
    error(connection, ErrorCode::Busy,
          format("{} questions are open already; wait for an answer", connection.open_queries));
    return std::nullopt;
  }
  return add_question(connection, request_id, answer);
}

QueryId Core::add_question(ConnectionState& connection, std::string_view request_id, MessageType answer) {
  ++connection.open_queries;
  flush_changes();  // the answer covers everything this connection said before
  const QueryId id{next_query_++};
  asked_.emplace(id, PendingQuery{connection.id, std::string{request_id}, answer});
  return id;
}

std::optional<Core::PendingQuery> Core::take_asked(QueryId id) {
  const auto place = asked_.find(id);
  if (place == asked_.end()) return std::nullopt;
  PendingQuery asked = std::move(place->second);
  asked_.erase(place);
  if (ConnectionState* connection = find(asked.connection)) --connection->open_queries;
  return asked;
}

namespace {

/// A message as listings show it. `body` and `data` are passed on as the JSON they are.
void write_message(JsonWriter& out, const records::MessageRow& row, bool inbox) {
  const records::Message& message = row.message;
  const auto view = protocol::parse_send(message.payload);
  const bool channel = message.to.starts_with('#') || message.to.starts_with("dm:");
  out.begin_element();
  out.field("id", records::short_id(message.key)).field("key", message.key.value());
  out.field("from", message.from.value());
  out.field("to", message.to);
  if (message.as_user()) out.field("as", protocol::kAsUser);
  out.raw("body", view && !view->body.empty() ? view->body : "\"\"");
  if (channel) out.field("channel", message.to);
  out.optional("thread", message.thread);
  if (message.payload_meta.find("\"replyTo\"") != std::string::npos)
    if (const auto meta = protocol::parse_send_meta(message.payload_meta)) out.optional("replyTo", meta->reply_to);
  out.optional("topic", message.topic.value());
  out.field("kind", message.kind);
  out.field("timestamp", message.ts);
  out.field("status", row.deliveries == 0 ? "stored" : records::name_of(row.state));
  if (!inbox) {
    out.field("isBroadcast", message.to == protocol::kEveryone);
    out.field("replyCount", row.reply_count);
    if (view && !view->data.empty()) out.raw("data", view->data);
  }
  out.end();
}

}  // namespace

void Core::messages(QueryId id, Result<std::vector<records::MessageRow>> rows) {
  const auto asked = take_asked(id);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  if (!rows) write_query_error(payload, rows.error());
  payload.begin_array("messages");
  bool cut = false;
  if (rows) {
    for (const auto& row : *rows) {
      cut =
          payload.size() + row.message.payload.size() > protocol::kMaxResponseBytes && payload.size() > kEmptyListBytes;
      if (cut) break;
      write_message(payload, row, asked->inbox);
    }
  }
  payload.end();
  if (cut) payload.field("more", true);  // the rest did not fit a frame
  respond(*connection, asked->answer, asked->request_id, payload.take());
}

void Core::trace(QueryId id, Result<records::Trace> trace) {
  const auto asked = take_asked(id);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  JsonWriter payload;
  if (!trace) {
    write_query_error(payload, trace.error());
    respond(*connection, asked->answer, asked->request_id, payload.take());
    return;
  }
  const auto& message = trace->message;
  const auto view = protocol::parse_send(message.payload);
  payload.begin_object("message").field("id", records::short_id(message.key)).field("from", message.from.value());
  payload.field("to", message.to)
      .field("timestamp", message.ts)
      .field("kind", message.kind)
      .field("as", message.as_user() ? protocol::kAsUser : protocol::kAsPeer)
      .field("senderId", message.id);
  payload.raw("body",
              view && !view->body.empty() && view->body.size() < protocol::kMaxResponseBytes / 2 ? view->body : "\"\"");
  payload.end();
  payload.begin_array("deliveries");
  bool cut = false;
  for (const auto& entry : trace->deliveries) {
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    payload.begin_element()
        .field("deliveryId", records::delivery_id(entry.delivery.key))
        .field("to", entry.delivery.to.value());
    payload.field("state", records::name_of(entry.delivery.state))
        .field("proof", records::name_of(entry.delivery.proof));
    write_standing(payload, entry);
    payload.begin_array("history");
    for (const auto& event : entry.history) {
      payload.begin_element().field("at", event.at).field("state", records::name_of(event.state));
      payload.field("proof", records::name_of(event.proof)).optional("reason", event.reason);
      payload.optional("via", event.via).optional("evidence", event.evidence).end();
    }
    payload.end().end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  respond(*connection, asked->answer, asked->request_id, payload.take());
}

void Core::write_standing(JsonWriter& out, const records::TraceEntry& entry) {
  const auto& delivery = entry.delivery;
  out.field("seq", delivery.seq.value()).field("expiresAt", delivery.expires_at);
  out.field("mode", name_of(delivery.lane.mode)).field("lane", lane_code(delivery.lane));
  out.field("priority", name_of(delivery.lane.priority));
  if (delivery.attempts > 0) out.field("attempts", delivery.attempts);
  if (records::is_final(delivery.state)) return;
  if (delivery.hold == records::Hold::Time) out.field("availableAt", delivery.available_at);
  const AgentState* to = find_agent(delivery.to.value());
  if (to != nullptr && !to->connected()) out.field("offlineSince", to->offline_since());
  out.field("pendingReason", pending_reason(delivery, entry.history.empty() ? "" : entry.history.back().reason));
}

void Core::on_status(ConnectionState& connection, const protocol::Envelope& envelope) {
  if (const auto id = ask(connection, envelope.id, MessageType::StatusResponse)) emit(QueryStats{*id});
}

std::vector<std::string> Core::paused_agents() const {
  constexpr std::size_t kMost = 1'000;
  std::vector<std::string> names;
  for (const auto& [name, agent] : agents_) {
    if (agent.record.paused && names.size() < kMost) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

void Core::stats(QueryId id, Result<records::StoreStats> stats) {
  const auto asked = take_asked(id);
  ConnectionState* connection = asked ? find(asked->connection) : nullptr;
  if (connection == nullptr || connection->phase != Phase::Active) return;
  std::uint64_t pending = 0;
  std::size_t connected = 0;
  for (const auto& [name, agent] : agents_) {
    pending += agent.mailbox.pending;
    if (agent.connected() && !protocol::is_internal_name(name)) ++connected;
  }
  JsonWriter payload;
  payload.field("version", info_.version);
  payload.field("uptime", std::chrono::duration_cast<Millis>(now_.steady - info_.started.value_or(started_)).count());
  payload.field("workspaceUptime", std::chrono::duration_cast<Millis>(now_.steady - started_).count());
  payload.field("cloudConnected", false);
  payload.field("agentCount", connected);
  payload.field("knownAgents", agents_.size());
  payload.field("pending", pending);
  payload.begin_array("paused");
  for (const auto& name : paused_agents()) payload.element(name);
  payload.end();
  payload.field("loops", loops_.open(now_).size());
  if (stats) {
    payload.field("dead", stats->dead);
    if (stats->oldest_pending != 0)
      payload.field("oldestPendingMs", std::max<WallMs>(0, now_.wall - stats->oldest_pending));
  }
  payload.begin_object("storage");
  payload.field("persistent", info_.persistent).field("driver", info_.storage_driver);
  payload.optional("durability", info_.durability);
  if (!info_.damage.empty()) payload.field("damage", info_.damage).field("lostMessages", info_.lost_messages);
  if (info_.refused_changes > 0) payload.field("refusedChanges", info_.refused_changes);
  payload.field("canWrite", store_error_.empty()).field("canRead", stats.has_value());
  if (stats) payload.field("messages", stats->messages).field("bytes", stats->bytes);
  if (!store_error_.empty())
    payload.field("error", store_error_);
  else if (!stats)
    payload.field("error", stats.error().message());
  payload.end();
  respond(*connection, asked->answer, asked->request_id, payload.take());
}

void Core::on_list_agents(ConnectionState& connection, const protocol::Envelope& envelope, bool connected_only) {
  const auto wanted = protocol::parse_list_agents(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  payload.begin_array("agents");
  bool cut = false;
  for (const auto& entry : roster()) {
    const auto& name = entry.agent.name.value();
    if (protocol::is_internal_name(name) || name <= wanted->after) continue;
    if (!wanted->agent.empty() && name != wanted->agent) continue;
    if (!entry.connected && (connected_only || !wanted->include_idle)) continue;
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    payload.begin_element().field("name", name);
    payload.optional("cli", entry.agent.cli);
    payload.field("idle", !entry.connected).optional("sessionId", entry.session);
    payload.optional("task", entry.agent.task).optional("model", entry.agent.model).optional("team", entry.agent.team);
    payload.field("entityType", entry.agent.entity == protocol::EntityType::User ? "user" : "agent");
    payload.field("pending", entry.pending).field("messagesSent", entry.sent).field("messagesReceived", entry.received);
    payload.optional("state", entry.state).optional("reason", entry.reason);
    if (entry.agent.program == protocol::kObserverProgram) payload.field("observed", true);
    if (entry.agent.paused) payload.field("paused", true).optional("pauseReason", entry.agent.pause_reason);
    if (entry.held > 0) payload.field("held", entry.held);
    if (!entry.connected) payload.field("offlineSince", entry.offline_since);
    if (!entry.capabilities.empty()) payload.raw("capabilities", entry.capabilities);
    payload.field("lastSeen", entry.agent.last_seen).end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  respond(connection, connected_only ? MessageType::ListConnectedAgentsResponse : MessageType::ListAgentsResponse,
          envelope.id, payload.take());
}

void Core::on_health(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_health(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  std::vector<std::string> issues;
  if (store_ != StoreHealth::Healthy) issues.emplace_back("messages cannot be stored at the moment");
  if (info_.lost_messages > 0 || damaged_at_work_) issues.push_back(info_.damage);
  if (info_.refused_changes > 0)
    issues.push_back(
        format("the message store refuses {} acknowledged changes; they are kept and tried again at each "
               "start of the daemon",
               info_.refused_changes));
  std::size_t connected = 0;
  for (const auto& [name, agent] : agents_) {
    if (agent.connected()) ++connected;
    if (agent.mailbox.pending >= limits_.max_backlog / 2)
      issues.push_back(format("{} messages wait for {}", agent.mailbox.pending, name));
  }
  JsonWriter payload;
  payload.field("healthScore", store_ == StoreHealth::Healthy ? (issues.empty() ? 100 : 75) : 25);
  payload.field("summary", issues.empty() ? "everything works" : issues.front());
  payload.begin_array("issues");
  for (const auto& issue : issues)
    payload.begin_element()
        .field("severity", store_ == StoreHealth::Healthy ? "medium" : "critical")
        .field("message", issue)
        .end();
  payload.end();
  payload.begin_array("recommendations");
  if (store_ != StoreHealth::Healthy) payload.element("see the daemon's log, and run: agent-relay doctor");
  payload.end();
  payload.begin_array("crashes").end().begin_array("alerts").end();
  payload.begin_object("stats")
      .field("totalCrashes24h", 0)
      .field("totalAlerts24h", 0)
      .field("agentCount", connected)
      .end();
  respond(connection, MessageType::HealthResponse, envelope.id, payload.take());
}

void Core::on_metrics(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_metrics(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  payload.begin_array("agents");
  bool cut = false;
  for (const auto& entry : roster()) {
    const std::string& name = entry.agent.name.value();
    if (!entry.connected || protocol::is_internal_name(name) || (!wanted->empty() && *wanted != name)) continue;
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    const AgentState& agent = *find_agent(name);
    const ConnectionState* first = find(agent.connections.front());
    const auto pid = first == nullptr ? 0 : first->peer.pid;
    const ProcessUsage usage = info_.process_usage ? info_.process_usage(pid) : ProcessUsage{};
    payload.begin_element().field("name", name).field("pid", pid).field("status", "running");
    payload.field("rssBytes", usage.rss_bytes).field("cpuPercent", usage.cpu_percent);
    payload.field("trend", "stable").field("alertLevel", "normal").field("highWatermark", usage.rss_bytes);
    payload.field("uptimeMs", std::chrono::duration_cast<Millis>(now_.steady - agent.connected_at).count()).end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  const MachineUsage machine = info_.machine_usage ? info_.machine_usage() : MachineUsage{};
  payload.begin_object("system").field("totalMemory", machine.total_memory).field("freeMemory", machine.free_memory);
  payload.field("heapUsed", machine.own_memory).end();
  respond(connection, MessageType::MetricsResponse, envelope.id, payload.take());
}

void Core::on_remove_agent(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_remove_agent(envelope.payload);
  if (!wanted) return error(connection, ErrorCode::BadRequest, wanted.error().message());
  const auto answer = [&](ConnectionState& to, std::string_view id, bool success, bool removed,
                          std::string_view message) {
    JsonWriter payload;
    payload.field("success", success).field("removed", removed).field("message", message);
    respond(to, MessageType::RemoveAgentResponse, id, payload.take());
  };
  if (const auto refused = require_user(connection, "remove an agent"))
    return answer(connection, envelope.id, false, false, refused->sentence);
  AgentState* agent = find_agent(wanted->name);
  if (agent == nullptr)
    return answer(connection, envelope.id, true, false, format("nobody here is called '{}'", wanted->name));
  if (agent->connected()) {
    return answer(connection, envelope.id, false, false, format("{} is connected; let it leave first", wanted->name));
  }
  if (agent->removing) {
    return answer(connection, envelope.id, false, false, format("{} is being removed already", wanted->name));
  }
  if (is_starting(wanted->name)) {
    return answer(connection, envelope.id, false, false,
                  format("{} is being started; release it once it runs, then remove it", wanted->name));
  }
  agent->removing = true;
  end_requests(*agent);
  if (agent->session && agent->session->ended == 0)
    change(event_row(events::SessionEnded{.ended_at = now_.wall, .reason = events::SessionEnd::Timeout}, agent->name(),
                     agent->session->id));
  change(records::RemoveAgent{agent->name(), wanted->remove_messages, now_.wall});
  when_committed(
      [this, id = connection.id, request = std::string{envelope.id}, name = wanted->name, answer](CommitResult saving) {
        if (saving == CommitResult::Done) {
          forget_agent(name);
        } else if (AgentState* kept = find_agent(name)) {
          kept->removing = false;
          arm_due(now_.wall);  // what was due meanwhile was passed over
        }
        ConnectionState* asker = find(id);
        if (asker == nullptr || asker->phase != Phase::Active) return;
        if (saving == CommitResult::Done)
          answer(*asker, request, true, true, format("{} was removed", name));
        else
          answer(*asker, request, false, false, format("{} could not be removed from the store; try again", name));
      });
}

void Core::forget_agent(const std::string& name) {
  AgentState* agent = find_agent(name);
  if (agent == nullptr) return;
  if (agent->session) unindex_session(*agent);
  std::vector<std::pair<Key, Key>> cancelled;  // message, delivery
  for (const auto& [message, awaited] : receipts_) {
    for (const auto& [delivery, to] : awaited.open) {
      if (to == agent->name()) cancelled.emplace_back(message, delivery);
    }
  }
  for (const auto& [message, delivery] : cancelled) {
    send_receipt(message, {.key = delivery,
                           .state = records::DeliveryState::Cancelled,
                           .at = now_.wall,
                           .reason = format("{} was removed", name)});
  }
  for (auto place = channels_.begin(); place != channels_.end();) {
    membership_count_ -= place->second.erase(agent->name());
    place = place->second.empty() ? channels_.erase(place) : std::next(place);
  }
  loops_.forget(name);
  // Its streams keep their numbers: somebody who comes back under the name must not be taken for a repetition.
  erase_agent(std::string{name});
  emit(RosterChanged{});
}

void Core::on_log(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto line = protocol::parse_log(envelope.payload);
  if (!line) return error(connection, ErrorCode::BadRequest, line.error().message());
  if (watchers_.empty()) return;
  JsonWriter payload;
  payload.field("type", "log").field("agent", connection.agent.value()).field("data", line->data);
  payload.field("timestamp", line->timestamp != 0 ? line->timestamp : now_.wall);
  send_log(payload.take());
}

void Core::on_session_state(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto change = protocol::parse_session_state(envelope.payload);
  if (!change) return error(connection, ErrorCode::BadRequest, change.error().message());
  note(WriteLog::Level::Debug, format("{} is {}", connection.agent.value(), change->state));
  AgentState* const agent = find_agent(connection.agent.value());
  if (agent == nullptr) return;
  auto told = *change;
  if (told.capabilities.empty()) told.capabilities = std::move(agent->activity.capabilities);  // said once is enough
  if (!told.modes) told.modes = agent->activity.modes;
  if (told.boundary) agent->boundaries[*told.boundary] = newest_;  // what is here by now is for this moment
  const bool other_modes = told.modes != agent->activity.modes;
  if (told.state != agent->activity.state) record_event(activity_event(told), *agent);
  agent->activity = std::move(told);
  if (other_modes) scan_unsupported(*agent);
  deliver_pending(*agent);
}

}  // namespace relay::broker
