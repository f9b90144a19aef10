#include "host/prompts/prompt_tracker.h"

#include <gtest/gtest.h>

#include "host/testing/prompt_fixture.h"

namespace relay::host {
namespace {

using adapters::PromptAnswer;
using adapters::PromptKind;
using profiles::State;

struct PromptTrackerTest : testing::PromptFixture {};

TEST_F(PromptTrackerTest, QuestionIsReportedWithChoices) {
  EXPECT_EQ(
      lines(tracker.on_prompt({.id = "p1", .kind = PromptKind::Question, .questions = {{"Which?", {"Red", "Blue"}}}})),
      (Lines{R"(question.requested {"questionId":"h7-p1","question":"Which?","options":["Red","Blue"]})"}));
  EXPECT_EQ(close("p1", {.by = "hook"}, AnswerRecord{.by = "Bob", .reply = {.answers = {"Red"}}}),
            (Lines{R"(question.resolved {"questionId":"h7-p1","answer":"Red","resolvedBy":"Bob"})"}));
}

TEST_F(PromptTrackerTest, ResolutionNamesResolver) {
  for (const auto* id : {"p1", "p2", "p3", "p4"}) (void)tracker.on_prompt(bash(id));
  EXPECT_EQ(
      close("p1", {.by = "hook"}, AnswerRecord{.by = "policy"}),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p1","resolution":"approved","resolvedBy":"policy","resolvedAt":5000})"}));
  EXPECT_EQ(
      close("p2", {.by = "hook"}, AnswerRecord{.reply = {.decision = PromptAnswer::Decision::Deny, .message = "no"}}),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p2","resolution":"denied","resolvedBy":"human","resolvedAt":5000,"reason":"no"})"}));
  EXPECT_EQ(
      close("p3", {.by = "user", .decision = PromptAnswer::Decision::Deny}, AnswerRecord{.by = "policy"}),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p3","resolution":"denied","resolvedBy":"human","resolvedAt":5000})"}))
      << "the user was faster";
  EXPECT_NE(
      close("p4", {.by = "nobody: too many are open"})[0].find(R"("resolution":"withdrawn","resolvedBy":"nobody")"),
      std::string::npos);
  EXPECT_TRUE(close("p4", {.by = "user"}).empty());
  EXPECT_TRUE(tracker.open().empty());
}

TEST_F(PromptTrackerTest, TranscriptShowsAnswerOfUser) {
  start_call("c1", "Bash");
  start_call("r1", "Read");
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  EXPECT_EQ(tracker.due(), now.steady + PromptTracker::kOutcomeTimeout);
  EXPECT_TRUE(end_call("r1", true).empty()) << "it is another call";
  EXPECT_NE(end_call("c1", true)[0].find(R"("resolution":"denied","resolvedBy":"human")"), std::string::npos);

  (void)tracker.on_prompt(bash("p2"));
  start_call("c2", "Bash");
  EXPECT_TRUE(tracker.on_event(events::CommandExecuted{.command = "make", .exit_code = 2}, 1).empty());
  EXPECT_TRUE(end_call("c2", true).empty()) << "its dialog has not closed yet";
  EXPECT_NE(close("p2", {.by = "user"})[0].find(R"("resolution":"approved","resolvedBy":"human")"), std::string::npos)
      << "it ran and failed";
}

TEST_F(PromptTrackerTest, ExitIsNoDenial) {
  start_call("c1", "Bash");
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  const json::object ended{{"failed", true}, {"reason", "the agent has ended"}};
  EXPECT_TRUE(tracker.on_event(events::ItemCompleted{.item_id = "c1", .result = ended}, 1).empty());
  EXPECT_NE(lines(tracker.on_agent_exit(9))[0].find(R"("resolution":"withdrawn","resolvedBy":"nobody")"),
            std::string::npos);
}

TEST_F(PromptTrackerTest, AnsweredPromptIsNotUnanswered) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_EQ(tracker.unanswered().size(), 1U);
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  EXPECT_TRUE(tracker.unanswered().empty());
  EXPECT_EQ(tracker.open().size(), 1U) << "a new daemon gets it";
}

TEST_F(PromptTrackerTest, UnknownOutcomeIsNotGuessed) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(update(State::Idle)[0].find(R"("resolution":"withdrawn","resolvedBy":"human")"), std::string::npos);
}

TEST_F(PromptTrackerTest, WorkingAgentApprovesOnlyWhileOwnCallRuns) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(update(State::Working)[0].find(R"("resolution":"withdrawn")"), std::string::npos)
      << "perhaps a subagent's call";
  start_call("c1", "Bash");
  (void)tracker.on_prompt(bash("p2"));
  EXPECT_TRUE(close("p2", {.by = "user"}).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(update(State::Working)[0].find(R"("resolution":"approved")"), std::string::npos);
}

TEST_F(PromptTrackerTest, UnknownScreenDelaysNoRequest) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  advance(PromptTracker::kOutcomeTimeout);
  EXPECT_NE(update(State::Unknown)[0].find(R"("resolution":"withdrawn")"), std::string::npos);
  (void)update(State::Blocked, dialog("make"));
  EXPECT_TRUE(tracker.due());
  EXPECT_TRUE(update(State::Unknown).empty());
  EXPECT_FALSE(tracker.due()) << "no further update is due";
}

TEST_F(PromptTrackerTest, NothingIsOpenAfterAgentExit) {
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_EQ(tracker.on_agent_exit(9).size(), 1U);
  EXPECT_TRUE(tracker.on_agent_exit(9).empty());
}

TEST_F(PromptTrackerTest, TimeoutIsNoDenialByUser) {
  (void)tracker.on_prompt(bash("p1"));
  const AnswerRecord late{
      .by = "policy", .reply = {.decision = PromptAnswer::Decision::Deny, .message = "too late"}, .timed_out = true};
  EXPECT_EQ(
      close("p1", {.by = "hook"}, late),
      (Lines{
          R"(permission.resolved {"requestId":"h7-p1","resolution":"timeout","resolvedBy":"policy","resolvedAt":5000,"reason":"too late"})"}));
}

TEST_F(PromptTrackerTest, CallsOfOneToolHaveOwnAnswers) {
  start_call("c1", "Bash", "make");
  start_call("c2", "Bash", "make clean");
  (void)tracker.on_prompt(bash("p1"));
  EXPECT_TRUE(close("p1", {.by = "user"}).empty());
  EXPECT_TRUE(end_call("c2", true).empty()) << "the other call was denied";
  EXPECT_NE(end_call("c1", false).at(0).find(R"("resolution":"approved")"), std::string::npos);
}

}  // namespace
}  // namespace relay::host
