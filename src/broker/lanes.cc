#include "broker/lanes.h"

#include "base/format.h"
#include "base/json.h"

namespace relay::broker {

using protocol::DeliveryMode;
using protocol::Lane;

namespace {

bool is_boundary(DeliveryMode mode) { return mode == DeliveryMode::NextMessage || mode == DeliveryMode::NextToolCall; }

/// States in which a session without its own queue can take a message.
bool is_safe(std::string_view state) { return state == "idle" || state == "waiting" || state == "blocked"; }

}  // namespace

LaneState lane_state(const AgentState& agent, Lane lane) {
  if (!agent.connected() || !agent.session) return {.block = LaneBlock::Offline};
  const protocol::Capabilities& can = agent.session->capabilities;
  const auto& modes = agent.activity->state.modes ? agent.activity->state.modes : can.modes;
  const bool manual = lane.mode == DeliveryMode::Manual;
  if (!manual && (modes ? !modes->has(lane.mode) : is_boundary(lane.mode))) return {.block = LaneBlock::Unsupported};
  if (agent.record->paused) return {.block = LaneBlock::Paused};
  if (manual) return {.block = can.queue && modes && modes->has(lane.mode) ? LaneBlock::No : LaneBlock::Manual};
  if (can.queue || lane.mode == DeliveryMode::Immediate) return {};
  if (is_boundary(lane.mode)) {
    const auto boundary = agent.activity->boundaries.find(lane.mode);
    if (boundary == agent.activity->boundaries.end()) return {.block = LaneBlock::Boundary};
    return {.block = LaneBlock::No, .up_to = boundary->second};
  }
  const auto& state = agent.activity->state.state;
  return {.block = state.empty() || is_safe(state) ? LaneBlock::No : LaneBlock::Busy};
}

LaneLimit open_lanes(const AgentState& agent) {
  return [&agent](Lane lane) {
    const LaneState state = lane_state(agent, lane);
    return state.block == LaneBlock::No ? state.up_to : Key{};
  };
}

std::string manual_reason(const AgentName& to) {
  return format("it is pending until the agent fetches it or `agent-relay flush {}` releases it", to.value());
}

std::string policy_reason(const AgentName& name) { return format("the policy of {} holds it", name.value()); }

std::string block_reason(const AgentState& agent, Lane lane, LaneBlock block) {
  switch (block) {
    case LaneBlock::No: return {};
    case LaneBlock::Offline: return "it is offline";
    case LaneBlock::Paused: return "it is " + protocol::describe_pause(agent.record->pause_reason);
    case LaneBlock::Unsupported: return format("its session does not support {}", name_of(lane.mode));
    case LaneBlock::Manual: return manual_reason(agent.name());
    case LaneBlock::Boundary:
      return lane.mode == DeliveryMode::NextMessage ? "it is pending until the session's next message"
                                                    : "it is pending until the session's next tool call";
    case LaneBlock::Busy: return format("its session is {}", agent.activity->state.state);
  }
  std::unreachable();
}

std::string pending_reason(const AgentState* to, const records::Delivery& delivery, std::string_view last_reason) {
  if (to == nullptr) return "the recipient was removed";
  switch (delivery.hold) {
    case records::Hold::Time: return format("it will be retried: {}", last_reason);
    case records::Hold::Policy:
      return format("the policy of {} holds it; `agent-relay flush {}` releases it", delivery.to.value(),
                    delivery.to.value());
    case records::Hold::None: break;
  }
  const LaneState state = lane_state(*to, delivery.lane);
  if (state.block == LaneBlock::Offline && delivery.proof >= records::Proof::Written)
    return "its session disconnected during the delivery and reports the outcome when it reconnects";
  if (state.block != LaneBlock::No) return block_reason(*to, delivery.lane, state.block);
  if (!to->mailbox.is_in_flight(delivery.key))
    return format("its recipient has {} pending messages", to->mailbox.pending());
  if (delivery.state == records::DeliveryState::Queued) return "it was sent, and its session has not answered";
  if (delivery.lane.mode == DeliveryMode::Manual) return manual_reason(delivery.to);  // a flush changes its lane
  if (!last_reason.empty()) return std::string{last_reason};
  // A session with a queue reports all other reasons.
  const bool behind = to->session->capabilities.queue && delivery.proof < records::Proof::Written;
  return behind ? "its session has it, and earlier messages come first" : "its session has it";
}

std::optional<records::Proof> best_proof(const AgentState& agent) {
  if (!agent.connected() || !agent.session) return std::nullopt;
  const auto& can = agent.session->capabilities;
  if (!can.modes) return can.ack ? records::Proof::Accepted : records::Proof::Written;
  // A host reports it with its state. A session that is the agent itself declares it, or proves acceptance only.
  const auto reported = parse_json_object(can.queue ? agent.activity->state.capabilities : can.contract);
  const json::object* delivery = reported && !can.queue ? object_member(*reported, "delivery") : nullptr;
  const auto proof = can.queue ? (reported ? string_member(*reported, "proof") : std::nullopt)
                               : (delivery != nullptr ? string_member(*delivery, "proof") : std::nullopt);
  for (const auto each :
       {records::Proof::Accepted, records::Proof::Written, records::Proof::Submitted, records::Proof::Seen})
    if (proof == name_of(each)) return each;
  return can.queue ? std::nullopt : std::optional{records::Proof::Accepted};
}

}  // namespace relay::broker
