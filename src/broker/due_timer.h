/// The timer of the next held delivery that is due.
#pragma once

#include <algorithm>
#include <utility>

#include "broker/context.h"

namespace relay::broker {

/// Wall time may jump, steady time does not: timers are rechecked at least this often.
inline constexpr Millis kMaxTimerWait{3'600'000};

class DueTimer {
 public:
  explicit DueTimer(Context& context) : context_{context} {}

  void arm(WallMs at) {
    if (next_ != 0 && next_ <= at) return;
    next_ = at;
    const auto wait = std::clamp(Millis{at - context_.wall()}, Millis{0}, kMaxTimerWait);
    context_.arm(context_.steady() + wait, {.kind = TimerKind::Due});
  }
  /// The earliest due time; 0 when none.
  [[nodiscard]] WallMs next() const { return next_; }
  WallMs take() { return std::exchange(next_, 0); }

 private:
  Context& context_;
  WallMs next_ = 0;
};

}  // namespace relay::broker
