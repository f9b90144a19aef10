#include "host/agent_state.h"

#include <utility>

#include "host/adapter_bridge.h"
#include "host/daemon_session.h"
#include "host/screen/screen_monitor.h"

namespace relay::host {

using profiles::State;

State AgentState::current() const {
  const auto reported = adapter_.reported_state();
  if (headless_) return reported ? reported->state : State::Working;
  if (!reported || monitor_.state() == State::Blocked) return monitor_.state();
  if (reported->state == State::Blocked || reported->state == State::Working) return reported->state;
  return monitor_.state() == State::Unknown ? reported->state : monitor_.state();
}

bool AgentState::is_held_back(SteadyTime now) const {
  return adapter_.has_unreported_dialog() || (session_.storing_until(now) && current() == State::Blocked);
}

profiles::Blocker AgentState::blocker() const {
  const auto reported = adapter_.reported_state();
  if (reported && reported->state == State::Blocked) return profiles::Blocker::Dialog;
  return monitor_.watcher().estimate().blocker;
}

bool AgentState::is_starting() const { return monitor_.watcher().is_starting(); }

bool AgentState::update(SteadyTime now) {
  since_.update(current(), now);
  const auto before = std::exchange(last_visible_, visible(now));
  return last_visible_ != before;
}

}  // namespace relay::host
