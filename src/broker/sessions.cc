#include "broker/sessions.h"

#include <algorithm>

#include "base/format.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::Fatal;
using protocol::MessageType;

namespace {

/// After a start of the daemon every session has at least this time to reconnect: a client pauses for up to 34.5 s
/// between two attempts.
constexpr Millis kRestartGrace{45'000};

}  // namespace

Sessions::Sessions(const Parts& parts, std::string store_id) : parts_{parts}, store_id_{std::move(store_id)} {}

void Sessions::restore(records::WorkspaceState& state) {
  for (auto& session : state.sessions) {
    AgentState* agent = parts_.agents.find(session.agent.value());
    // The newest session counts; an older one that was never ended has been superseded.
    if (agent == nullptr || (agent->session && agent->session->started > session.started)) continue;
    parts_.audiences.open_session(*agent, {std::exchange(session.topics, {}), std::exchange(session.shadows, {})});
    agent->session.write() = std::move(session);
    agent->lease->session_saved = true;
    auto& times = agent->times.write();
    times.lost_at = parts_.context.steady();  // its grace starts again: the daemon was down, not the session
    const bool was_connected = agent->record->last_seen <= agent->session->last_seen;  // see mark_reconnected
    if (was_connected) times.restored_at = parts_.context.wall();
    arm_grace(*agent, std::max(Millis{parts_.context.limits().session_grace_ms}, kRestartGrace));
  }
  find_ended_sessions();
}

void Sessions::on_connect(ConnectionId id, PeerProcess peer) {
  ConnectionState& connection = parts_.connections.add(id, std::move(peer));
  if (shutting_down_) return close(connection, "the daemon is stopping");
  parts_.context.arm(parts_.context.steady() + Millis{parts_.context.limits().handshake_ms},
                     {.kind = TimerKind::Handshake, .connection = id.value()});
}

bool Sessions::hold_frame(ConnectionState& connection, std::string_view frame) {
  auto& held = connection.handshake->held;
  if (connection.phase != Phase::Opening && held.empty()) return false;
  held.emplace_back(frame);
  return true;
}

void Sessions::on_handshake_timeout(ConnectionState& connection) {
  if (connection.phase != Phase::AwaitingHello) return;
  parts_.connections.send_error(
      connection, ErrorCode::Timeout,
      format("no HELLO within {} ms; connect again and send HELLO", parts_.context.limits().handshake_ms), Fatal::Yes);
  close(connection, "no HELLO");
}

void Sessions::poll_heartbeat(ConnectionState& connection, SteadyTime due) {
  if (connection.phase != Phase::Active) return;
  if (parts_.connections.poll_heartbeat(connection, due) == Connections::Liveness::Alive) return;
  parts_.context.log(WriteLog::Level::Info, format("{} was silent for {} ms; closing it", connection.agent->value(),
                                                   2 * parts_.context.limits().heartbeat_ms));
  parts_.connections.send_error(connection, ErrorCode::Timeout, "heartbeat timeout; connect again", Fatal::No);
  close(connection, "heartbeat timeout");
}

void Sessions::close(ConnectionState& connection, std::string reason) {
  if (connection.phase == Phase::Closing) return;
  detach(connection);
  parts_.connections.set_phase(connection, Phase::Closing);
  connection.handshake->held.clear();
  parts_.context.emit(Close{connection.id, After::Flush, std::move(reason)});
}

void Sessions::on_disconnect(ConnectionState& connection, std::string_view reason) {
  if (connection.phase == Phase::Closing) return;
  if (connection.phase == Phase::Active && !connection.query_only)
    parts_.context.log(WriteLog::Level::Info, format("{} left: {}", connection.agent->value(), reason));
  detach(connection);
}

void Sessions::shut_down(std::string_view reason) {
  shutting_down_ = true;
  parts_.commits.probe_store();
  parts_.commits.when_committed([this, reason = std::string{reason}](CommitResult) { send_bye_to_all(reason); });
}

void Sessions::send_bye_to_all(const std::string& reason) {
  text::JsonWriter payload;  // without `end`: it ends no session
  payload.field("reason", reason);
  const auto bye = payload.take();
  std::vector<ConnectionId> open;
  for (auto& [id, connection] : parts_.connections.all()) open.push_back(connection.id);
  std::ranges::sort(open);
  for (const ConnectionId id : open) {
    ConnectionState& connection = *parts_.connections.find(id);
    if (connection.phase == Phase::Closing) continue;
    parts_.connections.send_new(connection, MessageType::Bye, bye);
    close(connection, reason);
  }
}

}  // namespace relay::broker
