/// The bounds of one broker.
#pragma once

#include <cstddef>
#include <cstdint>

#include "protocol/limits.h"

namespace relay::broker {

struct BrokerLimits {
  std::int64_t heartbeat_ms = protocol::kHeartbeatMs;
  std::int64_t handshake_ms = protocol::kHandshakeTimeoutMs;
  std::int64_t ack_timeout_ms = protocol::kAckTimeoutMs;
  std::int64_t session_grace_ms = 60'000;   // a lost session counts as present; after that it ends as crashed
  std::int64_t claim_lease_ms = 3'600'000;  // how long a lost session keeps its claim on the name
  std::int64_t default_ttl_ms = 7LL * 24 * 3600 * 1000;
  std::uint64_t max_backlog = 1'000'000;  // pending deliveries per recipient

  // Uncommitted bytes per connection; beyond them the daemon stops reading. Uncommitted bytes delay the next message.
  std::size_t max_uncommitted_bytes = 256 << 10;  // messages of the only active sender
  std::size_t shared_uncommitted_bytes =
      2 << 10;                              // messages of each sender when several are active, but always one frame
  std::size_t max_retried_bytes = 4 << 20;  // all other frames: receipts, topics, votes
  std::size_t max_uncommitted_total = 128 << 20;  // all connections together, which bounds memory

  std::size_t max_queued_bytes = 1 << 20;  // written to a stream and not taken by the kernel; beyond, nothing is sent
  std::size_t max_page_rows = 512;         // deliveries held ready per recipient
  std::size_t max_page_bytes = 1 << 20;
  double rate_per_second = 100'000;  // SENDs per sender; 0 means no limit
  double rate_burst = 200'000;
  std::size_t max_agents = 100'000;                 // names that are unused longest are forgotten for new ones
  std::size_t max_description_bytes = 64ULL << 20;  // of the descriptions of all agents; likewise
  std::size_t max_streams = 1'000'000;              // (topic, from → to) with a number
  std::size_t max_topic_streams = 16'384;           // of those, with a topic and of one sender; idle ones are forgotten
  std::size_t max_open_queries = 64;                // per connection
  std::size_t max_starting = 64;                    // agents being started for others at once
  std::size_t max_starting_each = 16;               // of those, per connection
  bool explain = false;                             // log every decision at debug level
  bool break_loops = true;                          // stop agents that only repeat each other
};

}  // namespace relay::broker
