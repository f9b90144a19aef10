#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>

#include "cli/mcp_client.h"

namespace relay::cli_tests {
namespace {

TEST(Mcp, TwoClientsExchangeMessagesDuringWait) {
  Sandbox box;
  box.ok({"up"});
  McpClient alice{box, {"--name", "Alice"}}, bob{box, {"--name", "Bob"}};
  const auto wait = bob.call("relay_wait", R"({"timeout":60,"from":"Alice"})");
  EXPECT_NE(bob.call_text("relay_agents").find("Alice (mcp)"), std::string::npos);
  EXPECT_FALSE(bob.has_response(wait));
  const auto sent = alice.structured(alice.call("relay_send", R"({"to":"Bob","body":"is the build green?"})"));
  EXPECT_EQ(string_member(sent, "status"), "stored");
  const auto id = string_member(sent, "id").value_or("");
  EXPECT_EQ(bob.text(wait), "1 message from other agents, not from your user:\nRelay message from Alice [" + id +
                                "]: is the build green?");
  EXPECT_NE(box.ok({"trace", id}).find("seen"), std::string::npos);
  bob.call("relay_reply", R"({"message":")" + id + R"(","body":"it is"})");
  const auto inbox = alice.structured(alice.call("relay_wait"));
  const auto& reply = inbox.at("messages").at(0).get_object();
  EXPECT_EQ(string_member(reply, "body"), "it is");
  EXPECT_EQ(string_member(reply, "thread"), id);
}

TEST(Mcp, AcceptsEveryModeAndAnswersQuestion) {
  Sandbox box;
  box.ok({"up"});
  McpClient bob{box, {"--name", "Bob"}};
  EXPECT_NE(bob.call_text("relay_whoami").find("You are Bob"), std::string::npos);
  for (const auto* mode : {"immediate", "next-tool-call", "next-message", "on-idle"}) {
    const auto wait = bob.call("relay_wait", R"({"timeout":60})");
    box.ok({"send", "Bob", mode, "--mode", mode, "--wait", "seen"});
    EXPECT_NE(bob.text(wait).find(std::string{"]: "} + mode), std::string::npos);
  }
  const auto plan = box.write(box.project() + "/plan.md", "first this");
  auto question = box.start({"send", "Bob", "shall we?", "--ask", "--attach", plan, "--from", "tester"});
  const auto message = bob.structured(bob.call("relay_wait", R"({"timeout":60})")).at("messages").at(0).get_object();
  EXPECT_EQ(bool_member(message, "answerExpected"), true);
  EXPECT_EQ(message.at("attachments").at(0).at("name").get_string(), "plan.md");
  bob.call("relay_reply", format(R"({{"message":"{}","body":"we shall"}})", string_member(message, "id").value_or("")));
  EXPECT_TRUE(eventually([&] { return question->out() == "we shall\n"; })) << question->out() << question->err();
}

TEST(Mcp, ModernClientNeedsNoHandshake) {
  Sandbox box;
  box.ok({"up"});
  const auto meta = std::string{R"("_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",)"} +
                    R"("io.modelcontextprotocol/clientCapabilities":{}})";
  const auto ran =
      box.run({"mcp"}, R"({"jsonrpc":"2.0","id":1,"method":"server/discover","params":{)" + meta + "}}\n" +
                           R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"relay_whoami",)" + meta +
                           "}}\nnot json\n");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_NE(ran.out.find(R"("supportedVersions":["2026-07-28")"), std::string::npos) << ran.out;
  EXPECT_NE(ran.out.find(R"("resultType":"complete")"), std::string::npos);
  EXPECT_NE(ran.out.find("No pending messages."), std::string::npos);
  EXPECT_NE(ran.out.find("-32700"), std::string::npos);
}

TEST(Mcp, SurvivesDaemonAndSpoolsMessages) {
  Sandbox box;
  box.ok({"up"});
  McpClient alice{box, {"--name", "Alice"}}, bob{box, {"--name", "Bob"}};
  EXPECT_NE(bob.call_text("relay_whoami").find("You are Bob"), std::string::npos);
  const auto wait = bob.call("relay_wait", R"({"timeout":60})");
  EXPECT_NE(alice.call_text("relay_whoami").find("No pending messages"), std::string::npos);
  box.kill_daemon();
  EXPECT_TRUE(eventually([&] { return alice.call_text("relay_agents").find("agent-relay up") != std::string::npos; }));
  const auto spooled = alice.call("relay_send", R"({"to":"Bob","body":"while offline","idempotency_key":"once"})");
  EXPECT_EQ(string_member(alice.structured(spooled), "status"), "spooled");
  alice.call("relay_send", R"({"to":"Bob","body":"while offline","idempotency_key":"once"})");
  EXPECT_FALSE(bob.has_response(wait));
  box.ok({"up"});
  EXPECT_NE(bob.text(wait).find("while offline"), std::string::npos);
  EXPECT_EQ(bob.call_text("relay_inbox"), "no pending messages");
}

TEST(Mcp, UnnamedServerKeepsNameAndMessages) {
  Sandbox box;
  box.ok({"up"});
  std::string name;
  {
    McpClient first{box};
    name = string_member(first.structured(first.call("relay_whoami")), "name").value_or("");
    McpClient second{box};
    EXPECT_NE(string_member(second.structured(second.call("relay_whoami")), "name"), name);
    box.ok({"send", name, "for later"});
    ASSERT_TRUE(eventually(
        [&] { return first.call_text("relay_inbox", R"({"peek":true})").find("for later") != std::string::npos; }));
    first.server().end_input();
    EXPECT_EQ(first.server().finish().code, 0);
  }
  McpClient again{box};
  EXPECT_NE(again.call_text("relay_inbox").find("for later"), std::string::npos);
  EXPECT_EQ(string_member(again.structured(again.call("relay_whoami")), "name"), name);
}

TEST(Mcp, ExitsPromptlyWithInputDuringWait) {
  Sandbox box;
  box.ok({"up"});
  McpClient alice{box, {"--name", "Alice"}};
  alice.call("relay_wait", R"({"timeout":600})");
  EXPECT_NE(alice.call_text("relay_whoami").find("Alice"), std::string::npos);
  const auto start_time = std::chrono::steady_clock::now();
  alice.server().end_input();
  EXPECT_EQ(alice.server().finish().code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, std::chrono::seconds{2});
}

TEST(Mcp, CancelledWaitHasNoResponseAndFetchesNothing) {
  Sandbox box;
  box.ok({"up"});
  McpClient alice{box, {"--name", "Alice"}};
  const auto wait = alice.call("relay_wait", R"({"timeout":600})");
  EXPECT_NE(alice.call_text("relay_whoami").find("Alice"), std::string::npos);
  alice.send_line(
      format(R"({{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{}}}}})", wait));
  EXPECT_NE(alice.call_text("relay_whoami").find("Alice"), std::string::npos);
  box.ok({"send", "Alice", "hello"});
  EXPECT_NE(alice.call_text("relay_wait").find("hello"), std::string::npos);
  EXPECT_FALSE(alice.has_response(wait));
}

TEST(Mcp, UndeliveredMessageIsNotSeen) {
  Sandbox box;
  box.ok({"up"});
  box.run({"mcp", "--name", "Zoe"}, R"({"jsonrpc":"2.0","id":0,"method":"initialize"})"
                                    "\n");
  const auto id = string_member(box.ok_json({"send", "Zoe", "important"}), "id").value_or("");
  const auto ran = box.run(
      {"mcp", "--name", "Zoe"},
      R"({"jsonrpc":"2.0","id":0,"method":"initialize"})"
      "\n"
      R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay_inbox"}})"
      "\n"
      R"({"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}})"
      "\n"
      R"({"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"relay_inbox","arguments":{"peek":true}}})"
      "\n");
  EXPECT_NE(ran.out.find("important"), std::string::npos) << ran.out;
  EXPECT_EQ(ran.out.find(R"("id":1,)"), std::string::npos) << ran.out;
  EXPECT_EQ(box.ok({"trace", id}).find("seen"), std::string::npos);
  const auto next = box.run({"mcp", "--name", "Zoe"},
                            R"({"jsonrpc":"2.0","id":0,"method":"initialize"})"
                            "\n"
                            R"({"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay_inbox"}})"
                            "\n");
  EXPECT_NE(next.out.find("important"), std::string::npos) << next.out;
  EXPECT_TRUE(eventually([&] { return box.ok({"trace", id}).find("seen") != std::string::npos; }));
}

TEST(Mcp, HostSocketOfAnotherProjectIsIgnored) {
  Sandbox box;
  box.ok({"up"});
  box.set("AGENT_RELAY_NAME", "Ghost");
  box.set("AGENT_RELAY_HOST_SOCKET", box.home() + "/stale.sock");
  McpClient ghost{box};
  const auto who = ghost.structured(ghost.call("relay_whoami"));
  EXPECT_EQ(string_member(who, "name"), "Ghost");
  EXPECT_EQ(string_member(who, "session"), "standalone");
  EXPECT_EQ(bool_member(who, "reachable"), true);
}

TEST(Mcp, ResponsesReportConnectionError) {
  Sandbox box;
  McpClient offline{box, {"--name", "Alice"}};
  EXPECT_NE(offline.call_text("relay_agents").find("agent-relay up"), std::string::npos);
  McpClient second{box, {"--name", "Alice"}};
  EXPECT_NE(second.call_text("relay_whoami").find("the name Alice is in use"), std::string::npos);
  EXPECT_EQ(box.run({"mcp", "--name", "a b"}).code, 2);
}

TEST(Mcp, TopicBroadcastReachesSubscribersOnly) {
  Sandbox box;
  box.ok({"up"});
  McpClient alice{box, {"--name", "Alice"}}, bob{box, {"--name", "Bob"}}, carol{box, {"--name", "Carol"}};
  for (auto* client : {&alice, &carol}) EXPECT_NE(client->call_text("relay_whoami").find("You are"), std::string::npos);
  EXPECT_EQ(bob.call_text("relay_topics", R"({"action":"subscribe","topic":"builds"})"), "subscribed to builds");
  EXPECT_EQ(alice.call_text("relay_topics"), "topics with subscribers:\nbuilds: Bob");
  const auto sent = alice.structured(alice.call("relay_send", R"({"to":"*","body":"red","topic":"builds"})"));
  EXPECT_EQ(integer_member(sent, "recipients"), 1);
  EXPECT_NE(bob.call_text("relay_wait", R"({"timeout":60})").find("topic builds: red"), std::string::npos);
  EXPECT_EQ(carol.call_text("relay_inbox"), "no pending messages");
  EXPECT_EQ(bob.call_text("relay_topics", R"({"action":"unsubscribe","topic":"builds"})"), "unsubscribed from builds");
  EXPECT_EQ(alice.call_text("relay_topics"), "topics with subscribers:");
}

TEST(Mcp, ReservationsAreSharedAndEventsAreRecorded) {
  Sandbox box;
  McpClient alice{box, {"--name", "Alice"}}, bob{box, {"--name", "Bob"}};
  EXPECT_NE(alice.call_text("relay_reserve", R"({"paths":["src/net"],"note":"tidying"})").find("reserved"),
            std::string::npos);
  EXPECT_NE(
      bob.call_text("relay_reserve", R"({"paths":["src/net/loop.cc"]})").find("src/net: Alice, 30 min left (tidying)"),
      std::string::npos);
  EXPECT_EQ(alice.call_text("relay_log_event", R"({"kind":"decision","text":"one loop"})"), "recorded");
  const auto events = std::filesystem::path{box.home()}.parent_path() / ".relay" / "events";
  std::string content;
  for (const auto& entry : std::filesystem::directory_iterator{events}) content += file_contents(entry.path());
  EXPECT_NE(content.find(R"("type":"decision","text":"one loop")"), std::string::npos) << content;
}

TEST(Mcp, SpawnsAgentsOnlyWhenAllowed) {
  Sandbox box;
  box.ok({"up"});
  const auto refused =
      McpClient{box, {"--name", "Carl", "--allow-spawn"}}.call_text("relay_spawn", R"({"name":"Zed","cli":"cat"})");
  EXPECT_NE(refused.find("by_agents"), std::string::npos) << refused;
  box.ok({"down", "--all"});
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = \"profiles\"\n");
  std::filesystem::create_directories(box.home() + "/profiles");
  box.write(box.home() + "/profiles/cat.toml", "name = \"cat\"\ntitle = \"cat\"\ncommands = [\"cat\"]\n");
  box.ok({"up"});
  McpClient restricted{box, {"--name", "Alice"}}, permitted{box, {"--name", "Bob", "--allow-spawn"}};
  EXPECT_NE(restricted.call_text("relay_spawn", R"({"name":"Zed","cli":"cat"})").find("-32602"), std::string::npos);
  const auto started = permitted.call("relay_spawn", R"({"name":"Zed","cli":"cat"})");
  EXPECT_EQ(permitted.text(started), "Zed runs");
  EXPECT_EQ(permitted.call_text("relay_release", R"({"name":"Zed"})"), "Zed has ended");
}

}  // namespace
}  // namespace relay::cli_tests
