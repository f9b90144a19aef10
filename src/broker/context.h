/// The services that every part uses: emit an effect, read the clock, create an id, arm a timer.
///
/// Invariants: effects keep the order in which they were emitted; keys only grow.
/// Ownership: borrows the Random, which outlives it. Threading: the broker's.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/random.h"
#include "broker/broker_limits.h"
#include "broker/effects.h"
#include "broker/timers.h"

namespace relay::broker {

class Context {
 public:
  Context(const BrokerLimits& limits, Random& random, Timestamp now, Key newest)
      : limits_{limits}, random_{random}, now_{now}, newest_{newest} {}
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] const BrokerLimits& limits() const { return limits_; }

  [[nodiscard]] const Timestamp& now() const { return now_; }
  [[nodiscard]] SteadyTime steady() const { return now_.steady; }
  [[nodiscard]] WallMs wall() const { return now_.wall; }
  void set_now(Timestamp now) { now_ = now; }

  void emit(Effect effect) { effects_.push_back(std::move(effect)); }
  void log(WriteLog::Level level, std::string text) { emit(WriteLog{level, std::move(text)}); }
  Effects take_effects() { return std::exchange(effects_, {}); }
  /// Executed effects: their memory is reused.
  void recycle(Effects effects);

  [[nodiscard]] std::string random_hex(std::size_t bytes) { return random_.hex(bytes); }
  /// The id of one of the broker's own frames or messages.
  [[nodiscard]] std::string fresh_id() { return random_.hex(12); }
  [[nodiscard]] Key next_key() { return newest_ = Key{newest_.value() + 1}; }
  [[nodiscard]] Key newest_key() const { return newest_; }
  [[nodiscard]] QueryId next_query() { return QueryId{next_query_++}; }

  void arm(SteadyTime at, TimerEntry entry) { timers_.arm(at, std::move(entry)); }
  [[nodiscard]] std::optional<SteadyTime> next_timer() const { return timers_.next(); }
  auto pop_due_timer() { return timers_.pop_due(now_.steady); }

 private:
  BrokerLimits limits_;
  Random& random_;
  Timestamp now_;
  Key newest_;
  std::uint64_t next_query_ = 1;
  Effects effects_;
  Timers timers_;
};

inline void Context::recycle(Effects effects) {
  constexpr std::size_t kMaxRecycled = 1'024;
  effects.clear();
  if (effects_.empty() && effects.capacity() <= kMaxRecycled) effects_.swap(effects);
}

}  // namespace relay::broker
