// SPAWN by an agent: refused, allowed, or approved by the user.
#include <gtest/gtest.h>

#include "broker/spawn_policy.h"
#include "broker/testing/worker_requests.h"

namespace relay::broker {
namespace {

using namespace testing;

/// Alice is an agent with a host.
struct SpawnByAgent : ::testing::Test {
  BrokerFixture fixture;
  ConnectionId alice =
      fixture.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"delivery":{"queue":true}})");
  ConnectionId user = fixture.join_user();

  void allow(SpawnByAgents mode) {
    fixture.broker().use_spawn_policy(
        std::make_shared<const SpawnPolicy>(mode, std::set<std::string, std::less<>>{"claude"}));
  }
  void spawn(ConnectionId by, const std::string& members) {
    fixture.drop_received(by);
    fixture.request(by, "SPAWN", R"({"name":"Dev",)" + members + "}", "s1");
  }
  std::vector<StartHost> starts() { return fixture.host_requests<StartHost>(); }
  /// The permission that the user sees.
  Frame open_permission() {
    return fixture.response(user, "PROMPTS", "{}").at("permissions").as_array().at(0).as_object();
  }
  void answer(const std::string& decision, const std::string& more = {}) {
    const auto request = string_field(open_permission(), "requestId");
    fixture.request(user, "ANSWER",
                    format(R"({{"agent":"Alice","request":"{}","decision":"{}"{}}})", request, decision, more));
  }
};

TEST_F(SpawnByAgent, SpawnByAgentIsRefusedByDefault) {
  spawn(alice, R"("cli":"claude")");
  EXPECT_TRUE(starts().empty());
  const auto answer = only_result(fixture, alice, "SPAWN_RESULT");
  EXPECT_EQ(string_field(answer, "code"), "REFUSED");
  EXPECT_NE(string_field(answer, "error").find("by_agents"), std::string::npos);
}

TEST_F(SpawnByAgent, CommandLineInsideAgentIsTreatedLikeAgent) {
  const auto inside = fixture.join_from(protocol::agent_origin("Alice"), "cli",
                                        R"("_isSystemComponent":true,"capabilities":{"send_ack":true})");
  spawn(inside, R"("cli":"claude","spawnerName":"human")");
  EXPECT_TRUE(starts().empty());
  EXPECT_EQ(string_field(only_result(fixture, inside, "SPAWN_RESULT"), "code"), "REFUSED");
  spawn(user, R"("cli":"sh","spawnerName":"human")");
  EXPECT_EQ(starts().size(), 1u) << "the user may start any program";
}

TEST_F(SpawnByAgent, EnvironmentOfUserIsPassedOnButNotOfAgent) {
  allow(SpawnByAgents::Profiles);
  spawn(user, R"("cli":"claude","spawnerName":"human","environment":["PATH=/mine"])");
  EXPECT_EQ(only_start(fixture).spec.environment, Strings{"PATH=/mine"});
  fixture.request(alice, "SPAWN", R"({"name":"Eve","cli":"claude","environment":["PATH=/elsewhere"]})", "s2");
  EXPECT_TRUE(only_start(fixture).spec.environment.empty());
}

TEST_F(SpawnByAgent, ShellIsNeverStartedForAgent) {
  for (const auto mode : {SpawnByAgents::Ask, SpawnByAgents::Profiles}) {
    allow(mode);
    for (const auto* cli : {"sh -c id", "/usr/bin/claude", "./claude"}) {
      spawn(alice, format(R"("cli":"{}")", cli));
      EXPECT_EQ(string_field(only_result(fixture, alice, "SPAWN_RESULT"), "code"), "REFUSED") << cli;
    }
  }
  EXPECT_TRUE(starts().empty());
}

TEST_F(SpawnByAgent, ProgramWithProfileIsStartedWhereAllowed) {
  allow(SpawnByAgents::Profiles);
  spawn(alice, R"("cli":"claude")");
  ASSERT_EQ(starts().size(), 1u);
}

TEST_F(SpawnByAgent, ApprovedSpawnStarts) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude -p","args":["two words"],"task":"count the stars")");
  EXPECT_TRUE(starts().empty());
  const auto open = open_permission();
  EXPECT_EQ(string_field(open, "tool"), "spawn");
  EXPECT_EQ(string_field(open, "command"), "claude -p 'two words'");
  EXPECT_NE(string_field(open, "description").find("count the stars"), std::string::npos);
  EXPECT_TRUE(fixture.received(alice, "SPAWN_RESULT").empty()) << "it waits for the answer";
  answer("approve");
  const auto started = starts();
  ASSERT_EQ(started.size(), 1u);
  EXPECT_EQ(started[0].spec.argv, (Strings{"claude", "-p", "two words"}));
  EXPECT_TRUE(fixture.received(user, "ANSWER_RESULT").empty()) << "the outcome is not known yet";
  fixture.host_started(started[0].id, 7);
  EXPECT_EQ(payload(fixture.first_frame(user, "ANSWER_RESULT")).at("success").as_bool(), true);
  EXPECT_EQ(bool_member(only_result(fixture, alice, "SPAWN_RESULT"), "success"), true);
  EXPECT_TRUE(fixture.response(user, "PROMPTS", "{}").at("permissions").as_array().empty());
}

TEST_F(SpawnByAgent, ApprovalReportsFailedStart) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  answer("approve");
  fixture.host_started(only_start(fixture).id, fail("claude is not in PATH"));
  const auto result = only_result(fixture, user, "ANSWER_RESULT");
  EXPECT_EQ(bool_member(result, "success"), false);
  EXPECT_EQ(string_field(result, "code"), "REFUSED");
  EXPECT_EQ(string_field(result, "error"), "approved, but Dev did not start: claude is not in PATH");
  EXPECT_EQ(bool_member(only_result(fixture, alice, "SPAWN_RESULT"), "success"), false);
}

TEST_F(SpawnByAgent, ApprovalReportsTakenName) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  fixture.join("Dev");
  answer("approve");
  EXPECT_TRUE(starts().empty());
  const auto result = only_result(fixture, user, "ANSWER_RESULT");
  EXPECT_EQ(string_field(result, "code"), "NOT_OWNER");
  EXPECT_NE(string_field(result, "error").find("approved, but Dev did not start: "), std::string::npos)
      << string_field(result, "error");
}

TEST_F(SpawnByAgent, DeniedSpawnHasReason) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  answer("deny", R"(,"reason":"too many")");
  EXPECT_TRUE(starts().empty());
  EXPECT_EQ(string_field(only_result(fixture, alice, "SPAWN_RESULT"), "error"),
            "your user denied it (too many); continue without it");
}

TEST_F(SpawnByAgent, DisconnectWithdrawsSpawnPrompt) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  (void)open_permission();
  fixture.disconnect(alice);
  EXPECT_TRUE(fixture.response(user, "PROMPTS", "{}").at("permissions").as_array().empty());
  EXPECT_TRUE(starts().empty());
}

TEST_F(SpawnByAgent, SpawnPromptWithoutAnswerIsRefusedAtTimeout) {
  allow(SpawnByAgents::Ask);
  spawn(alice, R"("cli":"claude")");
  EXPECT_GT(integer_member(open_permission(), "expiresAt").value_or(0), fixture.now().wall);
}

}  // namespace
}  // namespace relay::broker
