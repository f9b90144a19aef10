#include "broker/connections.h"

#include "base/format.h"

namespace relay::broker {

using protocol::ErrorCode;
using protocol::MessageType;

namespace {

/// Due times of heartbeats are rounded up to this fraction of the interval: a thousand idle agents cost ten wake-ups
/// per interval instead of a thousand.
constexpr int kHeartbeatSlots = 10;

SteadyTime rounded_up(SteadyTime when, Millis slot) {
  if (slot.count() <= 0) return when;
  const auto step = std::chrono::nanoseconds{slot};
  const auto past = when.time_since_epoch() % step;
  return past.count() == 0 ? when : when + (step - past);
}

}  // namespace

ConnectionState& Connections::add(ConnectionId id, PeerProcess peer) {
  ConnectionState& connection = connections_[id.value()];
  connection.id.write() = id;
  connection.peer.write() = std::move(peer);
  return connection;
}

void Connections::send(ConnectionState& connection, std::string frame) {
  if (frame.size() > protocol::kMaxFrameBytes) {
    // Every writer of frames has its own bound. If one is wrong, one request stays unanswered and nothing else fails.
    context_.log(WriteLog::Level::Warn, format("a frame of {} bytes for {} does not fit and was not sent", frame.size(),
                                               connection.agent->value()));
    send_error(connection, ErrorCode::Internal, "the response was too large to send; request less");
    return;
  }
  connection.flow->queued_bytes += frame.size();
  connection.flow->heartbeat.on_sent(context_.steady());
  context_.emit(SendFrame{connection.id, std::move(frame)});
}

void Connections::send(ConnectionState& connection, const protocol::OutEnvelope& envelope) {
  send(connection, protocol::write_envelope(envelope));
}

void Connections::send_new(ConnectionState& connection, MessageType type, std::string_view payload,
                           std::string_view from, std::string_view to) {
  const std::string id = context_.fresh_id();
  send(connection, {.type = type, .id = id, .ts = context_.wall(), .from = from, .to = to, .payload = payload});
}

void Connections::respond(ConnectionState& connection, MessageType type, std::string_view request_id,
                          std::string_view payload) {
  send(connection, {.type = type, .id = request_id, .ts = context_.wall(), .payload = payload});
}

void Connections::send_error(ConnectionState& connection, ErrorCode code, std::string_view message,
                             protocol::Fatal fatal) {
  const auto payload = protocol::write_error(code, message, fatal);
  if (connection.query_only && !handled_frame_.empty())  // many requests may be open: the id says which one failed
    return respond(connection, MessageType::Error, handled_frame_, payload);
  send_new(connection, MessageType::Error, payload);
}

void Connections::pause(ConnectionState& connection, Pause reason) {
  auto& pauses = connection.flow->pauses;
  if (pauses == 0) context_.emit(PauseReading{connection.id});
  pauses |= static_cast<std::uint8_t>(reason);
}

void Connections::resume(ConnectionState& connection, Pause reason) {
  auto& pauses = connection.flow->pauses;
  const auto bit = static_cast<std::uint8_t>(reason);
  if ((pauses & bit) == 0) return;
  pauses = static_cast<std::uint8_t>(pauses & ~bit);
  if (pauses != 0) return;
  connection.flow->heartbeat.on_activity(context_.steady());  // nothing was read from it meanwhile
  context_.emit(ResumeReading{connection.id});
}

void Connections::start_heartbeat(ConnectionState& connection) {
  connection.flow->heartbeat = Heartbeat{Millis{context_.limits().heartbeat_ms}, context_.steady()};
  context_.arm(connection.flow->heartbeat.next(), {.kind = TimerKind::Heartbeat, .connection = connection.id->value()});
}

void Connections::on_written(ConnectionState& connection, std::size_t left) {
  auto& flow = *connection.flow;
  flow.queued_bytes = left;
  // Room in a socket's buffer proves nothing. A full buffer that has room again proves that the peer reads.
  if (flow.stuck) flow.heartbeat.on_activity(context_.steady());
  flow.stuck = left > 0;
}

Connections::Liveness Connections::poll_heartbeat(ConnectionState& connection, SteadyTime due) {
  auto& flow = *connection.flow;
  const Millis interval{context_.limits().heartbeat_ms};
  // Called late by more than an interval: the daemon was suspended, so the time of every peer starts again.
  if (context_.steady() - due > interval || flow.pauses != 0) flow.heartbeat.on_activity(context_.steady());
  if (flow.stuck) flow.heartbeat.on_sent(context_.steady());  // it still has something to read
  switch (flow.heartbeat.poll(context_.steady())) {
    case Heartbeat::Action::Fine: break;
    case Heartbeat::Action::SendPing:
      send_new(connection, MessageType::Ping, format(R"({{"nonce":"{}"}})", context_.random_hex(8)));
      break;
    case Heartbeat::Action::PeerLost: return Liveness::Lost;
  }
  context_.arm(rounded_up(flow.heartbeat.next(), interval / kHeartbeatSlots),
               {.kind = TimerKind::Heartbeat, .connection = connection.id->value()});
  return Liveness::Alive;
}

}  // namespace relay::broker
