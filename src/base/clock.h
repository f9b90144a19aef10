/// Time comes in as an argument: nobody below `daemon/`, `client/` and `cli/` reads a clock.
///
/// Steady time drives timers and never jumps; wall time is what people read and what survives a restart (expiry,
/// retention). A `Moment` is both, read together.
#pragma once

#include <chrono>
#include <cstdint>

namespace relay {

using Millis = std::chrono::milliseconds;
using SteadyTime = std::chrono::time_point<std::chrono::steady_clock, std::chrono::nanoseconds>;

/// Milliseconds since the Unix epoch, as on the wire and in the store.
using WallMs = std::int64_t;

struct Timestamp {
  SteadyTime steady{};
  WallMs wall = 0;
};

class Clock {
 public:
  virtual ~Clock() = default;
  [[nodiscard]] virtual Timestamp now() const = 0;
};

/// The machine's own clocks.
class SystemClock final : public Clock {
 public:
  [[nodiscard]] Timestamp now() const override;
};

}  // namespace relay
