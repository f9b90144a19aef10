/// What the agent does now, by its screen and by its native interfaces, and what others are shown of it.
///
/// Why two states: users see that a dialog is open together with what it asks. Until the prompt is known, and while a
///   connected daemon has not stored it, `shown` stays as it was.
/// Ownership: borrows monitor, adapter and session, which outlive it. Threading: loop thread only; the clock is an
///   argument.
#pragma once

#include "host/screen/state_since.h"
#include "profiles/state_classifier.h"

namespace relay::host {

class AdapterBridge;
class DaemonSession;
class ScreenMonitor;

class AgentState {
 public:
  AgentState(const ScreenMonitor& monitor, const AdapterBridge& adapter, const DaemonSession& session, bool headless)
      : monitor_{monitor}, adapter_{adapter}, session_{session}, headless_{headless} {}

  /// By all that is known: a native interface that says "do not disturb" is believed.
  [[nodiscard]] profiles::State current() const;
  /// As others see it.
  [[nodiscard]] profiles::State shown(SteadyTime now) const { return is_held_back(now) ? last_shown_ : current(); }
  /// `shown` may not follow `current` yet.
  [[nodiscard]] bool is_held_back(SteadyTime now) const;
  /// `shown` differs from what the last `update` found.
  [[nodiscard]] bool has_changed(SteadyTime now) const { return shown(now) != last_shown_; }
  /// Of a blocked agent: what blocks it.
  [[nodiscard]] profiles::Blocker blocker() const;
  [[nodiscard]] SteadyTime since(SteadyTime now) const { return since_.since(current(), now); }
  /// The agent is not known to have been ready yet.
  [[nodiscard]] bool is_starting() const;

  /// True when `shown` has changed since the last call.
  bool update(SteadyTime now);

 private:
  const ScreenMonitor& monitor_;
  const AdapterBridge& adapter_;
  const DaemonSession& session_;
  bool headless_;
  StateSince since_;
  profiles::State last_shown_ = profiles::State::Unknown;
};

}  // namespace relay::host
