// What only the user may do, and from where.
#include <gtest/gtest.h>

#include "broker/testing/world.h"

namespace relay::broker {
namespace {

using namespace testing;
using protocol::agent_origin;
using protocol::PeerOrigin;

constexpr auto kCommandLine = R"("_isSystemComponent":true,"capabilities":{"send_ack":true})";

struct Authority : ::testing::Test {
  World world;
  ConnectionId bob = world.join_ours("Bob", R"("cli":"claude","workingDirectory":"/p")");

  void ask_permission() {
    world.request(bob, "AGENT_EVENT",
                  R"({"event":{"type":"permission.requested","requestId":"r1","tool":"Bash","command":"make",)"
                  R"("description":"run make","riskLevel":"low"}})",
                  "e1-1");
  }
  Frame answer(ConnectionId by) {
    return world.answer(by, "ANSWER", R"({"agent":"Bob","request":"r1","decision":"approve"})");
  }
};

TEST_F(Authority, AgentCannotApproveItsOwnPermissionThroughACommandLine) {
  ask_permission();
  const auto shell = world.join_from(agent_origin("Bob"), "cli", kCommandLine);
  const auto refused = answer(shell);
  EXPECT_EQ(text(refused, "code"), "REFUSED");
  EXPECT_NE(text(refused, "error").find("inside the agent Bob"), std::string::npos) << text(refused, "error");
  EXPECT_TRUE(world.asked_of_hosts<AnswerPrompt>().empty());
}

TEST_F(Authority, AgentCannotApproveForAnotherAgent) {
  ask_permission();
  const auto carol = world.join_from(agent_origin("Carol"), "Carol", R"("capabilities":{"send_ack":true})");
  EXPECT_EQ(text(answer(carol), "code"), "REFUSED");
}

TEST_F(Authority, UnidentifiedProcessCannotApprove) {
  ask_permission();
  EXPECT_EQ(text(answer(world.join_from(PeerOrigin{}, "cli", kCommandLine)), "code"), "REFUSED");
}

TEST_F(Authority, UserApprovesFromAShell) {
  ask_permission();
  const auto shell = world.join_person();
  world.heard(shell);
  world.request(shell, "ANSWER", R"({"agent":"Bob","request":"r1","decision":"approve"})");
  EXPECT_EQ(world.asked_of_hosts<AnswerPrompt>().size(), 1u);
}

TEST_F(Authority, AgentCannotChangeWhatTheUserSet) {
  const auto shell = world.join_from(agent_origin("Bob"), "cli", kCommandLine);
  for (const auto* control :
       {R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"refuse"}])",
        R"("action":"unpause","agent":"Bob")", R"("action":"reset-loop","from":"Bob","to":"Carol")"}) {
    const auto answered = world.control(shell, control);
    EXPECT_EQ(text(answered, "code"), "REFUSED") << control << json::serialize(answered);
  }
  EXPECT_EQ(world.control(shell, R"("action":"policy","agent":"Bob")").at("success"), true) << "reading is free";
}

TEST_F(Authority, SessionIdAloneDoesNotResume) {
  const auto session = text(payload(world.heard(bob, "WELCOME").at(0)), "session_id");
  world.leave(bob);
  const auto thief = world.connect();
  world.request(thief, "RESUME", format(R"({{"session_id":"{}","agent":"Bob"}})", session));
  const auto nack = world.heard(thief, "NACK");
  ASSERT_EQ(nack.size(), 1u);
  EXPECT_EQ(text(payload(nack.front()), "code"), "STALE");
  EXPECT_NE(text(payload(nack.front()), "message").find("token"), std::string::npos);
}

}  // namespace
}  // namespace relay::broker
