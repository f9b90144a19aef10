// Gates: which lanes of an agent are open, and in words why another is not. Asked anew after every change.
#include "base/format.h"
#include "broker/core.h"

namespace relay::broker {

using protocol::DeliveryMode;
using protocol::Lane;

namespace {

bool is_boundary(DeliveryMode mode) { return mode == DeliveryMode::NextMessage || mode == DeliveryMode::NextToolCall; }

/// States in which a session without a queue of its own may be spoken to.
bool is_safe(std::string_view state) { return state == "idle" || state == "waiting" || state == "blocked"; }

}  // namespace

Core::Gate Core::gate(const AgentState& agent, Lane lane) const {
  if (!agent.connected() || !agent.session) return {.closed = Closed::Away};
  if (agent.record.paused) return {.closed = Closed::Paused};
  const protocol::Capabilities& can = agent.session->capabilities;
  const auto& modes = agent.activity.modes ? agent.activity.modes : can.modes;
  if (lane.mode == DeliveryMode::Manual)
    return {.closed = can.queue && modes && modes->has(lane.mode) ? Closed::No : Closed::Manual};
  if (modes ? !modes->has(lane.mode) : is_boundary(lane.mode)) return {.closed = Closed::Unsupported};
  if (can.queue || lane.mode == DeliveryMode::Immediate) return {};
  if (is_boundary(lane.mode)) {
    const auto told = agent.boundaries.find(lane.mode);
    if (told == agent.boundaries.end()) return {.closed = Closed::Boundary};
    return {.closed = Closed::No, .up_to = told->second};
  }
  const auto& state = agent.activity.state;
  return {.closed = state.empty() || is_safe(state) ? Closed::No : Closed::Busy};
}

std::string Core::why_closed(const AgentState& agent, Lane lane, Closed closed) {
  switch (closed) {
    case Closed::No: return {};
    case Closed::Away: return "it is offline";
    case Closed::Paused:
      return agent.record.pause_reason.empty() ? "it is paused by a person"
                                               : format("it is paused by a person: {}", agent.record.pause_reason);
    case Closed::Unsupported: return format("its session cannot do {}", name_of(lane.mode));
    case Closed::Manual: return "it is kept until it is flushed or fetched";
    case Closed::Boundary:
      return lane.mode == DeliveryMode::NextMessage ? "it waits for the session's next message"
                                                    : "it waits for the session's next tool call";
    case Closed::Busy: return format("its session is {}", agent.activity.state);
  }
  std::unreachable();
}

OpenUpTo Core::open_lanes(const AgentState& agent) const {
  return [this, &agent](Lane lane) {
    const Gate its = gate(agent, lane);
    return its.closed == Closed::No ? its.up_to : Key{};
  };
}

std::string Core::why_it_waits(const records::Delivery& delivery, std::string_view last_reason) {
  AgentState* to = find_agent(delivery.to.value());
  if (to == nullptr) return "nobody has that name any more";
  switch (delivery.hold) {
    case records::Hold::Time: return format("it is tried again later: {}", last_reason);
    case records::Hold::Policy:
      return format("the policy of {} holds it; `agent-relay flush {}` lets it go", delivery.to.value(),
                    delivery.to.value());
    case records::Hold::None: break;
  }
  if (const Gate its = gate(*to, delivery.lane); its.closed != Closed::No)
    return why_closed(*to, delivery.lane, its.closed);
  if (!to->mailbox.flight().contains(delivery.key)) return format("{} messages wait for it", to->mailbox.pending);
  if (delivery.state == records::DeliveryState::Queued) return "it was sent, and its session has not answered";
  return last_reason.empty() ? "its session has it" : std::string{last_reason};
}

}  // namespace relay::broker
