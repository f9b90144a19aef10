/// The timers of the broker.
///
/// Entries are never removed early: the part that is called checks whether the reason still holds. To stay bounded, each
/// connection and each agent has at most one entry of a kind, and arms it again when it is called.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"

namespace relay::broker {

enum class TimerKind : std::uint8_t {
  Handshake,          // connection: did HELLO come?
  Heartbeat,          // connection: is it alive?
  RatePause,          // connection: may it be read again?
  Resend,             // agent: which deliveries are sent again?
  ReloadRetry,        // agent: a page could not be read
  SyncTimeout,        // correlation id: no answer came
  Proposal,           // proposal id: voting ends
  SubscriptionRetry,  // connection: a page of events could not be read
  SaveRetry,          // the store failed: try again
  Release,            // agent: released and ended, but its session is still connected
  Prompts,            // agent: a prompt is denied because nobody answered
  SessionGrace,       // agent: it was lost and has not returned
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
