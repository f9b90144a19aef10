// A hosted agent in a terminal: its commands are executed, and messages are typed when it is idle.
#include <algorithm>

#include "base/format.h"
#include "cli/agents.h"
#include "cli/wire/host_connection.h"
#include "host/control/host_record.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;

constexpr const char* kScript = R"({"rules": [
  {"contains": "greet", "reply": "I will.\n\n@relay:Bob hello from Alice\n\nDone."},
  {"contains": "Relay message from Alice", "reply": "She wrote.\n\n@relay:Alice got it\n\nEnd."},
  {"contains": "leave", "reply": "Now.\n\n@relay:Bob these are my last words\n\nBye."},
  {"contains": "break", "reply": "Oh.", "exit": 7}
  ], "default": {"reply": "fine"}})";

struct HostedAgents : Agents {
  HostedAgents() { script(kScript); }
};

TEST_F(HostedAgents, TwoConverseThroughTheDaemon) {
  start("Bob", {"--status"});
  start("Alice", {"--status"}).type("greet\r");
  EXPECT_TRUE(receives("Bob", "hello from Alice"));
  EXPECT_TRUE(receives("Alice", "got it"));
  EXPECT_EQ(submitted("Bob").size(), 1u);
  EXPECT_EQ(submitted("Alice").size(), 2u);
}

TEST_F(HostedAgents, TwoConverseOnAlternateScreensWithoutStatus) {
  start("Bob", {"--alternate"});
  start("Alice", {"--alternate"}).type("greet\r");
  EXPECT_TRUE(receives("Bob", "hello from Alice"));
  EXPECT_TRUE(receives("Alice", "got it"));
  EXPECT_EQ(submitted("Bob").size(), 1u);
  EXPECT_EQ(submitted("Alice").size(), 2u);
}

TEST_F(HostedAgents, MessagesWaitForEndOfWorkInOrder) {
  script(R"({"default": {"reply": "fine", "work_ms": 400}})");
  start("Bob").type("work\r");
  ASSERT_TRUE(until([&] { return submitted("Bob").size() == 1; }));
  std::vector<std::string> ids, expected{"work"};
  for (int i = 0; i < 3; ++i) {
    ids.push_back(send("Bob", format("number {}", i)));
    expected.push_back(delivered_line(ids.back(), format("number {}", i)));
  }
  EXPECT_TRUE(reaches_state(ids.back(), "delivered"));
  EXPECT_EQ(submitted("Bob"), expected);
  EXPECT_TRUE(trace_of(ids.front()).contains("the agent is working"));
  for (const auto& event : events("Bob"))
    if (string_member(event, "event") == "submit") { EXPECT_EQ(string_member(event, "state"), "idle"); }
}

/// A program without a profile.
struct Unprofiled : HostedAgents {
  Terminal& start_shell(const std::string& commands) {
    return start_program("Cat", {"sh", "-c", commands + "; echo started; exec cat"}, "started");
  }
  std::size_t messages(const std::string& body) {
    const auto all = box.ok({"log", "--json"});
    std::size_t count = 0;
    for (auto at = all.find(body); at != std::string::npos; at = all.find(body, at + 1)) ++count;
    return count;
  }
};

TEST_F(Unprofiled, CommandsAreReadAfterClearAndFullScreenProgram) {
  start("Bob");
  start_shell(R"(printf '\033[H\033[J'; echo '@relay:Bob after clear'; printf '\033[?1049h\033[5;1Hx\033[?1049l';)"
              R"( echo '@relay:Bob after full screen')");
  EXPECT_TRUE(until([&] { return messages("after clear") == 1; }));
  EXPECT_TRUE(until([&] { return messages("after full screen") == 1; }));
}

TEST_F(Unprofiled, EchoOfUserInputIsIgnored) {
  start("Bob");
  auto& cat = start_shell(":");
  cat.type("@relay:Bob printed by cat\r");
  ASSERT_TRUE(until([&] { return messages("printed by cat") > 0; }));
  read_terminals_for(1500ms);
  EXPECT_EQ(messages("printed by cat"), 1u);
}

TEST_F(Unprofiled, FirstLineOfOutputExplainsMissingProfile) {
  const auto screen = start_shell(":").unwrapped();
  const auto notice = screen.find(
      "no profile for sh: relay commands at the start of its lines are read, but nothing is typed into it; messages "
      "for Cat are in $AGENT_RELAY_INBOX");
  ASSERT_NE(notice, std::string::npos) << screen;
  EXPECT_LT(notice, screen.find("started")) << "before the program's output";
  EXPECT_EQ(start("Bob").unwrapped().find("no profile for"), std::string::npos) << "it has a profile";
}

TEST_F(Unprofiled, EveryViewReportsThatNothingIsTyped) {
  start_shell(":");
  EXPECT_EQ(string_member(box.ok_json({"explain", "Cat"}), "state"), "unknown");
  EXPECT_TRUE(until([&] { return box.ok({"agents", "--json"}).find(R"("state":"unknown")") != std::string::npos; }));
  const auto id = send("Cat", "hello");
  EXPECT_TRUE(is_pending_because(id, "inbox.md ($AGENT_RELAY_INBOX)")) << trace_of(id).history;
  EXPECT_FALSE(trace_of(id).contains("may not be ready yet"));
  const auto seen = box.run({"send", "Cat", "again", "--wait", "seen"});
  EXPECT_EQ(seen.code, 5);
  EXPECT_NE(seen.err.find("only accepted"), std::string::npos) << seen.err;
  EXPECT_NE(seen.err.find("--wait accepted"), std::string::npos) << seen.err;
}

TEST_F(Unprofiled, WaitReturnsLastMessageOfProgram) {
  start("Bob");
  auto& talker = start_program("Talker", {"sh", "-c", "echo started; read line; echo '@relay:Bob done'"}, "started");
  const auto record = host::find_host(box.workspace_directory() + "/hosts", "Talker");
  ASSERT_TRUE(record);
  auto host = cli::HostConnection::open(*record);
  ASSERT_TRUE(host && host->request({{"method", "watch"}}));
  talker.type("go\r");
  std::vector<std::string> events;
  while (auto event = host->next(cli::in(10s))) events.push_back(string_member(*event, "event").value_or(""));
  EXPECT_EQ(std::ranges::count(events, "exit"), 1);
  EXPECT_EQ(std::ranges::count(events, "sent"), 1) << "the message is stored before the host exits";
}

TEST_F(Unprofiled, RefusedSpawnIsReportedInInboxFile) {
  auto& cat = start_shell(R"(echo '@relay:spawn ZZ sh x'; echo; )"
                          R"(while ! test -s "$AGENT_RELAY_INBOX"; do sleep 0.1; done; cat "$AGENT_RELAY_INBOX")");
  EXPECT_TRUE(cat.shows("## From Relay at "));
  EXPECT_TRUE(cat.shows("ZZ was not started"));
  EXPECT_TRUE(array_member(box.ok_json({"explain", "Cat"}), "pending")->empty());
}

TEST_F(Unprofiled, RequestBeforeConnectIsExecuted) {
  box.ok({"up"});
  for (int i = 0; i < 5; ++i) {
    const auto name = format("Early{}", i);
    start_program(name, {"sh", "-c", "echo '@relay:subscribe deploys'; echo; echo started; exec cat"}, "started");
    EXPECT_TRUE(until([&] { return box.ok({"topics"}).find(name) != std::string::npos; })) << name;
  }
}

TEST_F(HostedAgents, StructuredMetadataReachesRecipientAndHistory) {
  script(
      R"({"rules": [{"contains": "ask Bob", "reply": "Yes.\n\n[[RELAY_METADATA]]{\"importance\":80,\"replyTo\":\"k7mx2p9d\"}[[/RELAY_METADATA]]\n[[RELAY]]{\"to\":\"Bob\",\"type\":\"action\",\"ackRequired\":true,\"body\":\"run the tests\"}[[/RELAY]]\n\nDone."}],
             "default": {"reply": "fine"}})");
  start("Bob");
  start("Alice").type("ask Bob\r");
  ASSERT_TRUE(receives("Bob", "run the tests"));
  const auto line = submitted("Bob").back();
  EXPECT_TRUE(line.contains("[kind:action] [reply:k7mx2p9d] [!!]: run the tests")) << line;
  const auto id = line.substr(line.find('[') + 1, 8);
  const auto read = box.ok_json({"read", id});
  const auto traced = box.ok_json({"trace", id}).at("message").as_object();
  for (const auto& row : {read, traced}) {
    EXPECT_EQ(integer_member(row, "importance"), 80) << json::serialize(row);
    EXPECT_EQ(string_member(row, "replyTo"), "k7mx2p9d");
    EXPECT_EQ(bool_member(row, "requiresAck"), true);
  }
  const auto inbox = box.ok_json({"inbox", "Bob"}).at("messages").as_array();
  ASSERT_EQ(inbox.size(), 1u);
  EXPECT_EQ(integer_member(inbox[0].as_object(), "importance"), 80);
  EXPECT_TRUE(box.ok({"log"}).contains("[action] [reply:k7mx2p9d] [!!] run the tests"));
}

TEST_F(HostedAgents, ExitsLikeAgent) {
  auto& alice = start("Alice");
  alice.type("/exit\r");
  EXPECT_EQ(alice.finish(), 0);
  auto& bob = start("Bob");
  bob.type("break\r");
  EXPECT_EQ(bob.finish(), 7);
  EXPECT_TRUE(until([&] { return box.ok({"agents", "--names"}).empty(); })) << "an exited agent is not connected";
  const auto missing = box.run({"run", "no-such-program"});
  EXPECT_EQ(missing.code, 1);
  EXPECT_NE(missing.err.find("no-such-program"), std::string::npos) << missing.err;
}

TEST_F(HostedAgents, LastOutputOfAgentIsRead) {
  start("Bob", {"--status"});
  auto& alice = start("Alice", {"--status"});
  alice.type("leave\r");
  ASSERT_TRUE(alice.shows("Bye."));
  alice.type("/exit\r");
  EXPECT_EQ(alice.finish(), 0);
  EXPECT_TRUE(receives("Bob", "these are my last words"));
  EXPECT_EQ(submitted("Bob").size(), 1u);
}

TEST_F(HostedAgents, UnreadMessagesGoToNextAgent) {
  auto& bob = start_with_draft("Bob");
  const auto id = send_behind_draft("Bob", "these are words");
  bob.type("\x03\x03");
  EXPECT_EQ(bob.finish(), 0);
  EXPECT_NE(trace_of(id).state, "delivered");
  start("Bob");
  EXPECT_TRUE(reaches_state(id, "delivered"));
  EXPECT_EQ(submitted("Bob"), std::vector{delivered_line(id, "these are words")});
}

}  // namespace
}  // namespace relay::cli_tests
