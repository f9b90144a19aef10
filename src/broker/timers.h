/// What waits for time inside the broker.
///
/// Entries are never removed early: whoever is called looks whether the reason still holds. So that this stays
/// bounded, each connection and each agent has at most one entry of a kind, which it re-arms when called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace relay::broker {

enum class TimerKind : std::uint8_t {
  Handshake,     // connection: has it said HELLO?
  Heartbeat,     // connection: is it alive?
  RatePause,     // connection: may it be read again?
  Resend,        // agent: which deliveries want repeating?
  ReloadRetry,   // agent: a page could not be read
  SyncTimeout,   // correlation id: nobody answered
  Proposal,      // proposal id: voting ends
  WatchRetry,    // connection: a page of the past could not be read
  SaveRetry,     // changes that could not be saved
  Leaving,       // agent: released and gone, but its session is still here
  Requests,      // agent: what it asks has waited long enough
  SessionGrace,  // agent: it was lost and has not returned
  Due,           // deliveries that were put off may go
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

  /// The earliest entry that is due, with the time it was due at.
  std::optional<std::pair<SteadyTime, TimerEntry>> pop_due(SteadyTime now) {
    if (entries_.empty() || entries_.begin()->first > now) return std::nullopt;
    auto node = entries_.extract(entries_.begin());
    return std::pair{node.key(), std::move(node.mapped())};
  }

 private:
  std::multimap<SteadyTime, TimerEntry> entries_;
};

}  // namespace relay::broker
