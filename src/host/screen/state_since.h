/// When the agent entered its current state, by screen and native interfaces together. The screen alone may have changed
/// earlier.
///
/// Pure: the clock is an argument. Threading: one thread.
#pragma once

#include "base/clock.h"
#include "profiles/state_classifier.h"

namespace relay::host {

class StateSince {
 public:
  void update(profiles::State state, SteadyTime now) {
    since_ = since(state, now);
    state_ = state;
  }
  /// A new state starts now.
  [[nodiscard]] SteadyTime since(profiles::State state, SteadyTime now) const {
    return state == state_ && since_ != SteadyTime{} ? since_ : now;
  }

 private:
  profiles::State state_ = profiles::State::Unknown;
  SteadyTime since_{};
};

}  // namespace relay::host
