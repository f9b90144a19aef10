/// Since when an agent has been in its state by all that is known: its screen and its native interfaces. The screen
/// alone may have changed long before.
///
/// Pure: the clock is an argument. Threading: one thread.
#pragma once

#include "base/clock.h"
#include "profiles/state_classifier.h"

namespace relay::host {

class StateSince {
 public:
  void see(profiles::State state, SteadyTime now) {
    since_ = since(state, now);
    state_ = state;
  }
  /// A new state begins now.
  [[nodiscard]] SteadyTime since(profiles::State state, SteadyTime now) const {
    return state == state_ && since_ != SteadyTime{} ? since_ : now;
  }

 private:
  profiles::State state_ = profiles::State::Unknown;
  SteadyTime since_{};
};

}  // namespace relay::host
