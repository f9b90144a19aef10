/// The DELIVER or CHANNEL_MESSAGE frame of a delivery.
#pragma once

#include <string>

#include "broker/agent_state.h"

namespace relay::broker {

std::string delivery_frame(const AgentState& agent, const OutboundDelivery& delivery);

}  // namespace relay::broker
