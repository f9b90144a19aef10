#include "client/backoff.h"

#include <algorithm>

namespace relay::client {

std::optional<Millis> Backoff::next(Random& random) {
  ++failures_;
  if (timeout_.attempts && failures_ >= *timeout_.attempts) return std::nullopt;
  const auto span = delay_.count() * kJitterPercent / 100;
  const auto jitter = static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(2 * span + 1))) - span;
  const Millis delay{delay_.count() + jitter};
  delay_ = std::min(delay_ * kBackoffFactor, kMaxBackoff);
  return std::min(delay, kMaxBackoff);
}

void Backoff::reset() {
  failures_ = 0;
  delay_ = kFirstBackoff;
}

}  // namespace relay::client
