/// Unix sockets of this machine: listen, accept clients of the same user only, connect.
///
/// Invariants: a listener's socket file is private (0600) from the start and removed with the listener, unless another
///   program replaced it; a peer of another user is disconnected before a byte is read.
/// Ownership: borrows the loop; pending connection attempts end with the network, without a callback.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>

#include "net/asio_loop.h"
#include "net/stream.h"

namespace relay::net {

class StreamHub;

class UnixNetwork final : public Network {
 public:
  explicit UnixNetwork(AsioLoop& loop);
  ~UnixNetwork() override;

  Result<std::unique_ptr<Listener>> listen(const std::string& path, OnAccept on_accept) override;
  void connect(const std::string& path, OnConnect on_connect) override;

 private:
  class Connecting;

  AsioLoop& loop_;
  std::shared_ptr<StreamHub> hub_;
  std::unordered_map<std::uint64_t, std::unique_ptr<Connecting>> connecting_;
  std::uint64_t last_attempt_ = 0;
};

}  // namespace relay::net
