/// When to look next for something that may never come: each wait is twice as long as the one before, up to the longest.
#pragma once

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace relay::adapters {

class LookPace {
 public:
  LookPace(Millis first, Millis longest) : first_{first}, longest_{longest}, next_{first} {}

  void begin() { next_ = first_; }
  Millis next() { return std::exchange(next_, std::min(next_ * 2, longest_)); }

 private:
  Millis first_, longest_, next_;
};

}  // namespace relay::adapters
