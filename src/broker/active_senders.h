/// Detects whether more than one sender is active. Then each gets only a small share of the uncommitted bytes.
///
/// A single sender may fill commits of any size. When several are active, the commit in progress delays new messages of
/// the others, so it must be small.
/// Time is divided into periods; senders of the current and the last period count. Threading: the broker's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace relay::broker {

class ActiveSenders {
 public:
  static constexpr Millis kPeriod{100};

  /// `mark` belongs to the sender, initially 0.
  void on_activity(std::uint64_t& mark, SteadyTime now) {
    const auto period = static_cast<std::uint64_t>(now.time_since_epoch() / kPeriod) + 1;
    if (period != period_) {
      previous_ = period == period_ + 1 ? current_ : 0;
      current_ = 0;
      period_ = period;
    }
    if (mark == period) return;
    mark = period;
    ++current_;
  }
  [[nodiscard]] bool more_than_one() const { return current_ > 1 || previous_ > 1; }

 private:
  std::uint64_t period_ = 0;
  std::size_t current_ = 0, previous_ = 0;
};

}  // namespace relay::broker
