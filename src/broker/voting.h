/// Consensus: messages to `_consensus` are proposals and votes; results go to the participants and the proposer.
///
/// Bounds: kMaxOpenProposals in a workspace, kMaxProposalsPerAgent.
/// Threading: the broker's.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "broker/consensus.h"
#include "broker/router.h"

namespace relay::broker {

class Voting final : public InternalRecipient, public NameHolder {
 public:
  Voting(Context& context, CommitPipeline& commits, Agents& agents, EventRecorder& event_recorder, SendReplies& replies,
         Publisher& publisher)
      : context_{context},
        commits_{commits},
        agents_{agents},
        event_recorder_{event_recorder},
        replies_{replies},
        publisher_{publisher} {}

  void restore(records::WorkspaceState& state);
  void on_message(SendContext& sending) override;
  void on_due(const std::string& proposal);
  void add_needed_names(std::set<AgentName>& needed) const override;

 private:
  std::optional<Rejection> check_proposal(const AgentName& proposer, const records::Proposal& proposal) const;
  void propose(const AgentName& proposer, records::Proposal proposal, std::string_view thread);
  Result<void> vote(const AgentName& voter, const VoteCommand& command);
  void conclude(records::Proposal& proposal, Outcome outcome);

  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  EventRecorder& event_recorder_;
  SendReplies& replies_;
  Publisher& publisher_;
  std::map<std::string, records::Proposal> proposals_;  // the open ones
};

}  // namespace relay::broker
