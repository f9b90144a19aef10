/// The delay before the next connection attempt, and the number of attempts.
///
/// 100 ms, doubled each time, at most 30 s, each ±15 % so that the clients of one daemon do not reconnect in step.
/// Pure: the randomness is an argument.
#pragma once

#include <optional>

#include "base/clock.h"
#include "base/random.h"

namespace relay::client {

inline constexpr Millis kFirstBackoff{100};
inline constexpr Millis kMaxBackoff{30'000};
inline constexpr int kBackoffFactor = 2;
inline constexpr int kJitterPercent = 15;
inline constexpr int kProgramAttempts = 10;

/// Failed attempts in a row before giving up. An interactive program gives up; a host never does.
struct RetryLimit {
  std::optional<int> attempts;

  static constexpr RetryLimit give_up_after(int attempts) { return {attempts}; }
  static constexpr RetryLimit program() { return {kProgramAttempts}; }
  static constexpr RetryLimit never_give_up() { return {std::nullopt}; }
};

class Backoff {
 public:
  explicit Backoff(RetryLimit limit) : timeout_{limit} {}

  /// An attempt failed: the delay before the next one, or nothing after the last.
  [[nodiscard]] std::optional<Millis> next(Random& random);

  /// An attempt succeeded.
  void reset();

  [[nodiscard]] int failures() const { return failures_; }

 private:
  RetryLimit timeout_;
  int failures_ = 0;
  Millis delay_ = kFirstBackoff;
};

}  // namespace relay::client
