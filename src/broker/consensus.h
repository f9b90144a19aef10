/// Proposals and votes: reading them from text, and counting. No I/O, no time of its own.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "records/records.h"

namespace relay::broker {

/// Texts about a proposal stay far below a frame even if every byte of them must be escaped.
inline constexpr std::size_t kMaxProposalBytes = 32 * 1024;
inline constexpr std::size_t kMaxReasonBytes = 1'024;
inline constexpr std::size_t kMaxResultBytes = 128 * 1024;

struct VoteCommand {
  std::string proposal;
  std::string choice;  // approve, reject, abstain
  std::string reason;
};

/// The request in a message to `_consensus`; the proposal has no id, proposer or times yet.
using ConsensusCommand = std::variant<records::Proposal, VoteCommand>;

/// `PROPOSE: title` with TYPE, PARTICIPANTS, DESCRIPTION, TIMEOUT, QUORUM, THRESHOLD lines; or `VOTE id choice reason`.
/// The timeout in milliseconds is left in `expires_at` for the caller to add the time to.
Result<ConsensusCommand> parse_consensus_command(std::string_view body);

enum class Outcome : std::uint8_t { Approved, Rejected, NoConsensus };
std::string_view name_of(Outcome outcome);

/// Decided already, whatever the missing votes say? At the deadline (`Final::Yes`) there is always an answer.
enum class Final : std::uint8_t { No, Yes };
std::optional<Outcome> tally(const records::Proposal& proposal, Final final);

/// The text for participants; it has the line `ID: <id>` that votes refer to.
std::string proposal_text(const records::Proposal& proposal);
std::string result_text(const records::Proposal& proposal, Outcome outcome);

}  // namespace relay::broker
