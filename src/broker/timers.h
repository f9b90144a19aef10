/// The timers of the broker.
///
/// Entries are never cancelled: the called part checks whether the timer is still needed. To stay bounded, each
/// connection and each agent has at most one entry of a kind, which is armed again when it fires.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace relay::broker {

enum class TimerKind : std::uint8_t {
  Handshake,          // connection: no HELLO in time
  Heartbeat,          // connection: the next poll
  RatePause,          // connection: resume reading
  Resend,             // agent: resend unacknowledged deliveries
  ReloadRetry,        // agent: a page could not be read
  SyncTimeout,        // correlation id: no answer in time
  Proposal,           // proposal id: voting ends
  SubscriptionRetry,  // connection: a page of events could not be read
  SaveRetry,          // the store failed: probe it
  Release,            // agent: released and ended, but its session is still connected
  Prompts,            // agent: a prompt times out
  SessionGrace,       // agent: its connection was lost
  Due,                // deliveries that were deferred
};

struct TimerEntry {
  TimerKind kind{};
  std::uint64_t connection = 0;
  std::string name = {};
};

class Timers {
 public:
  void arm(SteadyTime at, TimerEntry entry) { entries_.emplace(at, std::move(entry)); }

  [[nodiscard]] std::optional<SteadyTime> next() const {
    if (entries_.empty()) return std::nullopt;
    return entries_.begin()->first;
  }

  /// The earliest due entry, with its due time.
  std::optional<std::pair<SteadyTime, TimerEntry>> pop_due(SteadyTime now) {
    if (entries_.empty() || entries_.begin()->first > now) return std::nullopt;
    auto node = entries_.extract(entries_.begin());
    return std::pair{node.key(), std::move(node.mapped())};
  }

 private:
  std::multimap<SteadyTime, TimerEntry> entries_;
};

}  // namespace relay::broker
