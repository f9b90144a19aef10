// An MCP server inside an agent under a host: it acts as that agent, and reads messages through the host socket.
#include <signal.h>

#include "cli/agents.h"
#include "cli/mcp_client.h"

namespace relay::cli_tests {
namespace {

struct McpInside : Agents {
  McpInside() {
    script(R"({"rules":[],"default":{"reply":"fine"}})");
    box.ok({"send", "*", "so that tester is known", "--from", "tester"});
  }
  /// The variables that the host of that agent sets for its programs.
  void enter(const std::string& name) {
    box.set("AGENT_RELAY_NAME", name);
    box.set("AGENT_RELAY_HOST_SOCKET", string_member(box.ok_json({"explain", name}), "socket").value_or(""));
  }
};

TEST_F(McpInside, FetchesAgentsMessagesBeforeTypingAndSendsInItsName) {
  auto& bob = start("Bob", {"--status"});
  bob.type("half a line");  // nothing is typed while there is a draft
  ASSERT_TRUE(bob.shows("half a line"));
  const auto id = send("Bob", "read me by MCP");
  ASSERT_TRUE(is_pending_because(id, "draft"));
  enter("Bob");
  McpClient inside{box};
  EXPECT_EQ(string_member(inside.structured(inside.call("relay_whoami")), "session"), "hosted");
  EXPECT_NE(inside.tell("relay_wait").find("Relay message from tester [" + id + "]: read me by MCP"),
            std::string::npos);
  ASSERT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(trace_of(id).proof, "seen");
  bob.type("\r");
  ASSERT_TRUE(hears("Bob", "half a line"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{"half a line"});

  const auto reply = inside.structured(inside.call("relay_reply", R"({"message":")" + id + R"(","body":"done"})"));
  EXPECT_EQ(string_member(reply, "status"), "stored");
  EXPECT_NE(box.ok({"inbox", "tester"}).find("Bob"), std::string::npos);
}

TEST_F(McpInside, MessageNotShownStaysAtHost) {
  start("Bob", {"--status"});
  const auto id = string_member(box.ok_json({"send", "Bob", "important", "--mode", "manual", "--from", "tester"}), "id")
                      .value_or("");
  enter("Bob");
  McpClient hasty{box};
  ASSERT_NE(hasty.tell("relay_inbox", R"({"peek":true})").find("important"), std::string::npos);
  const auto host = static_cast<pid_t>(integer_member(box.ok_json({"explain", "Bob"}), "hostPid").value_or(0));
  ASSERT_GT(host, 1);
  ::kill(host, SIGSTOP);
  const auto asked = hasty.call("relay_inbox");
  hasty.server().end_input();
  EXPECT_EQ(hasty.server().finish().code, 0);
  ::kill(host, SIGCONT);
  EXPECT_FALSE(hasty.answered(asked));
  McpClient next{box};
  EXPECT_NE(next.tell("relay_inbox").find("important"), std::string::npos);
  ASSERT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(trace_of(id).proof, "seen");
}

TEST_F(McpInside, WaitReturnsMessageFromHost) {
  auto& bob = start("Bob", {"--status"});
  bob.type("half a line");
  ASSERT_TRUE(bob.shows("half a line"));
  enter("Bob");
  McpClient inside{box};
  const auto waiting = inside.call("relay_wait", R"({"timeout":60})");
  EXPECT_EQ(inside.tell("relay_inbox", R"({"peek":true})"), "no pending messages");
  const auto id = send("Bob", "now");
  EXPECT_NE(inside.text(waiting).find("[" + id + "]: now"), std::string::npos);
  box.kill_daemon();
  EXPECT_NE(inside.tell("relay_send", R"({"to":"tester","body":"x"})").find("agent-relay up"), std::string::npos);
}

TEST_F(McpInside, WaitReturnsFlushedMessage) {
  auto& bob = start("Bob", {"--status"});
  bob.type("half a line");
  ASSERT_TRUE(bob.shows("half a line"));
  const auto id =
      string_member(box.ok_json({"send", "Bob", "when you have time", "--mode", "manual", "--from", "tester"}), "id")
          .value_or("");
  enter("Bob");
  McpClient inside{box};
  const auto waiting = inside.call("relay_wait", R"({"timeout":600})");
  EXPECT_NE(inside.tell("relay_inbox", R"({"peek":true})").find("when you have time"), std::string::npos);
  EXPECT_FALSE(inside.answered(waiting)) << "held until it is fetched";
  box.ok({"flush", "Bob"});
  EXPECT_NE(inside.text(waiting).find("[" + id + "]: when you have time"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
