// Permissions that rules decide, and those that are denied at a timeout.
#include <gtest/gtest.h>

#include "broker/testing/prompt_fixture.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Decision = PromptAnswer::Decision;

struct PromptRules : PromptFixture {};

TEST_F(PromptRules, WithoutRulesNothingIsApproved) {
  use_rules("");
  send_event(format(R"("type":"permission.requested","requestId":"r1","tool":"Read","filePath":"/etc/hosts",)"
                    R"("description":"Read: /etc/hosts","riskLevel":"medium","_ts":{})",
                    fixture.now().wall));
  request_permission("r2", "ls");
  EXPECT_TRUE(host_answers().empty()) << "nothing is approved";
  EXPECT_EQ(notifications().size(), 2u) << "the agent's own dialog decides";
  EXPECT_EQ(open_permissions(), (Strings{"r1", "r2"}));
}

TEST_F(PromptRules, ApprovalByPresetNamesIt) {
  use_rules("[permissions]\npreset = \"read-only\"\n");
  request_permission("r1", "ls");
  const auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].by, "policy");
  EXPECT_EQ(answers[0].answer.decision, Decision::Approve);
  EXPECT_EQ(answers[0].answer.reason, "preset read-only: approves ls and pwd");
}

TEST_F(PromptRules, RuleApproves) {
  request_permission("r1", "make test");
  const auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].agent, "Bob");
  EXPECT_EQ(answers[0].request, "r1");
  EXPECT_EQ(answers[0].answer.decision, Decision::Approve);
  EXPECT_EQ(answers[0].by, "policy");
  fixture.host_done(answers[0].id, {});
  resolve("r1");
  EXPECT_TRUE(host_answers().empty()) << "answered once";
  EXPECT_TRUE(notifications().empty()) << "the user is not notified";
}

TEST_F(PromptRules, RuleDenies) {
  request_permission("r1", "git push -f");
  const auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer.decision, Decision::Deny);
  EXPECT_NE(answers[0].answer.reason.find("config.toml:"), std::string::npos) << answers[0].answer.reason;
  EXPECT_EQ(string_field(log("permission.requested").back(), "riskLevel"), "high")
      << "its risk is assessed before it is stored";
}

TEST_F(PromptRules, WithoutPolicyUserDecidesEverything) {
  BrokerFixture plain;
  const auto carol = plain.join_with_acks("Carol");
  plain.send_event(carol, "e1-1",
                   R"({"type":"permission.requested","requestId":"r1","tool":"Bash","command":"ls",)"
                   R"("description":"ls","riskLevel":"low"})");
  EXPECT_TRUE(plain.host_requests<AnswerPrompt>().empty());
  EXPECT_EQ(plain.host_requests<NotifyUser>().size(), 1u);
}

TEST_F(PromptRules, PartialCommandIsNotApproved) {
  request_permission("r1", "make test", R"(,"partial":true)");
  EXPECT_TRUE(host_answers().empty());
  EXPECT_NE(string_field(first_open(), "rule").find("only a part"), std::string::npos);
  EXPECT_EQ(notifications().size(), 1u);
}

TEST_F(PromptRules, RuleMustApproveChangedDirectoryToo) {
  request_permission("r1", "make test", R"(,"directory":"/p/sub")");
  EXPECT_EQ(host_answers().size(), 1u) << "below the directory it was started in";
  request_permission("r2", "make test", R"(,"directory":"/p/../q")");
  request_permission("r3", "make test", R"(,"directory":"/other")");
  EXPECT_TRUE(host_answers().empty());
  EXPECT_NE(json::serialize(prompts()).find("the agent is now in /other"), std::string::npos);
  request_permission("r4", "git push", R"(,"directory":"/other")");
  EXPECT_EQ(host_answers().size(), 1u) << "a deny rule applies in any directory";
}

TEST_F(PromptRules, ScreenOnlyPromptCanBeAnsweredOnceInterfaceOpens) {
  request_permission("r1", "make test", R"(,"canAnswer":false)");
  EXPECT_TRUE(host_answers().empty());
  EXPECT_EQ(notifications().size(), 1u);
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"approve")"), "UNSUPPORTED");
  request_permission("r1", "make test");
  EXPECT_EQ(host_answers().size(), 1u);
}

TEST_F(PromptRules, PromptWithoutAnswerIsDeniedAtTimeout) {
  request_fetch("r1", fixture.now().wall);
  EXPECT_EQ(integer_member(first_open(), "expiresAt"), fixture.now().wall + 120'000);
  fixture.advance(119s);
  EXPECT_TRUE(host_answers().empty());
  fixture.advance(1s);
  const auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer.decision, Decision::Timeout);
  EXPECT_EQ(answers[0].by, "policy");
  fixture.host_done(answers[0].id, fail("it is busy"));
  fixture.advance(600s);
  EXPECT_TRUE(host_answers().empty()) << "the answer is not retried";
  EXPECT_EQ(open_permissions(), Strings{"r1"}) << "until its host reports it closed";
  EXPECT_FALSE(first_open().contains("expiresAt"));
}

TEST_F(PromptRules, TimeoutCountsFromTimeOfPrompt) {
  request_fetch("r1", fixture.now().wall - 100'000);
  fixture.advance(20s);
  EXPECT_EQ(host_answers().size(), 1u);
  request_fetch("r2", fixture.now().wall + 1'000'000);
  EXPECT_EQ(open_permissions().size(), 2u);
  fixture.advance(120s);
  EXPECT_EQ(host_answers().size(), 1u) << "a clock that is ahead gains no time";
}

TEST_F(PromptRules, EachPromptHasItsOwnTimeout) {
  request_fetch("r1", fixture.now().wall);
  fixture.advance(60s);
  request_fetch("r2", fixture.now().wall);
  fixture.advance(60s);
  auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].request, "r1");
  fixture.advance(60s);
  answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].request, "r2");
}

TEST_F(PromptRules, FailedAnswerDoesNotStopTimeout) {
  request_fetch("r1", fixture.now().wall);
  fixture.advance(119s);
  answer(user, R"("request":"r1","decision":"approve")");
  const auto answers = host_answers();
  fixture.advance(10s);
  EXPECT_TRUE(host_answers().empty()) << "one answer at a time";
  fixture.host_done(answers.at(0).id, fail("the host did not answer"));
  EXPECT_EQ(result_of(user), "BUSY");
  fixture.advance(1s);
  EXPECT_EQ(host_answers().at(0).answer.decision, Decision::Timeout);
}

TEST_F(PromptRules, FailedRuleAnswerNotifiesUser) {
  request_permission("r1", "make test");
  fixture.host_done(host_answers().at(0).id, fail(protocol::NackCode::Stale, "that prompt is not open any more"));
  EXPECT_EQ(open_permissions(), Strings{"r1"});
  EXPECT_EQ(notifications().size(), 1u);
  fixture.advance(600s);
  EXPECT_TRUE(host_answers().empty());
}

TEST_F(PromptRules, NewRulesApplyFromNextRequestOn) {
  request_permission("r1", "make deploy");
  use_rules("[[permissions]]\ntool = \"bash\"\ncommand = \"make deploy\"\naction = \"approve\"\n");
  EXPECT_TRUE(host_answers().empty());
  request_permission("r2", "make deploy");
  EXPECT_EQ(host_answers().size(), 1u);
}

TEST_F(PromptRules, UserIsNotifiedOnceWithDescription) {
  request_permission("r1", "rm -rf build");
  ask_question("q1");
  const auto sent = notifications();
  ASSERT_EQ(sent.size(), 2u);
  EXPECT_EQ(sent[0].kind, "permission");
  EXPECT_EQ(sent[0].text, "rm -rf build");
  EXPECT_EQ(sent[0].risk, "critical");
  EXPECT_EQ(sent[1].kind, "question");
  EXPECT_EQ(sent[1].text, "Which?");
}

}  // namespace
}  // namespace relay::broker
