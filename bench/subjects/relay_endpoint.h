/// An agent of the relay protocol, for this daemon and the 1.x daemon, which has no confirmations.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>

#include "subjects/endpoint.h"
#include "subjects/peer.h"

namespace relay::bench {

struct Hello {
  std::string name;
  bool confirms = false;          // requests ACK or NACK for each SEND
  std::string outbox = {};        // the epoch of its ids, as in hosts and SDK sessions
  std::string resume_token = {};  // of an earlier WELCOME
};
std::string hello_frame(const Hello& hello);
/// Waits for WELCOME and returns the resume token.
Result<std::string> read_welcome(Peer& peer);

/// True when the daemon resends deliveries that were acknowledged late, so that duplicates must be filtered.
enum class Repeats { No, Yes };

class RelayEndpoint final : public Endpoint {
 public:
  /// Created after WELCOME. Ids are `<epoch>-<n>`.
  RelayEndpoint(Peer peer, std::string epoch, Repeats repeats = Repeats::No)
      : peer_{std::move(peer)}, epoch_{std::move(epoch)}, repeats_{repeats} {}

  void send(std::string_view to, std::string_view body) override;
  Result<ReadCounts> read() override;
  ByteSocket& socket() override { return peer_; }

 private:
  Peer peer_;
  std::string epoch_;
  Repeats repeats_;
  std::unordered_set<std::string> delivered_;  // ids, when there are duplicates
  std::uint64_t sent_ = 0;
};

}  // namespace relay::bench
