#include "base/clock.h"

namespace relay {

Timestamp SystemClock::now() const {
  const auto wall = std::chrono::system_clock::now().time_since_epoch();
  return {std::chrono::steady_clock::now(), std::chrono::duration_cast<Millis>(wall).count()};
}

}  // namespace relay
