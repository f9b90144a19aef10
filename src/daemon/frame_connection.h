/// One client's stream, decoded into frames and encoded from them.
///
/// Why its own class: workspaces and the daemon's control socket share the framing but not the meaning of frames.
/// Invariants: frames reach the owner strictly in order; while paused neither reading nor parsing continues, so bytes
///   already read stay in the FrameReader; responses use the header style that the peer chose; after `close` nothing is
///   reported.
/// Ownership: owns the stream; borrows the owner, which outlives it and must not destroy a FrameConnection inside one
///   of its calls (destroy it from a posted task).
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "broker/effects.h"
#include "net/stream.h"
#include "protocol/frame.h"

namespace relay::daemon {

using broker::ConnectionId;

class ConnectionOwner {
 public:
  virtual ~ConnectionOwner() = default;
  /// One frame's JSON body; the bytes are invalid after the return.
  virtual void on_frame(ConnectionId from, std::string_view body) = 0;
  /// The peer broke the framing rules; no frame follows.
  virtual void on_bad_stream(ConnectionId from, std::string_view reason) = 0;
  virtual void on_written(ConnectionId by, std::size_t bytes_left) = 0;
  /// The peer disconnected. The last call.
  virtual void on_closed(ConnectionId from, const std::string& reason) = 0;
};

class FrameConnection final : public net::StreamListener {
 public:
  FrameConnection(ConnectionId id, std::unique_ptr<net::Stream> stream, ConnectionOwner& owner);

  void start();
  void send(std::string_view body);
  void pause();
  /// Resumes reading. `parse_buffered` reports the frames read before, not this call.
  void resume();
  /// Reports the frames that arrived while paused.
  void parse_buffered();
  void close(net::Drain drain);

  [[nodiscard]] ConnectionId id() const { return id_; }
  [[nodiscard]] std::size_t bytes_waiting() const { return stream_->bytes_waiting(); }
  [[nodiscard]] net::Peer peer() const { return stream_->peer(); }

 private:
  void on_bytes(std::string_view bytes) override;
  void on_written(std::size_t bytes_left) override;
  void on_closed(const std::string& reason) override;

  enum class State { Reading, Paused, Broken, Closed };

  ConnectionId id_;
  std::unique_ptr<net::Stream> stream_;
  ConnectionOwner& owner_;
  protocol::FrameReader reader_;
  State state_ = State::Reading;
  bool parsing_ = false;  // a resume inside a call to the owner must not start a second loop
};

}  // namespace relay::daemon
