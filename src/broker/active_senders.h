/// Does more than one speak at present? Then each may have only a part of what waits for a commit.
///
/// Whoever speaks alone may fill commits as large as the disk likes; when somebody else speaks too, a newcomer's word
/// waits behind what the others have in the commit under way, so that must be little.
/// Time is cut into periods; who spoke in this or the last one counts. Threading: the broker's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/clock.h"

namespace relay::broker {

class ActiveSenders {
 public:
  static constexpr Millis kPeriod{100};

  /// `mark` is the speaker's own, 0 at first.
  void on_activity(std::uint64_t& mark, SteadyTime now) {
    const auto period = static_cast<std::uint64_t>(now.time_since_epoch() / kPeriod) + 1;
    if (period != period_) {
      before_ = period == period_ + 1 ? here_ : 0;
      here_ = 0;
      period_ = period;
    }
    if (mark == period) return;
    mark = period;
    ++here_;
  }
  [[nodiscard]] bool more_than_one() const { return here_ > 1 || before_ > 1; }

 private:
  std::uint64_t period_ = 0;
  std::size_t here_ = 0, before_ = 0;
};

}  // namespace relay::broker
