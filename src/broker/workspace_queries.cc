#include "broker/workspace_queries.h"

#include <algorithm>

#include "base/format.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;
using text::JsonWriter;

void WorkspaceQueries::on_status(ConnectionState& connection, const protocol::Envelope& envelope) {
  queries_.for_client(connection, envelope.id, MessageType::StatusResponse, records::StatsQuery{},
                      [this](auto& client, const ClientRequest& request, const Result<records::StoreStats>& stats) {
                        requests_.respond(client, request, status(stats));
                      });
}

std::vector<std::string> WorkspaceQueries::paused_agents() const {
  constexpr std::size_t kMaxNames = 1'000;
  std::vector<std::string> names;
  for (const auto& [name, agent] : agents_.all()) {
    if (agent.record->paused && names.size() < kMaxNames) names.push_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::string WorkspaceQueries::status(const Result<records::StoreStats>& stats) const {
  std::uint64_t pending = 0;
  std::size_t connected = 0;
  for (const auto& [name, agent] : agents_.all()) {
    pending += agent.mailbox.pending();
    if (agent.connected() && !protocol::is_internal_name(name)) ++connected;
  }
  JsonWriter payload;
  payload.field("version", info_.version);
  payload.field("uptime",
                std::chrono::duration_cast<Millis>(context_.steady() - info_.started.value_or(started_)).count());
  payload.field("workspaceUptime", std::chrono::duration_cast<Millis>(context_.steady() - started_).count());
  payload.field("cloudConnected", false);
  payload.field("agentCount", connected);
  payload.field("knownAgents", agents_.size());
  payload.field("pending", pending);
  payload.begin_array("paused");
  for (const auto& name : paused_agents()) payload.element(name);
  payload.end();
  payload.field("loops", loops_.open(context_.now()).size());
  if (stats) {
    payload.field("dead", stats->dead);
    if (stats->oldest_pending != 0)
      payload.field("oldestPendingMs", std::max<WallMs>(0, context_.wall() - stats->oldest_pending));
  }
  payload.begin_object("storage");
  payload.field("persistent", info_.persistent).field("driver", info_.storage_driver);
  payload.optional("durability", info_.durability);
  if (!info_.damage.empty()) payload.field("damage", info_.damage).field("lostMessages", info_.lost_messages);
  if (info_.refused_changes > 0) payload.field("refusedChanges", info_.refused_changes);
  payload.field("canWrite", commits_.error().empty()).field("canRead", stats.has_value());
  if (stats) payload.field("messages", stats->messages).field("bytes", stats->bytes);
  if (!commits_.error().empty())
    payload.field("error", commits_.error());
  else if (!stats)
    payload.field("error", stats.error().message());
  payload.end();
  return payload.take();
}

void WorkspaceQueries::on_list_agents(ConnectionState& connection, const protocol::Envelope& envelope) {
  list_agents(connection, envelope, false);
}

void WorkspaceQueries::on_list_connected_agents(ConnectionState& connection, const protocol::Envelope& envelope) {
  list_agents(connection, envelope, true);
}

void WorkspaceQueries::list_agents(ConnectionState& connection, const protocol::Envelope& envelope,
                                   bool connected_only) {
  const auto wanted = protocol::parse_list_agents(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  payload.begin_array("agents");
  bool cut = false;
  for (const auto& entry : agents_.roster()) {
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
  connections_.respond(connection,
                       connected_only ? MessageType::ListConnectedAgentsResponse : MessageType::ListAgentsResponse,
                       envelope.id, payload.take());
}

void WorkspaceQueries::on_health(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_health(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  std::vector<std::string> issues;
  if (!commits_.is_healthy()) issues.emplace_back("messages cannot be stored at the moment");
  if (info_.lost_messages > 0 || damaged_while_running_) issues.push_back(info_.damage);
  if (info_.refused_changes > 0)
    issues.push_back(
        format("the message store refuses {} acknowledged changes; they are retained and retried at each "
               "start of the daemon",
               info_.refused_changes));
  std::size_t connected = 0;
  for (const auto& [name, agent] : agents_.all()) {
    if (agent.connected()) ++connected;
    if (agent.mailbox.pending() >= context_.limits().max_backlog / 2)
      issues.push_back(format("{} has {} pending messages", name, agent.mailbox.pending()));
  }
  JsonWriter payload;
  payload.field("healthScore", commits_.is_healthy() ? (issues.empty() ? 100 : 75) : 25);
  payload.field("summary", issues.empty() ? "everything works" : issues.front());
  payload.begin_array("issues");
  for (const auto& issue : issues)
    payload.begin_element()
        .field("severity", commits_.is_healthy() ? "medium" : "critical")
        .field("message", issue)
        .end();
  payload.end();
  payload.begin_array("recommendations");
  if (!commits_.is_healthy()) payload.element("see the daemon's log, and run: agent-relay doctor");
  payload.end();
  payload.begin_array("crashes").end().begin_array("alerts").end();
  payload.begin_object("stats")
      .field("totalCrashes24h", 0)
      .field("totalAlerts24h", 0)
      .field("agentCount", connected)
      .end();
  connections_.respond(connection, MessageType::HealthResponse, envelope.id, payload.take());
}

void WorkspaceQueries::on_metrics(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto wanted = protocol::parse_metrics(envelope.payload);
  if (!wanted) return connections_.send_error(connection, ErrorCode::BadRequest, wanted.error().message());
  JsonWriter payload;
  payload.begin_array("agents");
  bool cut = false;
  for (const auto& entry : agents_.roster()) {
    const std::string& name = entry.agent.name.value();
    if (!entry.connected || protocol::is_internal_name(name) || (!wanted->empty() && *wanted != name)) continue;
    cut = payload.size() > protocol::kMaxResponseBytes;
    if (cut) break;
    const AgentState& agent = *agents_.find(name);
    const ConnectionState* first = connections_.find(agent.connections->front());
    const auto pid = first == nullptr ? 0 : first->peer->pid;
    const ProcessUsage usage = info_.process_usage ? info_.process_usage(pid) : ProcessUsage{};
    payload.begin_element().field("name", name).field("pid", pid).field("status", "running");
    payload.field("rssBytes", usage.rss_bytes).field("cpuPercent", usage.cpu_percent);
    payload.field("trend", "stable").field("alertLevel", "normal").field("highWatermark", usage.rss_bytes);
    payload.field("uptimeMs", std::chrono::duration_cast<Millis>(context_.steady() - agent.times->connected_at).count())
        .end();
  }
  payload.end();
  if (cut) payload.field("more", true);
  const MachineUsage machine = info_.machine_usage ? info_.machine_usage() : MachineUsage{};
  payload.begin_object("system").field("totalMemory", machine.total_memory).field("freeMemory", machine.free_memory);
  payload.field("heapUsed", machine.own_memory).end();
  connections_.respond(connection, MessageType::MetricsResponse, envelope.id, payload.take());
}

void WorkspaceQueries::on_loops(ConnectionState& connection, const protocol::Envelope& envelope) {
  JsonWriter payload;
  payload.begin_array("breakers");
  for (const auto& trip : loops_.open(context_.now())) {
    if (payload.size() > protocol::kMaxResponseBytes) break;
    payload.begin_element().field("from", trip.from).field("to", trip.to).field("reason", trip.reason);
    payload.field("at", trip.at).field("until", trip.until).field("trips", trip.trips).field("refused", trip.refused);
    payload.end();
  }
  payload.end();
  connections_.respond(connection, MessageType::LoopsResponse, envelope.id, payload.take());
}

void WorkspaceQueries::on_damage(const StoreDamage& damage) {
  if (info_.damage.find(damage.finding) == std::string::npos)
    info_.damage += (info_.damage.empty() ? "" : "; ") + damage.finding;
  info_.lost_messages += damage.lost_messages;
  info_.refused_changes = std::max(info_.refused_changes, damage.refused_changes);
  damaged_while_running_ = true;
  event_recorder_.record(events::RelayDamaged{.reason = damage.reason,
                                              .lost_messages = static_cast<std::int64_t>(damage.lost_messages),
                                              .files = damage.files},
                         AgentName{}, SessionId{});
}

}  // namespace relay::broker
