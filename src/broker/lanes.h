/// Lanes: which of an agent's are open, and why another is not. Asked again after every change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "broker/agent_state.h"

namespace relay::broker {

enum class LaneBlock : std::uint8_t { No, Offline, Paused, Unsupported, Manual, Boundary, Busy };

struct LaneState {
  LaneBlock block = LaneBlock::No;
  Key up_to = kNoLimit;  // when it is open: only deliveries up to this rank
};

LaneState lane_state(const AgentState& agent, protocol::Lane lane);
LaneLimit open_lanes(const AgentState& agent);
/// Why a delivery in the lane is pending; empty when the lane is open.
std::string block_reason(const AgentState& agent, protocol::Lane lane, LaneBlock block);
inline std::string block_reason(const AgentState& agent, protocol::Lane lane) {
  return block_reason(agent, lane, lane_state(agent, lane).block);
}
/// Why a message in mode `manual` is pending.
std::string manual_reason(const AgentName& to);
/// Why the recipient's policy holds it.
std::string policy_reason(const AgentName& to);
/// Why a delivery that is not final is pending; `to` is its recipient, if still known.
std::string pending_reason(const AgentState* to, const records::Delivery& delivery, std::string_view last_reason);
/// The best proof that the agent's session can give, if it is known.
std::optional<records::Proof> best_proof(const AgentState& agent);

}  // namespace relay::broker
