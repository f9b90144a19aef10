/// Time comes in as an argument: code below `daemon/`, `client/` and `cli/` reads no clock.
///
/// Steady time drives timers and never jumps. Wall time is displayed to users and survives a restart (expiry, retention).
/// A `Timestamp` is both, read together.
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
