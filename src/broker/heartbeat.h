/// Is the peer still there, and does it know that we are? A question the loop asks; silence is the only evidence of death.
///
/// Any byte heard counts, and so does any byte the peer took from us: a slow peer is a living one. While we keep the
/// peer from being heard (reading is paused) no time passes for it. The peer judges us in the same way, and much of what it
/// says has no answer (SESSION_STATE, RECEIPT); so a peer that we told nothing for an interval is asked too, however much
/// it speaks.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace relay::broker {

class Heartbeat {
 public:
  enum class Action { Fine, SendPing, PeerIsGone };

  Heartbeat() = default;
  Heartbeat(Millis interval, SteadyTime now) : interval_{interval}, heard_{now}, said_{now} {}

  void on_activity(SteadyTime now) {
    heard_ = now;
    asked_ = false;
  }
  /// Something was sent to the peer, or waits for it to read.
  void on_sent(SteadyTime now) { said_ = now; }

  /// One silent interval, of either side, asks; two silent intervals of the peer end it.
  Action poll(SteadyTime now) {
    const auto silent = now - heard_;
    if (silent >= 2 * interval_) return Action::PeerIsGone;
    if (now - said_ < interval_ && (silent < interval_ || asked_)) return Action::Fine;
    asked_ = true;
    said_ = now;
    return Action::SendPing;
  }

  /// When to poll again.
  [[nodiscard]] SteadyTime next() const { return std::min(heard_ + (asked_ ? 2 : 1) * interval_, said_ + interval_); }

 private:
  Millis interval_{0};
  SteadyTime heard_{};
  SteadyTime said_{};
  bool asked_ = false;
};

}  // namespace relay::broker
