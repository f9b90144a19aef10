/// What passes between agents: messages, votes, loops; and what the relay itself met. Deliveries have a header of their own.
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
    object("MessageExchanged", "A message was taken and stored.",
           member<&events::MessageExchanged::from>("from", "who said it"),
           member<&events::MessageExchanged::to>("to", "to whom, as addressed: a name, a channel, or `*`"),
           member<&events::MessageExchanged::body>("body", "what was said; cut when it is long"),
           member<&events::MessageExchanged::kind>("kind", "message, action, state, thinking, or another"),
           member<&events::MessageExchanged::thread>("thread", "the conversation it belongs to"),
           member<&events::MessageExchanged::channel>("channel", "the channel it was said in"),
           member<&events::MessageExchanged::topic>("topic", "what it is about"),
           member<&events::MessageExchanged::id>("id", "the short id, for `read` and `trace`"),
           member<&events::MessageExchanged::truncated>("truncated", "the text is longer, or not kept any more"));

template <>
inline constexpr auto kObject<events::ConsensusProposed> =
    object("ConsensusProposed", "Somebody asks agents to decide.",
           member<&events::ConsensusProposed::proposal_id>("proposalId", "names the proposal"),
           member<&events::ConsensusProposed::title>("title", "what is proposed"),
           member<&events::ConsensusProposed::proposed_by>("proposedBy", "by whom"),
           member<&events::ConsensusProposed::participants>("participants", "who may vote"),
           member<&events::ConsensusProposed::consensus_type>("consensusType", "how votes are counted"));

template <>
inline constexpr auto kObject<events::ConsensusResolved> =
    object("ConsensusResolved", "A proposal is decided.",
           member<&events::ConsensusResolved::proposal_id>("proposalId", "which proposal"),
           member<&events::ConsensusResolved::outcome>("outcome", "how"),
           member<&events::ConsensusResolved::votes>("votes", "by voter: approve, reject or abstain"));

template <>
inline constexpr auto kObject<events::LoopTripped> =
    object("LoopTripped", "Two agents only echoed each other and were stopped.",
           member<&events::LoopTripped::from>("from", "whose message was refused"),
           member<&events::LoopTripped::to>("to", "whom it was for"),
           member<&events::LoopTripped::reason>("reason", "what was noticed, in a sentence"),
           member<&events::LoopTripped::until>("until", "till when nothing passes, in Unix milliseconds"));

template <>
inline constexpr auto kObject<events::RelayDamaged> =
    object("RelayDamaged", "A file of the message store is damaged, or the store refuses what was acknowledged.",
           member<&events::RelayDamaged::reason>("reason", "which files, what is wrong, the next step, in a sentence"),
           member<&events::RelayDamaged::lost_messages>("lostMessages",
                                                        "acknowledged messages that are gone: at most so many; of "
                                                        "damage found at work they are counted at the next start"),
           member<&events::RelayDamaged::files>("files", "the damaged files, under the names they are kept by"));

}  // namespace relay::schema
