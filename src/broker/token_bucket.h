/// A rate limit with a burst, per sender across its connections.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace relay::broker {

class TokenBucket {
 public:
  TokenBucket() = default;
  /// A rate of 0 means no limit.
  TokenBucket(double per_second, double burst) : per_second_{per_second}, burst_{burst}, tokens_{burst} {}

  /// Takes a token if there is one.
  bool take(SteadyTime now) {
    refill(now);
    if (per_second_ > 0 && tokens_ < 1) return false;
    tokens_ -= 1;
    return true;
  }

  /// Takes a token on credit, for senders that are slowed instead of refused.
  void take_anyway(SteadyTime now) {
    refill(now);
    tokens_ -= 1;
  }

  /// How long until the next `take` succeeds.
  [[nodiscard]] Millis wait(SteadyTime now) {
    refill(now);
    if (per_second_ <= 0 || tokens_ >= 1) return Millis{0};
    return Millis{static_cast<Millis::rep>((1 - tokens_) * 1000 / per_second_) + 1};
  }

 private:
  void refill(SteadyTime now) {
    if (last_ != SteadyTime{}) {
      const std::chrono::duration<double> passed = now - last_;
      tokens_ = std::min(burst_, tokens_ + std::max(0.0, passed.count()) * per_second_);
    }
    last_ = now;
  }

  double per_second_ = 0;
  double burst_ = 0;
  double tokens_ = 0;
  SteadyTime last_{};
};

}  // namespace relay::broker
