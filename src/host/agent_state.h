/// The agent's current state, from its screen and its native interfaces, and the state that clients and daemon see.
///
/// Why two states: `blocked` appears together with its prompt. Until the prompt is reported, and while a connected
///   daemon has not stored it, `visible` keeps its value.
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

  /// A native interface that reports `working` or `blocked` overrides the screen, except a dialog on it.
  [[nodiscard]] profiles::State current() const;
  /// The state for clients and daemon.
  [[nodiscard]] profiles::State visible(SteadyTime now) const { return is_held_back(now) ? last_visible_ : current(); }
  /// `visible` must not follow `current` yet.
  [[nodiscard]] bool is_held_back(SteadyTime now) const;
  /// `visible` differs from the last `update`.
  [[nodiscard]] bool has_changed(SteadyTime now) const { return visible(now) != last_visible_; }
  /// What blocks a blocked agent.
  [[nodiscard]] profiles::Blocker blocker() const;
  [[nodiscard]] SteadyTime since(SteadyTime now) const { return since_.since(current(), now); }
  /// The agent has not been ready so far.
  [[nodiscard]] bool is_starting() const;

  /// True when `visible` has changed since the last call.
  bool update(SteadyTime now);

 private:
  const ScreenMonitor& monitor_;
  const AdapterBridge& adapter_;
  const DaemonSession& session_;
  bool headless_;
  StateSince since_;
  profiles::State last_visible_ = profiles::State::Unknown;
};

}  // namespace relay::host
