#include "broker/voting.h"

#include <algorithm>

#include "base/format.h"
#include "text/json_writer.h"

namespace relay::broker {

using protocol::NackCode;

namespace {

events::ConsensusOutcome event_outcome(Outcome outcome) {
  switch (outcome) {
    case Outcome::Approved: return events::ConsensusOutcome::Approved;
    case Outcome::Rejected: return events::ConsensusOutcome::Rejected;
    case Outcome::NoConsensus: return events::ConsensusOutcome::Timeout;
  }
  std::unreachable();
}

constexpr std::size_t kMaxOpenProposals = 1'000;
constexpr std::size_t kMaxProposalsPerAgent = 64;

std::string consensus_data(const records::Proposal& proposal) {
  text::JsonWriter data;
  data.field("_isConsensusMessage", true).field("proposalId", proposal.id).field("consensusType", proposal.type);
  return data.take();
}

}  // namespace

void Voting::on_message(SendContext& sending) {
  const std::string body = sending.view.body.empty() ? std::string{} : text::decode_string(sending.view.body);
  if (replies_.was_executed(sending)) return replies_.acknowledge_when_saved(sending);
  auto command = parse_consensus_command(body);
  if (!command) return replies_.refuse(sending, NackCode::BadRequest, command.error().message());
  if (auto* proposal = std::get_if<records::Proposal>(&*command)) {
    if (const auto rejected = check_proposal(sending.from, *proposal)) return replies_.refuse(sending, *rejected);
    propose(sending.from, std::move(*proposal), sending.view.thread);
  } else if (const auto counted = vote(sending.from, std::get<VoteCommand>(*command)); !counted) {
    return replies_.refuse(sending, NackCode::BadRequest, counted.error().message());
  }
  replies_.acknowledge_when_saved(sending);
}

std::optional<Rejection> Voting::check_proposal(const AgentName& proposer, const records::Proposal& proposal) const {
  if (proposals_.size() >= kMaxOpenProposals)
    return Rejection{NackCode::Busy, "too many proposals are open; wait for one to end"};
  const auto own =
      std::ranges::count_if(proposals_, [&](const auto& open) { return open.second.proposer == proposer; });
  if (std::cmp_greater_equal(own, kMaxProposalsPerAgent))
    return Rejection{NackCode::Busy, format("{} of your proposals are already open; wait for one to end", own)};
  for (const AgentName& name : proposal.participants) {
    const AgentState* participant = agents_.find(name.value());
    if (participant == nullptr) return Rejection{NackCode::UnknownRecipient, agents_.unknown_reason(name.value())};
    if (participant->observed())
      return Rejection{NackCode::Unsupported, format("{} is only observed and cannot vote; omit it", name.value())};
  }
  return std::nullopt;
}

void Voting::propose(const AgentName& proposer, records::Proposal proposal, std::string_view thread) {
  proposal.id = "p-" + context_.random_hex(6);
  proposal.proposer = proposer;
  proposal.thread = thread;
  proposal.created = context_.wall();
  const auto duration = proposal.expires_at > 0 ? proposal.expires_at : protocol::kDefaultProposalMs;
  proposal.expires_at = context_.wall() + duration;
  if (proposal.participants.empty()) {
    for (const auto& [name, agent] : agents_.all()) {
      if (agent.connected() && !agent.observed() && agent.name() != proposer && !protocol::is_internal_name(name))
        proposal.participants.push_back(agent.name());
    }
    std::ranges::sort(proposal.participants);
  }
  context_.arm(context_.steady() + Millis{duration}, {.kind = TimerKind::Proposal, .name = proposal.id});
  const std::string text = proposal_text(proposal);
  const std::string data = consensus_data(proposal);
  Audience audience;
  for (const AgentName& name : proposal.participants) {
    AgentState* agent = agents_.find(name.value());
    if (agent != nullptr && !agent->removing && !agent->observed() && name != proposer) audience.push_back(agent);
  }
  publisher_.post(proposer.value(), audience, "action", text, data, thread);
  commits_.save_eventually(records::PutProposal{proposal});
  events::ConsensusProposed proposed{.proposal_id = proposal.id,
                                     .title = proposal.title,
                                     .proposed_by = proposer.value(),
                                     .consensus_type = proposal.type};
  for (const AgentName& name : proposal.participants) proposed.participants.push_back(name.value());
  event_recorder_.record(proposed, proposer, {});
  auto id = proposal.id;
  proposals_.emplace(std::move(id), std::move(proposal));
}

Result<void> Voting::vote(const AgentName& voter, const VoteCommand& command) {
  const auto place = proposals_.find(command.proposal);
  if (place == proposals_.end()) return fail(format("no proposal '{}' is open; it may have ended", command.proposal));
  records::Proposal& proposal = place->second;
  if (std::ranges::find(proposal.participants, voter) == proposal.participants.end()) {
    return fail(format("{} does not take part in proposal {}", voter.value(), command.proposal));
  }
  const auto earlier = std::ranges::find(proposal.votes, voter, &records::Vote::voter);
  if (earlier != proposal.votes.end())
    *earlier = {voter, command.choice, command.reason};
  else
    proposal.votes.push_back({voter, command.choice, command.reason});
  if (const auto outcome = tally(proposal, Final::No))
    conclude(proposal, *outcome);
  else
    commits_.save_eventually(records::PutProposal{proposal});
  return {};
}

void Voting::conclude(records::Proposal& open, Outcome outcome) {
  records::Proposal proposal = std::move(open);
  proposals_.erase(proposal.id);
  proposal.outcome = name_of(outcome);
  commits_.save_eventually(records::PutProposal{proposal});
  events::ConsensusResolved resolved{.proposal_id = proposal.id, .outcome = event_outcome(outcome)};
  for (const auto& vote : proposal.votes) resolved.votes.emplace(vote.voter.value(), vote.choice);
  event_recorder_.record(resolved, proposal.proposer, {});
  const std::string text = result_text(proposal, outcome);
  const std::string data = consensus_data(proposal);
  std::vector<AgentName> concerned = proposal.participants;
  if (std::ranges::find(concerned, proposal.proposer) == concerned.end()) concerned.push_back(proposal.proposer);
  Audience audience;
  for (const AgentName& name : concerned) {
    AgentState* agent = agents_.find(name.value());
    if (agent != nullptr && !agent->removing) audience.push_back(agent);
  }
  publisher_.post(protocol::kConsensus, audience, "action", text, data, proposal.thread);
}

void Voting::on_due(const std::string& id) {
  const auto place = proposals_.find(id);
  if (place == proposals_.end()) return;
  conclude(place->second, *tally(place->second, Final::Yes));
}

void Voting::restore(records::WorkspaceState& state) {
  for (auto& proposal : state.proposals) {
    const auto left = std::max<WallMs>(0, proposal.expires_at - context_.wall());
    context_.arm(context_.steady() + Millis{left}, {.kind = TimerKind::Proposal, .name = proposal.id});
    auto id = proposal.id;
    proposals_.emplace(std::move(id), std::move(proposal));
  }
}

void Voting::add_needed_names(std::set<AgentName>& needed) const {
  for (const auto& [id, proposal] : proposals_) {
    needed.insert(proposal.proposer);
    needed.insert(proposal.participants.begin(), proposal.participants.end());
  }
}

}  // namespace relay::broker
