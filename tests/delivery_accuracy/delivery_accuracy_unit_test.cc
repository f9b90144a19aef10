#include <gtest/gtest.h>

#include "agent_logs.h"
#include "base/format.h"
#include "base/json.h"
#include "confusion_matrix.h"

namespace relay::accuracy {
namespace {

constexpr Plan kPlan{.seed = 7, .senders = 2, .agents = 2};

/// The first message for this agent, starting at `from`.
Number number_for(std::size_t agent, Number from = 0) {
  while (kPlan.message(from).agent != agent) ++from;
  return from;
}

std::string line(std::string_view event, std::string_view text) {
  return json::serialize(json::object{{"event", event}, {"text", text}}) + "\n";
}

TEST(FindBodies, FindsCompleteAndTornBodies) {
  const auto body = body_of(17);
  EXPECT_EQ(find_bodies("Relay message from A [x]: " + body), (std::vector<BodyMatch>{{17, true}}));
  EXPECT_EQ(find_bodies(body.substr(0, body.size() - 1)), (std::vector<BodyMatch>{{17, false}}));
  EXPECT_EQ(find_bodies(body_of(3) + body), (std::vector<BodyMatch>{{3, true}, {17, true}}));
  EXPECT_TRUE(find_bodies("a message, and message 9 end").empty());
}

TEST(AgentLogs, CountsSubmittedMessagesHoweverTheLogIsSplit) {
  const auto number = number_for(0);
  const auto log = line("paste", body_of(number)) + line("submit", "Relay: " + body_of(number));
  for (std::size_t cut = 0; cut <= log.size(); ++cut) {
    AgentLogs logs{kPlan};
    logs.append(0, log.substr(0, cut));
    logs.append(0, log.substr(cut));
    EXPECT_EQ(logs.times_received(number), 1u) << "cut at byte " << cut;
    EXPECT_EQ(logs.torn(), 0u);
  }
}

TEST(AgentLogs, CountsTextsThatAreNotOneMessageForThisAgentAsTorn) {
  const auto number = number_for(0);
  const auto body = body_of(number);
  for (const auto& text : {body + " and more", body + body_of(number_for(0, number + 1)), body.substr(0, 20)}) {
    AgentLogs logs{kPlan};
    logs.append(0, line("submit", text));
    EXPECT_EQ(logs.torn(), 1u) << text;
  }
  AgentLogs logs{kPlan};
  logs.append(1, line("submit", body));
  EXPECT_EQ(logs.torn(), 1u);
}

TEST(AgentLogs, CountsMessagesReceivedTwiceOrOutOfOrder) {
  const auto number = number_for(0);
  auto later = number + 1;
  while (kPlan.message(later) != kPlan.message(number)) ++later;
  AgentLogs logs{kPlan};
  logs.append(0, line("submit", body_of(later)) + line("submit", body_of(number)) + line("submit", body_of(later)));
  EXPECT_EQ(logs.times_received(later), 2u);
  EXPECT_EQ(logs.out_of_order(), 1u);
  EXPECT_EQ(logs.received(), 2u);
}

TEST(ConfusionMatrix, DetectsEveryFalseState) {
  struct Case {
    Outcome outcome;
    std::size_t received;
    bool accurate;
  };
  for (const auto& [outcome, received, accurate] : std::initializer_list<Case>{{Outcome::Submitted, 1, true},
                                                                               {Outcome::Submitted, 0, false},
                                                                               {Outcome::Seen, 0, false},
                                                                               {Outcome::Seen, 2, false},
                                                                               {Outcome::InDoubt, 0, true},
                                                                               {Outcome::InDoubt, 1, true},
                                                                               {Outcome::InDoubt, 3, false},
                                                                               {Outcome::Failed, 0, false},
                                                                               {Outcome::Expired, 0, false},
                                                                               {Outcome::Dead, 0, false},
                                                                               {Outcome::Cancelled, 0, false},
                                                                               {Outcome::Failed, 1, false},
                                                                               {Outcome::Dead, 1, false},
                                                                               {Outcome::Pending, 0, false},
                                                                               {Outcome::Pending, 1, false},
                                                                               {Outcome::Missing, 0, false}}) {
    ConfusionMatrix matrix;
    matrix.add(outcome, received);
    EXPECT_EQ(matrix.is_accurate(), accurate) << name_of(outcome) << ", received " << received;
    EXPECT_EQ(matrix.all(), 1u);
  }
}

TEST(ConfusionMatrix, UndeliveredMessageIsALossUnlessAllowed) {
  for (const auto outcome : {Outcome::Failed, Outcome::Expired, Outcome::Dead, Outcome::Cancelled}) {
    ConfusionMatrix matrix;
    matrix.add(outcome, 0);
    EXPECT_EQ(matrix.lost(), 1u) << name_of(outcome);
    matrix.add(outcome, 0, Undelivered::Allowed);
    EXPECT_EQ(matrix.lost(), 1u);
    EXPECT_EQ(matrix.undelivered(), 2u);
    EXPECT_EQ(matrix.allowed(), 1u);
    ConfusionMatrix all_allowed;
    all_allowed.add(outcome, 0, Undelivered::Allowed);
    EXPECT_TRUE(all_allowed.is_accurate());
    all_allowed.add(outcome, 1, Undelivered::Allowed);
    EXPECT_EQ(all_allowed.false_undelivered(), 1u) << "received, so the state is false even if allowed";
    EXPECT_FALSE(all_allowed.is_accurate());
  }
  ConfusionMatrix matrix;
  matrix.add(Outcome::Pending, 0, Undelivered::Allowed);
  EXPECT_EQ(matrix.lost(), 1u) << "a delivery must become final even if it may fail";
}

TEST(ConfusionMatrix, ParsesStatesAndProofsOfTraces) {
  EXPECT_EQ(parse_outcome("delivered", "seen"), Outcome::Seen);
  EXPECT_EQ(parse_outcome("delivered", "submitted"), Outcome::Submitted);
  EXPECT_EQ(parse_outcome("delivered", "accepted"), Outcome::Accepted);
  EXPECT_EQ(parse_outcome("in_doubt", "accepted"), Outcome::InDoubt);
  EXPECT_EQ(parse_outcome("cancelled", ""), Outcome::Cancelled);
  for (const auto* state : {"queued", "accepted", "deferred"}) EXPECT_EQ(parse_outcome(state, ""), Outcome::Pending);
}

TEST(ConfusionMatrix, PrintsOnlyRowsWithMessages) {
  ConfusionMatrix matrix;
  matrix.add(Outcome::Submitted, 1);
  matrix.add(Outcome::InDoubt, 0);
  const auto table = matrix.table();
  EXPECT_TRUE(table.contains("delivered/submitted"));
  EXPECT_TRUE(table.contains("in_doubt"));
  EXPECT_FALSE(table.contains("dead"));
}

}  // namespace
}  // namespace relay::accuracy
