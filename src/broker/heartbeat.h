/// Is the peer alive, and does it see that the broker is? Silence is the only evidence of loss.
///
/// Any byte received counts, and so does any byte the peer took: a slow peer is a living one. While reading from the peer is
/// paused, no time passes for it. The peer judges the broker in the same way, and many of its frames have no answer
/// (SESSION_STATE, RECEIPT); so a peer that was sent nothing for an interval gets a PING, however much it sends.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace relay::broker {

class Heartbeat {
 public:
  enum class Action { Fine, SendPing, PeerIsGone };

  Heartbeat() = default;
  Heartbeat(Millis interval, SteadyTime now) : interval_{interval}, received_at_{now}, sent_at_{now} {}

  void on_activity(SteadyTime now) {
    received_at_ = now;
    pinged_ = false;
  }
  /// Something was sent to the peer, or is left for it to read.
  void on_sent(SteadyTime now) { sent_at_ = now; }

  /// One silent interval, of either side, sends PING; two silent intervals of the peer end it.
  Action poll(SteadyTime now) {
    const auto silent = now - received_at_;
    if (silent >= 2 * interval_) return Action::PeerIsGone;
    if (now - sent_at_ < interval_ && (silent < interval_ || pinged_)) return Action::Fine;
    pinged_ = true;
    sent_at_ = now;
    return Action::SendPing;
  }

  /// When to poll again.
  [[nodiscard]] SteadyTime next() const {
    return std::min(received_at_ + (pinged_ ? 2 : 1) * interval_, sent_at_ + interval_);
  }

 private:
  Millis interval_{0};
  SteadyTime received_at_{};
  SteadyTime sent_at_{};
  bool pinged_ = false;
};

}  // namespace relay::broker
