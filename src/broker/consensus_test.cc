#include "broker/consensus.h"

#include <gtest/gtest.h>

namespace relay::broker {
namespace {

records::Proposal make_proposal(std::string type, int participants) {
  records::Proposal made;
  made.id = "p-1";
  made.title = "Use tabs";
  made.type = std::move(type);
  for (int i = 0; i < participants; ++i) made.participants.emplace_back(std::string(1, static_cast<char>('A' + i)));
  return made;
}
/// One vote per character: `+` approve, `-` reject, `0` abstain.
void cast_votes(records::Proposal& open, std::string_view choices) {
  for (const char c : choices) {
    const auto voter = open.participants[open.votes.size()];
    open.votes.push_back({voter, c == '+' ? "approve" : c == '-' ? "reject" : "abstain", ""});
  }
}

TEST(Consensus, ReadsAllLinesOfProposal) {
  const auto command = parse_consensus_command(
      "PROPOSE: Use tabs\nTYPE: supermajority\nPARTICIPANTS: Bob, Carol,Bob\nDESCRIPTION: first line\nsecond: line\n"
      "TIMEOUT: 60000\nQUORUM: 2\nTHRESHOLD: 0.75");
  ASSERT_TRUE(command) << command.error().message();
  const auto& read = std::get<records::Proposal>(*command);
  EXPECT_EQ(read.title, "Use tabs");
  EXPECT_EQ(read.type, "supermajority");
  EXPECT_EQ(read.participants.size(), 2u);
  EXPECT_EQ(read.description, "first line\nsecond: line");
  EXPECT_EQ(read.expires_at, 60000);
  EXPECT_EQ(read.quorum, 2u);
  EXPECT_DOUBLE_EQ(read.threshold, 0.75);
}

TEST(Consensus, ReadsVoteWithReason) {
  const auto vote = std::get<VoteCommand>(*parse_consensus_command("VOTE p-1 Approve looks good to me"));
  EXPECT_EQ(vote.proposal, "p-1");
  EXPECT_EQ(vote.choice, "approve");
  EXPECT_EQ(vote.reason, "looks good to me");
}

TEST(Consensus, InvalidCommandIsExplained) {
  for (const char* body : {"", "hello", "PROPOSE:", "PROPOSE: x\nTYPE: coin", "PROPOSE: x\nTIMEOUT: soon",
                           "PROPOSE: x\nQUORUM: 0", "PROPOSE: x\nTHRESHOLD: 2", "VOTE", "VOTE p-1 maybe"}) {
    EXPECT_FALSE(parse_consensus_command(body)) << body;
  }
}

struct VoteCase {
  const char* type;
  int participants;
  const char* votes;
  std::optional<Outcome> early;
  Outcome at_end;
};

TEST(Consensus, CountsVotesOfEachType) {
  const auto yes = Outcome::Approved;
  const auto no = Outcome::Rejected;
  const auto none = Outcome::NoConsensus;
  for (const VoteCase& c : {
           VoteCase{"majority", 3, "++", yes, yes},
           VoteCase{"majority", 3, "+", std::nullopt, yes},
           VoteCase{"majority", 4, "++--", none, none},
           VoteCase{"majority", 3, "--", no, no},
           VoteCase{"majority", 3, "", std::nullopt, none},
           VoteCase{"supermajority", 3, "++", std::nullopt, none},
           VoteCase{"supermajority", 3, "+++", yes, yes},
           VoteCase{"supermajority", 3, "-", no, no},
           VoteCase{"unanimous", 3, "++", std::nullopt, none},
           VoteCase{"unanimous", 3, "+-", no, no},
           VoteCase{"unanimous", 2, "++", yes, yes},
           VoteCase{"unanimous", 2, "+0", none, none},
           VoteCase{"quorum", 4, "+", std::nullopt, none},
           VoteCase{"quorum", 4, "++", yes, yes},
           VoteCase{"quorum", 4, "+-", std::nullopt, none},
           VoteCase{"quorum", 2, "+-", none, none},
           VoteCase{"weighted", 3, "++", yes, yes},
       }) {
    auto open = make_proposal(c.type, c.participants);
    cast_votes(open, c.votes);
    EXPECT_EQ(tally(open, Final::No), c.early) << c.type << " " << c.votes;
    EXPECT_EQ(tally(open, Final::Yes), c.at_end) << c.type << " " << c.votes;
  }
}

TEST(Consensus, TextsAreBounded) {
  EXPECT_FALSE(parse_consensus_command("PROPOSE: x\nDESCRIPTION: " + std::string(kMaxProposalBytes, 'x')));
  records::Proposal open;
  open.title = "x";
  for (int i = 0; i < 1000; ++i)
    open.votes.push_back({AgentName{std::to_string(i)}, "approve", std::string(kMaxReasonBytes, 'x')});
  EXPECT_LT(result_text(open, Outcome::Approved).size(), kMaxResultBytes + 2 * kMaxReasonBytes);
}

TEST(Consensus, TextNamesIdAndOutcome) {
  auto open = make_proposal("majority", 2);
  EXPECT_NE(proposal_text(open).find("\nID: p-1\n"), std::string::npos);
  cast_votes(open, "++");
  const auto text = result_text(open, Outcome::Approved);
  EXPECT_NE(text.find("CONSENSUS RESULT"), std::string::npos);
  EXPECT_NE(text.find("APPROVED"), std::string::npos);
}

}  // namespace
}  // namespace relay::broker
