// Permissions and questions that agents put to the user: listed while open, answered once.
#include "broker/prompts.h"

#include <gtest/gtest.h>

#include "broker/testing/prompt_fixture.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using Decision = PromptAnswer::Decision;

struct OpenPrompts : PromptFixture {};

TEST_F(OpenPrompts, PromptIsOpenUntilResolved) {
  request_permission("r1", "make deploy");
  const auto open_now = first_open();
  EXPECT_EQ(string_field(open_now, "requestId"), "r1");
  EXPECT_EQ(string_field(open_now, "agent"), "Bob");
  EXPECT_EQ(string_field(open_now, "sessionId"), session());
  EXPECT_EQ(string_field(open_now, "command"), "make deploy");
  EXPECT_EQ(string_field(open_now, "riskLevel"), "medium");
  EXPECT_EQ(string_field(open_now, "rule"), "no rule applies");
  EXPECT_EQ(integer_member(open_now, "requestedAt"), fixture.now().wall);
  EXPECT_TRUE(open_now.at("canAnswer").as_bool());
  EXPECT_FALSE(open_now.contains("expiresAt"));
  resolve("r1");
  EXPECT_TRUE(open_permissions().empty());
}

TEST_F(OpenPrompts, PromptsOfOneAgentAreListedAndUnknownAgentIsReported) {
  request_permission("r1", "make deploy");
  ask_question("q1");
  EXPECT_EQ(prompts("Bob").at("permissions").as_array().size(), 1u);
  EXPECT_EQ(open_questions(), Strings{"q1"});
  EXPECT_EQ(string_field(prompts("Unknown"), "code"), "UNKNOWN_RECIPIENT");
}

TEST_F(OpenPrompts, PromptOpensOnceItIsStored) {
  fixture.hold_commits();
  request_permission("r1", "make test");
  EXPECT_TRUE(host_answers().empty()) << "the event must be stored first";
  fixture.release_commits();
  EXPECT_EQ(host_answers().size(), 1u);
}

TEST_F(OpenPrompts, UnstoredPromptOpensWhenItIsRepeated) {
  fixture.fail_commits();
  request_permission("r1", "make deploy");
  EXPECT_TRUE(open_permissions().empty());
  fixture.accept_commits();
  fixture.advance(2s);
  --last_event;
  request_permission("r1", "make deploy");
  EXPECT_EQ(open_permissions(), Strings{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 1u);
}

TEST_F(OpenPrompts, PromptRepeatedAfterReconnectIsOneEventAndOneEntry) {
  request_permission("r1", "make deploy");
  request_permission("r1", "make deploy", format(R"(,"_again":"{}")", session()));
  request_permission("r1", "make deploy");
  EXPECT_EQ(open_permissions(), Strings{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 1u);
}

TEST_F(OpenPrompts, PromptRepeatedAfterRestartIsNoSecondEventOrNotification) {
  const auto token = token_of(fixture, bob);
  request_permission("r1", "make deploy");
  EXPECT_EQ(notifications().size(), 1u);
  const auto since = fixture.now().wall;
  fixture.restart();
  use_default_rules();
  user = fixture.join_user();
  bob = fixture.connect();
  fixture.request(bob, "RESUME",
                  format(R"({{"agent":"Bob","session_id":"{}","resume_token":"{}"}})", session(), token));
  fixture.advance(10s);
  send_event(format(R"("type":"permission.requested","requestId":"r1","tool":"Bash","command":"make deploy",)"
                    R"("description":"make deploy","riskLevel":"medium","_ts":{},"_again":"{}")",
                    since, session()));
  EXPECT_EQ(open_permissions(), Strings{"r1"});
  EXPECT_EQ(integer_member(first_open(), "requestedAt"), since);
  EXPECT_EQ(log("permission.requested").size(), 1u);
  EXPECT_TRUE(notifications().empty());
}

TEST_F(OpenPrompts, PromptResentAfterRestartOpensWithoutSecondEvent) {
  request_permission("r1", "make deploy");
  fixture.restart();
  user = fixture.join_user();
  bob = fixture.join_with_acks("Bob");
  --last_event;
  request_permission("r1", "make deploy");
  EXPECT_EQ(open_permissions(), Strings{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 1u);
}

TEST_F(OpenPrompts, PromptOfNextSessionIsNewEvent) {
  request_permission("r1", "make deploy");
  const auto before = session();
  fixture.disconnect(bob);
  bob = fixture.join_with_acks("Bob");
  EXPECT_TRUE(open_permissions().empty()) << "its session has ended";
  EXPECT_EQ(string_field(log("permission.resolved").back(), "resolution"), "withdrawn");
  EXPECT_EQ(string_field(log("permission.resolved").back(), "resolvedBy"), "nobody");
  request_permission("r1", "make deploy", format(R"(,"_again":"{}")", before));
  EXPECT_EQ(open_permissions(), Strings{"r1"});
  EXPECT_EQ(log("permission.requested").size(), 2u);
}

TEST_F(OpenPrompts, RepeatedPromptCanGainDetails) {
  request_permission("r1", "make de", R"(,"canAnswer":false)");
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  request_permission("r1", "make deploy", R"(,"canAnswer":true)");
  EXPECT_TRUE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(string_field(first_open(), "command"), "make deploy");
  EXPECT_EQ(log("permission.requested").size(), 2u);
  request_permission("r1", "make deploy", R"(,"canAnswer":false)");
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(log("permission.requested").size(), 2u) << "a prompt that moves to the screen is the same prompt";
}

TEST_F(OpenPrompts, PromptRepeatedBeforeCommitIsOneEvent) {
  fixture.hold_commits();
  request_permission("r1", "make deploy");
  request_permission("r1", "make deploy", R"(,"canAnswer":false)");
  fixture.release_commits();
  EXPECT_EQ(log("permission.requested").size(), 1u);
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(notifications().size(), 1u);
}

TEST_F(OpenPrompts, OpenPromptsOfOneAgentAreBounded) {
  for (std::size_t i = 0; i < kMaxOpenPrompts + 5; ++i) request_permission(format("r{}", i), "make deploy");
  EXPECT_EQ(open_permissions().size(), kMaxOpenPrompts);
  EXPECT_EQ(log("permission.requested").size(), kMaxOpenPrompts + 5);
}

TEST_F(OpenPrompts, ByeClosesPrompts) {
  request_permission("r1", "make deploy");
  ask_question("q1");
  fixture.request(bob, "BYE");
  EXPECT_TRUE(open_permissions().empty());
  EXPECT_TRUE(open_questions().empty());
  EXPECT_EQ(log("question.resolved").size(), 1u);
}

// ---------------------------------------------------------------- ANSWER

TEST_F(OpenPrompts, UserApproves) {
  request_permission("r1", "make deploy");
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"approve","reason":"approved")"), "none yet");
  const auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].answer.decision, Decision::Approve);
  EXPECT_EQ(answers[0].answer.reason, "approved");
  EXPECT_EQ(answers[0].by, "human");
  fixture.host_done(answers[0].id, {});
  EXPECT_EQ(result_of(user), "ok");
  EXPECT_EQ(open_permissions(), Strings{"r1"}) << "it is open until the host reports its resolution";
  resolve("r1");
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"approve")"), "STALE");
}

TEST_F(OpenPrompts, UnknownPromptIsNotFoundAndClosedOneIsStale) {
  request_permission("r1", "make deploy");
  EXPECT_EQ(answer(user, R"("request":"r2","decision":"approve")"), "NOT_FOUND");
  resolve("r1");
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"approve")"), "STALE");
  request_permission("r3", "make deploy");
  fixture.request(bob, "BYE", R"({"reason":"ended"})");
  EXPECT_EQ(answer(user, R"("request":"r3","decision":"approve")"), "STALE") << "its session ended";
}

TEST_F(OpenPrompts, PermissionWithoutCommandOrFileHasNull) {
  request_permission("r1", "make deploy");
  EXPECT_EQ(string_member(first_open(), "command"), "make deploy");
  EXPECT_TRUE(first_open().at("filePath").is_null());
}

TEST_F(OpenPrompts, AnswerNamesSenderByConnection) {
  request_permission("r1", "make deploy");
  const auto alice = fixture.join_with_acks("Alice");
  answer(alice, R"("request":"r1","decision":"deny","by":"human")");
  auto answers = host_answers();
  ASSERT_EQ(answers.size(), 1u);
  EXPECT_EQ(answers[0].by, "Alice");
  fixture.host_done(answers[0].id, {});
  answer(user, R"("request":"r1","decision":"deny","by":"Carol")");
  EXPECT_EQ(host_answers().at(0).by, "Carol");
}

TEST_F(OpenPrompts, AgentCannotAnswerItself) {
  request_permission("r1", "make deploy");
  EXPECT_EQ(answer(bob, R"("request":"r1","decision":"approve")"), "BAD_REQUEST");
  EXPECT_TRUE(host_answers().empty());
}

TEST_F(OpenPrompts, OnlyOneAnswerIsPending) {
  request_permission("r1", "make deploy");
  answer(user, R"("request":"r1","decision":"deny")");
  const auto first = host_answers();
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"approve")"), "BUSY");
  EXPECT_TRUE(host_answers().empty());
  fixture.host_done(first.at(0).id, fail(protocol::NackCode::BadRequest, "1 question and 0 answers"));
  EXPECT_EQ(result_of(user), "BAD_REQUEST") << "the host's own reason";
  answer(user, R"("request":"r1","decision":"approve")");
  EXPECT_EQ(host_answers().size(), 1u);
}

TEST_F(OpenPrompts, PromptWithdrawnByHostIsNotWithdrawnAgain) {
  request_permission("r1", "make deploy");
  fixture.hold_commits();
  send_event(
      R"("type":"permission.resolved","requestId":"r1","resolution":"withdrawn","resolvedBy":"nobody","resolvedAt":1)");
  fixture.request(bob, "BYE", R"({"reason":"ended"})");
  fixture.release_commits();
  fixture.disconnect(bob);
  bob = fixture.join_with_acks("Bob");
  EXPECT_TRUE(open_permissions().empty());
  EXPECT_EQ(log("permission.resolved").size(), 1u);
}

TEST_F(OpenPrompts, OfflineAgentCannotBeAnswered) {
  request_permission("r1", "make deploy");
  fixture.disconnect(bob);
  EXPECT_FALSE(first_open().at("canAnswer").as_bool());
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"approve")"), "BUSY");
  fixture.request(user, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_TRUE(open_permissions().empty());
  EXPECT_EQ(string_field(log("permission.resolved").back(), "resolution"), "withdrawn");
}

TEST_F(OpenPrompts, InvalidRequestTimeIsClamped) {
  request_fetch("r1", std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(integer_member(first_open(), "requestedAt"), 0);
  fixture.advance(1ms);
  EXPECT_EQ(host_answers().size(), 1u) << "its timeout has passed";
}

TEST_F(OpenPrompts, AnswerMustFitPrompt) {
  request_permission("r1", "make deploy");
  ask_question("q1");
  EXPECT_EQ(answer(user, R"("request":"r1","answers":["yes"])"), "BAD_REQUEST");
  EXPECT_EQ(answer(user, R"("request":"q1","decision":"approve")"), "BAD_REQUEST");
  EXPECT_EQ(answer(user, R"("request":"r2","decision":"approve")"), "NOT_FOUND");
  EXPECT_EQ(answer(user, R"("request":"r1","decision":"perhaps")"), "BAD_REQUEST");
  fixture.request(user, "ANSWER", R"({"agent":"Unknown","request":"r1","decision":"deny"})");
  EXPECT_EQ(result_of(user), "UNKNOWN_RECIPIENT");
  EXPECT_TRUE(host_answers().empty());
  answer(user, R"("request":"q1","answers":["a"])");
  EXPECT_EQ(host_answers().at(0).answer.answers, Strings{"a"});
}

TEST_F(OpenPrompts, AnswerMayOutliveAgentAndUser) {
  request_permission("r1", "make deploy");
  answer(user, R"("request":"r1","decision":"deny")");
  const auto answers = host_answers();
  fixture.disconnect(user);
  fixture.request(bob, "BYE");
  fixture.host_done(answers.at(0).id, {});
  fixture.host_done(answers.at(0).id, {});
}

}  // namespace
}  // namespace relay::broker
