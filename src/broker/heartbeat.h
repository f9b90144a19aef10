/// Detects a lost peer by a timeout, and sends PING so that the peer does not time out the broker.
///
/// Every byte received from the peer counts, and every byte the peer has read: a slow peer is alive. While reading from
/// the peer is paused, its time does not run. The peer applies the same timeout to the broker, and many of its frames
/// have no answer (SESSION_STATE, RECEIPT); so a peer that was sent nothing for an interval gets a PING, even if it
/// sends frames itself.
#pragma once

#include <algorithm>

#include "base/clock.h"

namespace relay::broker {

class Heartbeat {
 public:
  enum class Action { Fine, SendPing, PeerLost };

  Heartbeat() = default;
  Heartbeat(Millis interval, SteadyTime now) : interval_{interval}, received_at_{now}, sent_at_{now} {}

  void on_activity(SteadyTime now) {
    received_at_ = now;
    pinged_ = false;
  }
  /// Bytes were sent to the peer, or are left for it to read.
  void on_sent(SteadyTime now) { sent_at_ = now; }

  /// After an interval without bytes in either direction: SendPing; after two intervals without bytes of the peer:
  /// PeerLost.
  Action poll(SteadyTime now) {
    const auto idle = now - received_at_;
    if (idle >= 2 * interval_) return Action::PeerLost;
    if (now - sent_at_ < interval_ && (idle < interval_ || pinged_)) return Action::Fine;
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
