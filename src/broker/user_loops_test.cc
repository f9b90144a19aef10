// The loop breaker and messages of the user: repeated messages are refused between agents, not to or from the user.
#include <gtest/gtest.h>

#include <functional>

#include "broker/testing/authority_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;
using protocol::agent_origin;
using protocol::PeerOrigin;

/// Two senders repeat the same messages to each other.
struct UserLoops : AuthorityFixture {
  /// Sends one message under this id; false if it is refused.
  using SendNext = std::function<bool(const std::string& id)>;

  bool from_shell(const PeerOrigin& origin, const std::string& id, const std::string& to, const std::string& sender) {
    const auto shell = fixture.connect(origin);
    fixture.send(shell, id, to, "which branch?", sender);
    return !fixture.received(shell, "ACK").empty();
  }
  bool from_session(ConnectionId session, const std::string& id, const std::string& to) {
    fixture.drop_received(session);
    fixture.send(session, id, to, "on the branch main");
    return !fixture.received(session, "ACK").empty();
  }
  /// How many of ten rounds pass before a message is refused.
  int rounds(const SendNext& one, const SendNext& other) {
    for (int round = 0; round < 10; ++round) {
      fixture.advance(std::chrono::seconds{3});
      if (!one(format("a{}", round)) || !other(format("b{}", round))) return round;
    }
    return 10;
  }
};

TEST_F(UserLoops, MessagesBetweenShellOfUserAndAgentAreNotRefused) {
  const auto from_user = [&](const std::string& id) {
    return from_shell(protocol::user_origin(), id, "Bob", as_user("khaled"));
  };
  EXPECT_EQ(rounds(from_user, [&](const std::string& id) { return from_session(bob, id, "khaled"); }), 10);
  EXPECT_EQ(fixture.response(fixture.join_user(), "LOOPS").at("breakers").as_array().size(), 0u);
}

TEST_F(UserLoops, MessagesOfChatOfUserAreNotRefused) {
  const auto chat = fixture.join(
      "khaled", format(R"("capabilities":{{"send_ack":true}},"session":{{"system_token":"{}"}})", kSystemToken));
  EXPECT_EQ(rounds([&](const std::string& id) { return from_session(chat, id, "Bob"); },
                   [&](const std::string& id) { return from_session(bob, id, "khaled"); }),
            10);
}

TEST_F(UserLoops, MessagesToUserPassAfterAgentsWereStopped) {
  const auto carol = fixture.join_with_acks("Carol");
  const auto to_carol = [&](const std::string& id) { return from_session(bob, id, "Carol"); };
  const auto to_bob = [&](const std::string& id) { return from_session(carol, "c" + id, "Bob"); };
  ASSERT_TRUE(from_shell(protocol::user_origin(), "u", "Bob", as_user("khaled")));
  EXPECT_LT(rounds(to_carol, to_bob), 6);
  for (int i = 0; i < 10; ++i) EXPECT_TRUE(from_session(bob, format("d{}", i), "khaled"));
  EXPECT_FALSE(from_session(carol, "e", "Bob") && from_session(bob, "f", "Carol"));
}

TEST_F(UserLoops, MessagesOfAgentUnderUserNameAreRefused) {
  ASSERT_TRUE(from_shell(protocol::user_origin(), "u", "Bob", as_user("khaled")));
  const auto inside = [&](const std::string& id) {
    return from_shell(agent_origin("Carol"), id, "Bob", as_user("khaled"));
  };
  EXPECT_LT(rounds(inside, [&](const std::string& id) { return from_session(bob, id, "khaled"); }), 6);
}

TEST_F(UserLoops, MessagesOfAgentThroughCommandLineAreRefused) {
  const auto inside = fixture.join_from(agent_origin("Carol"), "cli", kCommandLine);
  fixture.join_with_acks("Carol");
  EXPECT_LT(rounds([&](const std::string& id) { return from_session(inside, id, "Bob"); },
                   [&](const std::string& id) { return from_session(bob, id, "Carol"); }),
            6);
}

TEST_F(UserLoops, MessagesOfTwoAgentsAreRefused) {
  const auto carol = fixture.join_with_acks("Carol");
  EXPECT_LT(rounds([&](const std::string& id) { return from_session(bob, id, "Carol"); },
                   [&](const std::string& id) { return from_session(carol, id, "Bob"); }),
            6);
}

}  // namespace
}  // namespace relay::broker
