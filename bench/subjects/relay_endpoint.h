/// An agent of this protocol: ours, and the 1.x daemon's, which knows no confirmation.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "subjects/endpoint.h"
#include "subjects/peer.h"

namespace relay::bench {

struct Hello {
  std::string name;
  bool confirms = false;          // wants ACK or NACK for each SEND
  std::string outbox = {};        // the epoch of its ids, as hosts and SDK sessions have one
  std::string resume_token = {};  // of an earlier welcome
};
std::string hello_frame(const Hello& hello);
/// Waits for it; returns the resume token.
Result<std::string> read_welcome(Peer& peer);

/// Does the daemon send again what was acknowledged too late for it? Then repetitions must be told apart.
enum class Repeats { No, Yes };

class RelayEndpoint final : public Endpoint {
 public:
  /// After the welcome. Ids are `<epoch>-<n>`.
  RelayEndpoint(Peer peer, std::string epoch, Repeats repeats = Repeats::No)
      : peer_{std::move(peer)}, epoch_{std::move(epoch)}, repeats_{repeats} {}

  void send(std::string_view to, std::string_view body) override;
  Result<Heard> hear() override;
  ByteSocket& socket() override { return peer_; }

 private:
  Peer peer_;
  std::string epoch_;
  Repeats repeats_;
  std::unordered_set<std::string> delivered_;  // ids, where there are repetitions
  std::uint64_t sent_ = 0;
};

}  // namespace relay::bench
