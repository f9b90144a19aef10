#include "host/delivery/delivery_rules.h"

#include <tuple>

namespace relay::host {

using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;
using protocol::Lane;

bool can_be_typed(DeliveryMode mode) { return mode == DeliveryMode::OnIdle || mode == DeliveryMode::Immediate; }

bool must_be_typed(const Delivery& delivery, const adapters::ModeSupport& by) {
  return delivery.typed_only || (delivery.as_user && by.as_peer && can_be_typed(delivery.mode));
}

bool precedes(Lane one, Lane other, State state) {
  const auto rank = [&](Lane lane) {
    const bool needs_idle = lane.mode != DeliveryMode::Immediate;
    return std::tuple{state == State::Working && needs_idle, lane.priority != protocol::Priority::Urgent, needs_idle};
  };
  return rank(one) < rank(other);
}

std::string_view native_block_reason(DeliveryTiming timing, State state, profiles::Blocker blocker) {
  if (state == State::Unknown) return "the agent may not be ready yet";
  if (state == State::Blocked) return profiles::reason_of(blocker);
  const bool working = state == State::Working;
  if (timing == DeliveryTiming::WhenIdle && working) return "the agent is working";
  if (timing == DeliveryTiming::WhenWorking && !working) return "it is pending until the agent works";
  return {};
}

std::string_view unsupported_reason(DeliveryMode mode) {
  return mode == DeliveryMode::NextMessage ? "the agent cannot receive messages with its next prompt"
                                           : "the agent cannot receive messages with its next tool call";
}

}  // namespace relay::host
