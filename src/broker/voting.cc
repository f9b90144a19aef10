// Consensus: messages to `_consensus` become proposals and votes; results go to everyone concerned.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
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

void Core::on_consensus(SendContext& sending) {
  const std::string body = sending.view.body.empty() ? std::string{} : text::decode_string(sending.view.body);
  if (carried_out_before(sending)) return acknowledge_when_saved(sending);
  auto command = parse_consensus_command(body);
  if (!command) return refuse(sending, NackCode::BadRequest, command.error().message());
  if (auto* proposal = std::get_if<records::Proposal>(&*command)) {
    if (proposals_.size() >= kMaxOpenProposals)
      return refuse(sending, NackCode::Busy, "too many proposals are open; wait for one to end");
    const auto own =
        std::ranges::count_if(proposals_, [&](const auto& open) { return open.second.proposer == sending.from; });
    if (std::cmp_greater_equal(own, kMaxProposalsPerAgent))
      return refuse(sending, NackCode::Busy,
                    format("{} proposals of yours are open already; wait for one to end", own));
    for (const AgentName& name : proposal->participants) {
      const AgentState* participant = find_agent(name.value());
      if (participant == nullptr) return refuse(sending, NackCode::UnknownRecipient, unknown_recipient(name.value()));
      if (participant->observed())
        return refuse(sending, NackCode::Unsupported,
                      format("{} is only observed and cannot vote; leave it out", name.value()));
    }
    propose(sending.from, std::move(*proposal), sending.view.thread);
  } else if (const auto counted = vote(sending.from, std::get<VoteCommand>(*command)); !counted) {
    return refuse(sending, NackCode::BadRequest, counted.error().message());
  }
  acknowledge_when_saved(sending);
}

void Core::propose(const AgentName& proposer, records::Proposal proposal, std::string_view thread) {
  proposal.id = "p-" + random_.hex(6);
  proposal.proposer = proposer;
  proposal.thread = thread;
  proposal.created = now_.wall;
  const auto duration = proposal.expires_at > 0 ? proposal.expires_at : protocol::kDefaultProposalMs;
  proposal.expires_at = now_.wall + duration;
  if (proposal.participants.empty()) {
    for (const auto& [name, agent] : agents_) {
      if (agent.connected() && !agent.observed() && agent.name() != proposer && !protocol::is_internal_name(name))
        proposal.participants.push_back(agent.name());
    }
    std::ranges::sort(proposal.participants);
  }
  timers_.arm(now_.steady + Millis{duration}, {.kind = TimerKind::Proposal, .name = proposal.id});
  const std::string text = proposal_text(proposal);
  const std::string data = consensus_data(proposal);
  std::vector<AgentState*> audience;
  for (const AgentName& name : proposal.participants) {
    AgentState* agent = find_agent(name.value());
    if (agent != nullptr && !agent->removing && !agent->observed() && name != proposer) audience.push_back(agent);
  }
  post(proposer.value(), audience, "action", text, data, thread);
  save_eventually(records::PutProposal{proposal});
  events::ConsensusProposed proposed{.proposal_id = proposal.id,
                                     .title = proposal.title,
                                     .proposed_by = proposer.value(),
                                     .consensus_type = proposal.type};
  for (const AgentName& name : proposal.participants) proposed.participants.push_back(name.value());
  record_event(proposed, proposer, {});
  auto id = proposal.id;
  proposals_.emplace(std::move(id), std::move(proposal));
}

Result<void> Core::vote(const AgentName& voter, const VoteCommand& command) {
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
    save_eventually(records::PutProposal{proposal});
  return {};
}

void Core::conclude(records::Proposal& open, Outcome outcome) {
  records::Proposal proposal = std::move(open);
  proposals_.erase(proposal.id);
  proposal.outcome = name_of(outcome);
  save_eventually(records::PutProposal{proposal});
  events::ConsensusResolved resolved{.proposal_id = proposal.id, .outcome = event_outcome(outcome)};
  for (const auto& vote : proposal.votes) resolved.votes.emplace(vote.voter.value(), vote.choice);
  record_event(resolved, proposal.proposer, {});
  const std::string text = result_text(proposal, outcome);
  const std::string data = consensus_data(proposal);
  std::vector<AgentName> concerned = proposal.participants;
  if (std::ranges::find(concerned, proposal.proposer) == concerned.end()) concerned.push_back(proposal.proposer);
  std::vector<AgentState*> audience;
  for (const AgentName& name : concerned) {
    AgentState* agent = find_agent(name.value());
    if (agent != nullptr && !agent->removing) audience.push_back(agent);
  }
  post(protocol::kConsensus, audience, "action", text, data, proposal.thread);
}

void Core::proposal_due(const std::string& id) {
  const auto place = proposals_.find(id);
  if (place == proposals_.end()) return;
  // Whoever voted has been heard; the rest had their time. Everyone concerned is told.
  conclude(place->second, *tally(place->second, Final::Yes));
}

}  // namespace relay::broker
