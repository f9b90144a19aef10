// An MCP server inside an agent under a host: it acts as that agent, and reads messages through the host socket.
#include <signal.h>

#include "cli/agents.h"
#include "cli/mcp_client.h"

namespace relay::cli_tests {
namespace {

struct McpInAgent : Agents {
  McpInAgent() {
    script(R"({"rules":[],"default":{"reply":"fine"}})");
    box.ok({"send", "*", "hello from tester", "--from", "tester"});
  }
  /// Sets the variables that the host of that agent sets for its programs.
  void enter(const std::string& name) {
    box.set("AGENT_RELAY_NAME", name);
    box.set("AGENT_RELAY_HOST_SOCKET", string_member(box.ok_json({"explain", name}), "socket").value_or(""));
  }
};

TEST_F(McpInAgent, FetchesAgentsMessagesBeforeTypingAndSendsInItsName) {
  auto& bob = start_with_draft("Bob", "half a line", {"--status"});
  const auto id = send("Bob", "read me by MCP");
  ASSERT_TRUE(is_pending_because(id, "draft"));
  enter("Bob");
  McpClient inside{box};
  EXPECT_EQ(string_member(inside.structured(inside.call("relay_whoami")), "session"), "hosted");
  EXPECT_NE(inside.call_text("relay_wait").find("Relay message from tester [" + id + "]: read me by MCP"),
            std::string::npos);
  ASSERT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(trace_of(id).proof, "seen");
  bob.type("\r");
  ASSERT_TRUE(receives("Bob", "half a line"));
  EXPECT_EQ(submitted("Bob"), std::vector<std::string>{"half a line"});

  const auto reply = inside.structured(inside.call("relay_reply", R"({"message":")" + id + R"(","body":"done"})"));
  EXPECT_EQ(string_member(reply, "status"), "stored");
  EXPECT_NE(box.ok({"inbox", "tester"}).find("Bob"), std::string::npos);
}

TEST_F(McpInAgent, UndeliveredMessageStaysAtHost) {
  start("Bob", {"--status"});
  const auto id = string_member(box.ok_json({"send", "Bob", "important", "--mode", "manual", "--from", "tester"}), "id")
                      .value_or("");
  enter("Bob");
  McpClient first{box};
  ASSERT_NE(first.call_text("relay_inbox", R"({"peek":true})").find("important"), std::string::npos);
  const auto host = static_cast<pid_t>(integer_member(box.ok_json({"explain", "Bob"}), "hostPid").value_or(0));
  ASSERT_GT(host, 1);
  ::kill(host, SIGSTOP);
  const auto request = first.call("relay_inbox");
  first.server().end_input();
  EXPECT_EQ(first.server().finish().code, 0);
  ::kill(host, SIGCONT);
  EXPECT_FALSE(first.has_response(request));
  McpClient next{box};
  EXPECT_NE(next.call_text("relay_inbox").find("important"), std::string::npos);
  ASSERT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(trace_of(id).proof, "seen");
}

TEST_F(McpInAgent, WaitReturnsMessageFromHost) {
  start_with_draft("Bob", "half a line", {"--status"});
  enter("Bob");
  McpClient inside{box};
  const auto wait = inside.call("relay_wait", R"({"timeout":60})");
  EXPECT_EQ(inside.call_text("relay_inbox", R"({"peek":true})"), "no pending messages");
  const auto id = send("Bob", "now");
  EXPECT_NE(inside.text(wait).find("[" + id + "]: now"), std::string::npos);
  box.kill_daemon();
  EXPECT_NE(inside.call_text("relay_send", R"({"to":"tester","body":"x"})").find("agent-relay up"), std::string::npos);
}

TEST_F(McpInAgent, WaitReturnsFlushedMessage) {
  start_with_draft("Bob", "half a line", {"--status"});
  const auto id =
      string_member(box.ok_json({"send", "Bob", "when you have time", "--mode", "manual", "--from", "tester"}), "id")
          .value_or("");
  enter("Bob");
  McpClient inside{box};
  const auto wait = inside.call("relay_wait", R"({"timeout":600})");
  EXPECT_NE(inside.call_text("relay_inbox", R"({"peek":true})").find("when you have time"), std::string::npos);
  EXPECT_FALSE(inside.has_response(wait)) << "the message is held until it is fetched";
  box.ok({"flush", "Bob"});
  EXPECT_NE(inside.text(wait).find("[" + id + "]: when you have time"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
