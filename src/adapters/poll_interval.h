/// The time to the next poll for something that may never appear: doubles with each poll, up to a maximum.
#pragma once

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace relay::adapters {

class PollInterval {
 public:
  PollInterval(Millis first, Millis max) : first_{first}, max_{max}, next_{first} {}

  void reset() { next_ = first_; }
  Millis next() { return std::exchange(next_, std::min(next_ * 2, max_)); }

 private:
  Millis first_, max_, next_;
};

}  // namespace relay::adapters
