/// A stream whose peer is the test, which sends bytes to its listener and reads what was written.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "net/stream.h"

namespace relay::daemon::testing {

/// The peer of a FakeStream; outlives it.
struct FakePeer {
  net::StreamListener* listener = nullptr;
  std::string received;     // everything written to the stream
  std::size_t waiting = 0;  // simulated unread bytes
  bool paused = false;
  std::optional<net::Drain> closed;

  void send(std::string_view bytes) { listener->on_bytes(bytes); }
  void disconnect() { listener->on_closed("the peer closed the connection"); }
};

class FakeStream final : public net::Stream {
 public:
  explicit FakeStream(std::shared_ptr<FakePeer> peer) : peer_{std::move(peer)} {}

  void start(net::StreamListener& listener) override { peer_->listener = &listener; }
  void write(std::string_view bytes) override { peer_->received.append(bytes); }
  [[nodiscard]] std::size_t bytes_waiting() const override { return peer_->waiting; }
  void pause_reading() override { peer_->paused = true; }
  void resume_reading() override { peer_->paused = false; }
  void close(net::Drain drain) override { peer_->closed = drain; }
  [[nodiscard]] net::Peer peer() const override { return {.uid = 1000, .gid = 1000, .pid = 42}; }

 private:
  std::shared_ptr<FakePeer> peer_;
};

}  // namespace relay::daemon::testing
