/// Proposals and votes: parsing them from text, and counting. No I/O, no clock.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "base/result.h"
#include "records/records.h"

namespace relay::broker {

/// Messages about a proposal fit a frame even if every byte of them must be escaped.
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
/// The timeout in milliseconds is in `expires_at`; the caller adds the present time.
Result<ConsensusCommand> parse_consensus_command(std::string_view body);

enum class Outcome : std::uint8_t { Approved, Rejected, NoConsensus };
std::string_view name_of(Outcome outcome);

/// The outcome, if the missing votes cannot change it. At the deadline (`Final::Yes`) there always is one.
enum class Final : std::uint8_t { No, Yes };
std::optional<Outcome> tally(const records::Proposal& proposal, Final final);

/// The message to participants; votes refer to its line `ID: <id>`.
std::string proposal_text(const records::Proposal& proposal);
std::string result_text(const records::Proposal& proposal, Outcome outcome);

}  // namespace relay::broker
