/// Which lanes of an agent are open, and why others are blocked. Computed from the agent's state after every change.
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
/// The reason of a delivery that the recipient's policy holds.
std::string policy_reason(const AgentName& to);
/// Why a delivery that is not final is pending; `to` is its recipient, null if it was removed.
std::string pending_reason(const AgentState* to, const records::Delivery& delivery, std::string_view last_reason);
/// The best proof that the agent's session can give, if it reports that.
std::optional<records::Proof> best_proof(const AgentState& agent);

}  // namespace relay::broker
