/// The frame of a DELIVER, or of a CHANNEL_MESSAGE on its way to a member.
#pragma once

#include <string>

#include "broker/agent_state.h"

namespace relay::broker {

std::string delivery_frame(const AgentState& agent, const OutboundDelivery& delivery);

}  // namespace relay::broker
