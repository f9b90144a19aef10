/// The open connections: frames to them, whether they are read, whether their peers are alive.
///
/// Invariants: the bytes of an emitted frame count as queued until the kernel has taken them. Reading pauses for any of
///   the `Pause` reasons and resumes when the last of them has ended.
/// Threading: the broker's.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>

#include "broker/connection_state.h"
#include "broker/context.h"
#include "protocol/envelope.h"
#include "protocol/send.h"

namespace relay::broker {

class Connections {
 public:
  explicit Connections(Context& context) : context_{context} {}

  ConnectionState& add(ConnectionId id, PeerProcess peer);
  [[nodiscard]] ConnectionState* find(ConnectionId id) {
    const auto found = connections_.find(id.value());
    return found == connections_.end() ? nullptr : &found->second;
  }
  void erase(ConnectionId id) { connections_.erase(id.value()); }
  /// In no order.
  [[nodiscard]] auto& all() { return connections_; }
  void set_phase(ConnectionState& connection, Phase phase) { connection.phase.write() = phase; }

  // Frames.
  void send(ConnectionState& connection, std::string frame);
  void send(ConnectionState& connection, const protocol::OutEnvelope& envelope);
  /// An envelope with a new id and the present time.
  void send_new(ConnectionState& connection, protocol::MessageType type, std::string_view payload,
                std::string_view from = {}, std::string_view to = {});
  /// The response to a request, under the request's id.
  void respond(ConnectionState& connection, protocol::MessageType type, std::string_view request_id,
               std::string_view payload);
  void send_error(ConnectionState& connection, protocol::ErrorCode code, std::string_view message,
                  protocol::Fatal fatal = protocol::Fatal::No);
  /// The id of the frame that is being handled: an error for a query-only connection names it.
  void set_handled_frame(std::string_view id) { handled_frame_ = id; }

  // Reading.
  void pause(ConnectionState& connection, Pause reason);
  void resume(ConnectionState& connection, Pause reason);
  [[nodiscard]] static bool is_paused(const ConnectionState& connection) { return connection.flow->pauses != 0; }
  /// True if few enough bytes are queued for more to be sent.
  [[nodiscard]] bool has_room(const ConnectionState& connection) const {
    return connection.flow->queued_bytes < context_.limits().max_queued_bytes;
  }

  // Heartbeats.
  void start_heartbeat(ConnectionState& connection);
  void on_received(ConnectionState& connection) { connection.flow->heartbeat.on_activity(context_.steady()); }
  /// The kernel took bytes; `left` are still queued.
  void on_written(ConnectionState& connection, std::size_t left);
  enum class Liveness : std::uint8_t { Alive, Lost };
  /// Sends PING when it is due, and arms the next poll while the peer is alive.
  Liveness poll_heartbeat(ConnectionState& connection, SteadyTime due);

 private:
  Context& context_;
  std::unordered_map<std::uint64_t, ConnectionState> connections_;
  std::string_view handled_frame_ = {};
};

}  // namespace relay::broker
