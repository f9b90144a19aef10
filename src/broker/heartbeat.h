/// Is the peer still there? A question the loop asks; silence is the only evidence of death.
///
/// Any byte heard counts, and so does any byte the peer took from us: a slow peer is a living one. While we keep the
/// peer from being heard (reading is paused) no time passes for it.
#pragma once

#include "base/clock.h"

namespace relay::broker {

class Heartbeat {
 public:
  enum class Verdict { Fine, SendPing, PeerIsGone };

  Heartbeat() = default;
  Heartbeat(Millis interval, SteadyTime now) : interval_{interval}, heard_{now} {}

  void heard(SteadyTime now) {
    heard_ = now;
    asked_ = false;
  }

  /// One silent interval asks, two silent intervals end it.
  Verdict poll(SteadyTime now) {
    const auto silent = now - heard_;
    if (silent >= 2 * interval_) return Verdict::PeerIsGone;
    if (silent < interval_ || asked_) return Verdict::Fine;
    asked_ = true;
    return Verdict::SendPing;
  }

  /// When to poll again.
  [[nodiscard]] SteadyTime next() const { return heard_ + (asked_ ? 2 : 1) * interval_; }

 private:
  Millis interval_{0};
  SteadyTime heard_{};
  bool asked_ = false;
};

}  // namespace relay::broker
