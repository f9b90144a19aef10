/// Messages, votes and loops between agents, and damage to the relay's own files. Deliveries have their own header.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "schema/schema.h"

namespace relay::events {

struct MessageExchanged {
  std::string from = {};
  std::string to = {};
  std::string body = {};
  std::string kind = {};
  std::optional<std::string> thread = {};
  std::optional<std::string> channel = {};
  std::optional<std::string> topic = {};
  std::optional<std::string> id = {};
  std::optional<bool> truncated = {};
};

struct ConsensusProposed {
  std::string proposal_id = {};
  std::string title = {};
  std::string proposed_by = {};
  std::vector<std::string> participants = {};
  std::string consensus_type = {};
};

enum class ConsensusOutcome : std::uint8_t { Approved, Rejected, Timeout };

struct ConsensusResolved {
  std::string proposal_id = {};
  ConsensusOutcome outcome{};
  std::map<std::string, std::string> votes = {};
};

struct LoopTripped {
  std::string from = {};
  std::string to = {};
  std::string reason = {};
  std::optional<WallMs> until = {};
};

struct RelayDamaged {
  std::string reason = {};
  std::int64_t lost_messages = 0;
  std::vector<std::string> files = {};
};

}  // namespace relay::events

namespace relay::schema {

template <>
inline constexpr auto kChoices<events::ConsensusOutcome> = std::array{
    Choice{events::ConsensusOutcome::Approved, "approved"}, Choice{events::ConsensusOutcome::Rejected, "rejected"},
    Choice{events::ConsensusOutcome::Timeout, "timeout"}};

template <>
inline constexpr auto kObject<events::MessageExchanged> =
    object("MessageExchanged", "A message was accepted and stored.",
           member<&events::MessageExchanged::from>("from", "the sender"),
           member<&events::MessageExchanged::to>("to", "the recipient as addressed: a name, a channel, or `*`"),
           member<&events::MessageExchanged::body>("body", "the text; cut when it is long"),
           member<&events::MessageExchanged::kind>("kind", "message, action, state, thinking, or another"),
           member<&events::MessageExchanged::thread>("thread", "the conversation it belongs to"),
           member<&events::MessageExchanged::channel>("channel", "the channel it was sent to"),
           member<&events::MessageExchanged::topic>("topic", "what it is about"),
           member<&events::MessageExchanged::id>("id", "the short id, for `read` and `trace`"),
           member<&events::MessageExchanged::truncated>("truncated", "the text is longer, or no longer stored"));

template <>
inline constexpr auto kObject<events::ConsensusProposed> =
    object("ConsensusProposed", "An agent or the user proposes a decision.",
           member<&events::ConsensusProposed::proposal_id>("proposalId", "the id of the proposal"),
           member<&events::ConsensusProposed::title>("title", "what is proposed"),
           member<&events::ConsensusProposed::proposed_by>("proposedBy", "the proposer"),
           member<&events::ConsensusProposed::participants>("participants", "the agents that may vote"),
           member<&events::ConsensusProposed::consensus_type>("consensusType", "how votes are counted"));

template <>
inline constexpr auto kObject<events::ConsensusResolved> =
    object("ConsensusResolved", "The vote on a proposal ended.",
           member<&events::ConsensusResolved::proposal_id>("proposalId", "the id of the proposal"),
           member<&events::ConsensusResolved::outcome>("outcome", "the result"),
           member<&events::ConsensusResolved::votes>("votes", "by voter: approve, reject or abstain"));

template <>
inline constexpr auto kObject<events::LoopTripped> =
    object("LoopTripped", "Two agents only repeated each other, and their messages are refused for a while.",
           member<&events::LoopTripped::from>("from", "the sender of the refused message"),
           member<&events::LoopTripped::to>("to", "its recipient"),
           member<&events::LoopTripped::reason>("reason", "what was detected, in one sentence"),
           member<&events::LoopTripped::until>("until", "messages are refused until then, in Unix milliseconds"));

template <>
inline constexpr auto kObject<events::RelayDamaged> =
    object("RelayDamaged", "A file of the message store is damaged, or the store refuses an acknowledged change.",
           member<&events::RelayDamaged::reason>("reason", "the files, the damage and the next step, in one sentence"),
           member<&events::RelayDamaged::lost_messages>("lostMessages",
                                                        "an upper bound of the acknowledged messages that are lost; "
                                                        "damage found while running is counted at the next start"),
           member<&events::RelayDamaged::files>("files", "the names under which the damaged files are kept"));

}  // namespace relay::schema
