// Gates: which lanes of an agent are open, and in words why another is not. Asked anew after every change.
#include "base/format.h"
#include "broker/core.h"

namespace relay::broker {

using protocol::DeliveryMode;
using protocol::Lane;
using records::DeliveryState;

namespace {

bool is_boundary(DeliveryMode mode) { return mode == DeliveryMode::NextMessage || mode == DeliveryMode::NextToolCall; }

/// States in which a session without a queue of its own may be spoken to.
bool is_safe(std::string_view state) { return state == "idle" || state == "waiting" || state == "blocked"; }

}  // namespace

Core::LaneState Core::lane_state(const AgentState& agent, Lane lane) const {
  if (!agent.connected() || !agent.session) return {.closed = LaneBlock::Away};
  const protocol::Capabilities& can = agent.session->capabilities;
  const auto& modes = agent.activity.modes ? agent.activity.modes : can.modes;
  const bool manual = lane.mode == DeliveryMode::Manual;
  if (!manual && (modes ? !modes->has(lane.mode) : is_boundary(lane.mode))) return {.closed = LaneBlock::Unsupported};
  if (agent.record.paused) return {.closed = LaneBlock::Paused};
  if (manual) return {.closed = can.queue && modes && modes->has(lane.mode) ? LaneBlock::No : LaneBlock::Manual};
  if (can.queue || lane.mode == DeliveryMode::Immediate) return {};
  if (is_boundary(lane.mode)) {
    const auto told = agent.boundaries.find(lane.mode);
    if (told == agent.boundaries.end()) return {.closed = LaneBlock::Boundary};
    return {.closed = LaneBlock::No, .up_to = told->second};
  }
  const auto& state = agent.activity.state;
  return {.closed = state.empty() || is_safe(state) ? LaneBlock::No : LaneBlock::Busy};
}

std::string Core::held_as_manual(const AgentName& to) {
  return format("it is held until the agent fetches it or `agent-relay flush {}` lets it go", to.value());
}

std::string Core::block_reason(const AgentState& agent, Lane lane, LaneBlock closed) {
  switch (closed) {
    case LaneBlock::No: return {};
    case LaneBlock::Away: return "it is offline";
    case LaneBlock::Paused:
      return agent.record.pause_reason.empty() ? "it is paused by a person"
                                               : format("it is paused by a person: {}", agent.record.pause_reason);
    case LaneBlock::Unsupported: return format("its session cannot do {}", name_of(lane.mode));
    case LaneBlock::Manual: return held_as_manual(agent.name());
    case LaneBlock::Boundary:
      return lane.mode == DeliveryMode::NextMessage ? "it waits for the session's next message"
                                                    : "it waits for the session's next tool call";
    case LaneBlock::Busy: return format("its session is {}", agent.activity.state);
  }
  std::unreachable();
}

/// What waits in a lane that the session cannot serve: its senders are told, each once.
void Core::scan_unsupported(AgentState& agent) {
  if (!agent.mailbox.connected() || store_ != StoreHealth::Healthy) return;  // looked at again when it works
  for (const auto mode : protocol::kDeliveryModes)
    if (agent.mailbox.has_pending(mode) && lane_state(agent, {mode}).closed == LaneBlock::Unsupported &&
        std::ranges::none_of(unable_, [&](const auto& entry) {
          return entry.second.agent == agent.name() && entry.second.mode == mode;  // told by the look under way
        }))
      ask_unable({.agent = agent.name(), .mode = mode});
}

void Core::ask_unable(UnsupportedScan unable) {
  flush_changes();
  const QueryId id{next_query_++};
  records::HeldRequest request;
  request.to = unable.agent;
  request.mode = unable.mode;
  request.ready = true;
  request.after = unable.cursor;
  unable.look = unseen_.begin_read();
  unable_.emplace(id, std::move(unable));
  emit(QueryHeld{id, std::move(request)});
}

void Core::defer_unsupported(AgentState& agent, const records::Delivery& delivery) {
  record_history(agent, heading_of(delivery.message, delivery.from, delivery.to),
                 {.key = delivery.key,
                  .state = DeliveryState::Deferred,
                  .reason = block_reason(agent, delivery.lane, LaneBlock::Unsupported)},
                 protocol::NackCode::Unsupported);
}

void Core::unable_page(UnsupportedScan unable, const Result<records::HeldPage>& page) {
  AgentState* agent = find_agent(unable.agent.value());
  if (agent == nullptr || !page) return;  // told when it comes next
  for (const auto& item : page->items) {
    const auto& delivery = item.delivery;
    unable.cursor = delivery.key;
    if (is_held(delivery.key, delivery.hold) || agent->mailbox.is_with_session(delivery.key) ||
        unseen_.has(DeliveryChange::Finished, delivery.key) || unseen_.has(DeliveryChange::Requeued, delivery.key) ||
        lane_state(*agent, delivery.lane).closed != LaneBlock::Unsupported ||
        item.last_reason == block_reason(*agent, delivery.lane, LaneBlock::Unsupported))
      continue;
    defer_unsupported(*agent, delivery);
  }
  if (page->more) ask_unable(std::move(unable));
}

LaneLimit Core::open_lanes(const AgentState& agent) const {
  return [this, &agent](Lane lane) {
    const LaneState its = lane_state(agent, lane);
    return its.closed == LaneBlock::No ? its.up_to : Key{};
  };
}

std::string Core::pending_reason(const records::Delivery& delivery, std::string_view last_reason) {
  AgentState* to = find_agent(delivery.to.value());
  if (to == nullptr) return "nobody has that name any more";
  switch (delivery.hold) {
    case records::Hold::Time: return format("it is tried again later: {}", last_reason);
    case records::Hold::Policy:
      return format("the policy of {} holds it; `agent-relay flush {}` lets it go", delivery.to.value(),
                    delivery.to.value());
    case records::Hold::None: break;
  }
  const LaneState its = lane_state(*to, delivery.lane);
  if (its.closed == LaneBlock::Away && delivery.proof >= records::Proof::Written)
    return "its session went away while it was being brought; what became of it is told when that one returns";
  if (its.closed != LaneBlock::No) return block_reason(*to, delivery.lane, its.closed);
  if (!to->mailbox.flight().contains(delivery.key)) return format("{} messages wait for it", to->mailbox.pending);
  if (delivery.state == records::DeliveryState::Queued) return "it was sent, and its session has not answered";
  if (delivery.lane.mode == DeliveryMode::Manual) return held_as_manual(delivery.to);  // a flush changes its lane
  if (!last_reason.empty()) return std::string{last_reason};
  // A session with a queue reports every other reason.
  const bool behind = to->session->capabilities.queue && delivery.proof < records::Proof::Written;
  return behind ? "its session has it, and messages before it come first" : "its session has it";
}

}  // namespace relay::broker
