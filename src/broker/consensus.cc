#include "broker/consensus.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

#include "base/comma_list.h"
#include "base/format.h"
#include "protocol/limits.h"

namespace relay::broker {
namespace {

constexpr std::array<std::string_view, 5> kTypes{"majority", "supermajority", "unanimous", "weighted", "quorum"};

std::string_view trimmed(std::string_view text) {
  const auto first = text.find_first_not_of(" \t\r");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

std::string_view next_line(std::string_view& rest) {
  const auto end = rest.find('\n');
  const auto line = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : rest.substr(end + 1);
  return line;
}

std::string_view next_word(std::string_view& rest) {
  rest = trimmed(rest);
  const auto end = rest.find_first_of(" \t");
  const auto word = rest.substr(0, end);
  rest = end == std::string_view::npos ? std::string_view{} : trimmed(rest.substr(end));
  return word;
}

std::string lower(std::string_view text) {
  std::string result{text};
  std::ranges::transform(result, result.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; });
  return result;
}

template <class Number>
std::optional<Number> number(std::string_view text) {
  Number value{};
  const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (problem != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

/// `NAME: value` for one of the header names; empty otherwise, so that free text may contain colons.
std::optional<std::pair<std::string, std::string_view>> header(std::string_view line) {
  static constexpr std::array<std::string_view, 7> kNames{"PROPOSE", "TYPE",   "PARTICIPANTS", "DESCRIPTION",
                                                          "TIMEOUT", "QUORUM", "THRESHOLD"};
  const auto colon = line.find(':');
  if (colon == std::string_view::npos) return std::nullopt;
  const auto name = trimmed(line.substr(0, colon));
  if (std::ranges::find(kNames, name) == kNames.end()) return std::nullopt;
  return std::pair{std::string{name}, trimmed(line.substr(colon + 1))};
}

Result<void> read_participants(std::string_view list, records::Proposal& proposal) {
  for (const auto part : comma_list(list)) {
    const auto name = trimmed(part);
    if (name.empty()) continue;
    if (proposal.participants.size() >= protocol::kMaxParticipants) {
      return fail(format("a proposal may name at most {} participants", protocol::kMaxParticipants));
    }
    if (std::ranges::find(proposal.participants, AgentName{std::string{name}}) == proposal.participants.end()) {
      proposal.participants.emplace_back(std::string{name});
    }
  }
  return {};
}

Result<void> read_header(std::string_view name, std::string_view value, records::Proposal& proposal) {
  if (name == "PROPOSE") {
    proposal.title = value;
  } else if (name == "TYPE") {
    proposal.type = lower(value);
    if (std::ranges::find(kTypes, proposal.type) == kTypes.end()) {
      return fail(
          format("'{}' is not a consensus type; use majority, supermajority, unanimous, weighted or quorum", value));
    }
  } else if (name == "PARTICIPANTS") {
    return read_participants(value, proposal);
  } else if (name == "DESCRIPTION") {
    proposal.description = value;
  } else if (name == "TIMEOUT") {
    const auto timeout = number<std::int64_t>(value);
    if (!timeout || *timeout <= 0 || *timeout > protocol::kMaxSyncTimeoutMs) {
      return fail(format("TIMEOUT '{}' is not a time; give milliseconds up to one day", value));
    }
    proposal.expires_at = *timeout;
  } else if (name == "QUORUM") {
    const auto quorum = number<std::uint32_t>(value);
    if (!quorum || *quorum == 0) return fail(format("QUORUM '{}' is not a count; give a whole number from 1", value));
    proposal.quorum = *quorum;
  } else if (name == "THRESHOLD") {
    const auto threshold = number<double>(value);
    if (!threshold || !(*threshold > 0 && *threshold <= 1)) {
      return fail(format("THRESHOLD '{}' is not a share; give a number above 0 and up to 1", value));
    }
    proposal.threshold = *threshold;
  }
  return {};
}

Result<ConsensusCommand> parse_vote(std::string_view line) {
  VoteCommand vote;
  vote.proposal = next_word(line);
  vote.choice = lower(next_word(line));
  vote.reason = line.substr(0, kMaxReasonBytes);
  if (vote.choice != "approve" && vote.choice != "reject" && vote.choice != "abstain") {
    return fail("write a vote as: VOTE <id> approve|reject|abstain [reason]");
  }
  return vote;
}

struct Count {
  std::size_t approve = 0, reject = 0, abstain = 0, total = 0;
  [[nodiscard]] std::size_t cast() const { return approve + reject + abstain; }
};

Count count(const records::Proposal& proposal) {
  Count result;
  result.total = proposal.participants.size();
  for (const auto& vote : proposal.votes) {
    if (vote.choice == "approve")
      ++result.approve;
    else if (vote.choice == "reject")
      ++result.reject;
    else
      ++result.abstain;
  }
  return result;
}

}  // namespace

Result<ConsensusCommand> parse_consensus_command(std::string_view body) {
  if (body.size() > kMaxProposalBytes)
    return fail(format("a proposal may be at most {} bytes; this one is {}", kMaxProposalBytes, body.size()));
  std::string_view rest = body;
  auto first = trimmed(next_line(rest));
  while (first.empty() && !rest.empty()) first = trimmed(next_line(rest));
  if (first.starts_with("VOTE")) {
    first.remove_prefix(4);
    return parse_vote(first);
  }
  if (!first.starts_with("PROPOSE:")) {
    return fail("a message to _consensus starts with 'PROPOSE: title' or 'VOTE <id> approve|reject|abstain'");
  }
  records::Proposal proposal;
  proposal.type = "majority";
  rest = body;
  bool in_description = false;
  while (!rest.empty()) {
    const auto line = next_line(rest);
    const auto found = header(line);
    if (found) {
      RELAY_TRY(read_header(found->first, found->second, proposal));
      in_description = found->first == "DESCRIPTION";
    } else if (in_description) {
      proposal.description += '\n';
      proposal.description += line;
    }
  }
  if (proposal.title.empty()) return fail("a proposal needs a title after 'PROPOSE:'");
  return proposal;
}

std::string_view name_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::Approved: return "APPROVED";
    case Outcome::Rejected: return "REJECTED";
    case Outcome::NoConsensus: return "NO_CONSENSUS";
  }
  std::unreachable();
}

std::optional<Outcome> tally(const records::Proposal& proposal, Final final) {
  const Count votes = count(proposal);
  const bool all_in = votes.cast() >= votes.total;
  const bool at_end = final == Final::Yes || all_in;
  if (proposal.type == "unanimous") {
    if (votes.reject > 0) return Outcome::Rejected;
    if (votes.approve == votes.total && votes.total > 0) return Outcome::Approved;
    return at_end ? std::optional{Outcome::NoConsensus} : std::nullopt;
  }
  if (proposal.type == "supermajority") {
    const double needed = proposal.threshold * static_cast<double>(votes.total);
    if (static_cast<double>(votes.approve) >= needed && votes.total > 0) return Outcome::Approved;
    if (static_cast<double>(votes.total - votes.reject) < needed) return Outcome::Rejected;
    return at_end ? std::optional{Outcome::NoConsensus} : std::nullopt;
  }
  if (proposal.type == "quorum") {
    const std::size_t quorum = proposal.quorum != 0 ? proposal.quorum : (votes.total + 1) / 2;
    // Enough votes with a majority decide; missing votes do not matter.
    const bool decided = votes.cast() >= quorum && votes.approve != votes.reject;
    if (!decided) return at_end ? std::optional{Outcome::NoConsensus} : std::nullopt;
    return votes.approve > votes.reject ? Outcome::Approved : Outcome::Rejected;
  }
  // majority, and weighted, because all votes have the same weight
  if (votes.approve * 2 > votes.total) return Outcome::Approved;
  if (votes.reject * 2 > votes.total) return Outcome::Rejected;
  if (!at_end) return std::nullopt;
  if (votes.approve == votes.reject) return Outcome::NoConsensus;
  return votes.approve > votes.reject ? Outcome::Approved : Outcome::Rejected;
}

std::string proposal_text(const records::Proposal& proposal) {
  std::string names;
  for (const auto& name : proposal.participants) names += (names.empty() ? "" : ", ") + name.value();
  return format(
      "CONSENSUS PROPOSAL: {}\nID: {}\nTYPE: {}\nPROPOSED BY: {}\nPARTICIPANTS: {}\n{}\n"
      "To vote, send to _consensus: VOTE {} approve|reject|abstain [reason]",
      proposal.title, proposal.id, proposal.type, proposal.proposer.value(), names, proposal.description, proposal.id);
}

std::string result_text(const records::Proposal& proposal, Outcome outcome) {
  const Count votes = count(proposal);
  std::string text =
      format("CONSENSUS RESULT: {}\nID: {}\nRESULT: {}\nVOTES: {} approve, {} reject, {} abstain, {} of {} cast",
             proposal.title, proposal.id, name_of(outcome), votes.approve, votes.reject, votes.abstain, votes.cast(),
             votes.total);
  for (const auto& vote : proposal.votes) {
    if (text.size() > kMaxResultBytes) return text + "\n…";
    text += format("\n- {}: {}{}{}", vote.voter.value(), vote.choice, vote.reason.empty() ? "" : " ", vote.reason);
  }
  return text;
}

}  // namespace relay::broker
