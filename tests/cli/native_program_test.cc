// An agent with native interfaces: the real daemon, host and hook program with a fake Claude Code.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/format.h"
#include "cli/agents.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;
using Texts = std::vector<std::string>;

struct Native : Agents {
  static constexpr const char* kScript = R"({"rules": [
    {"contains": "take your time", "work_ms": 3000},
    {"contains": "never recorded", "unrecorded": true},
    {"contains": "be quick", "mode": "auto"},
    {"contains": "say farewell", "reply": "@relay:tester my last words", "ends": true},
    {"contains": "use a tool", "tool": "make check", "reply": "checked"},
    {"contains": "deploy", "tool": "make deploy", "asks": true, "reply": "deployed"},
    {"contains": "database", "question": "Which one?", "choices": ["SQLite", "PostgreSQL"], "reply": "noted"},
    {"contains": "show a fence",
     "reply": "So:\n\n```text\n@relay:tester only an example\n```\n\n@relay:tester this one is meant\n\nSent."}]})";

  Native() {
    script(kScript);
    box.set("CLAUDE_CONFIG_DIR", config());
    box.ok({"send", "*", "so that tester is known", "--from", "tester"});
  }
  std::string config() const { return box.project() + "/claude"; }
  /// Returns once it has called its first hook.
  Terminal& start_claude(const Texts& more = {}) {
    auto& terminal = start_quiet_claude(more);
    EXPECT_TRUE(until([&] { return way_to("output") == "transcript"; }));
    return terminal;
  }
  Terminal& start_quiet_claude(const Texts& more) {
    Texts command{FAKE_CLAUDE, "--script", box.project() + "/script.json", "--log", log_of("Bob")};
    command.insert(command.end(), more.begin(), more.end());
    return start_program("Bob", command, "Claude stand-in");
  }
  std::string way_to(const std::string& what) {
    const auto all = box.ok_json({"explain", "Bob"});
    const auto* ways = object_member(all, "interfaces");
    return ways == nullptr ? "" : string_member(*ways, what).value_or("");
  }
  /// The inputs of the model from that source, in order.
  Texts given(const std::string& by) const {
    Texts texts;
    for (const auto& event : events("Bob"))
      if (string_member(event, "event") == "given" && string_member(event, "by") == by)
        texts.push_back(string_member(event, "text").value_or(""));
    return texts;
  }
  /// The message is delivered and the transcript proves it.
  bool is_seen(const std::string& id) {
    const bool delivered = reaches_state(id, "delivered");
    EXPECT_EQ(trace_of(id).proof, "seen") << trace_of(id).story;
    return delivered;
  }
  /// The answer to the last dialog and its source.
  std::string answered() const {
    std::string last;
    for (const auto& event : events("Bob"))
      if (string_member(event, "event") == "answer")
        last = string_member(event, "decision").value_or("") + " by " + string_member(event, "by").value_or("") +
               (event.at("text").as_string().empty() ? "" : ": ") + string_member(event, "text").value_or("");
    return last;
  }
  std::string permissions() { return box.ok({"permissions", "--json"}); }
  bool asks() {
    return until([&] { return permissions().find("make deploy") != std::string::npos; });
  }
  /// The events of that type, each reduced to the members under test.
  Texts told(const std::string& type) {
    Texts all;
    std::istringstream lines{box.ok({"events", "--json", "--agent", "Bob", "--types", type})};
    for (std::string line; std::getline(lines, line);) {
      last_event = parse_json_object(line).value_or(json::object{});
      auto word = [&](std::string_view name) { return string_member(last_event, name).value_or(""); };
      all.push_back(word("resolution").empty() ? word("itemType") + word("command")
                                               : word("resolution") + " by " + word("resolvedBy"));
    }
    return all;
  }
  json::object event_of(const std::string& type) {
    (void)told(type);
    return last_event;
  }
  json::object last_event;
  std::size_t messages_to_tester(const std::string& words) {
    const auto all = box.ok({"log", "--json"});
    std::size_t count = 0;
    for (auto at = all.find(words); at != std::string::npos; at = all.find(words, at + 1)) ++count;
    return count;
  }
};

TEST_F(Native, DeliveryViaInboxIsProvedByTranscript) {
  start_claude();
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_TRUE(trace_of(id).tells("via inbox")) << trace_of(id).story;
  EXPECT_EQ(given("peer"), Texts{delivered_line(id, "hello")});
  EXPECT_EQ(count("Bob", "left"), 1U);
  EXPECT_TRUE(submitted("Bob").empty()) << "nothing was typed";
  EXPECT_EQ(count("Bob", "paste"), 0U);
}

TEST_F(Native, ManyMessagesArriveOnceInOrder) {
  start_claude();
  Texts expected;
  std::string id;
  for (const auto* body : {"one", "two", "three"}) expected.push_back(delivered_line(id = send("Bob", body), body));
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_EQ(given("peer"), expected);
}

TEST_F(Native, DraftIsUntouched) {
  auto& bob = start_claude();
  bob.type("half a line");
  ASSERT_TRUE(bob.shows("half a line"));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_TRUE(submitted("Bob").empty());
  bob.type(" and more\r");
  ASSERT_TRUE(hears("Bob", "half a line"));
  EXPECT_EQ(submitted("Bob"), Texts{"half a line and more"});
}

TEST_F(Native, NextMessageModeArrivesWithUserPrompt) {
  auto& bob = start_claude();
  const auto id = send("Bob", "by the way", {"--mode", "next-message"});
  ASSERT_TRUE(is_pending_because(id, "it waits for the agent's next prompt"));
  bob.type("what now?\r");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_EQ(given("UserPromptSubmit"), Texts{delivered_line(id, "by the way")});
  EXPECT_EQ(given("person"), Texts{"what now?"});
  EXPECT_EQ(count("Bob", "left"), 0U);
}

TEST_F(Native, NextToolCallModeArrivesWithToolResult) {
  auto& bob = start_claude();
  const auto id = send("Bob", "mind the cache", {"--mode", "next-tool-call"});
  ASSERT_TRUE(is_pending_because(id, "it waits for the agent's next tool call"));
  bob.type("just talk\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  EXPECT_TRUE(given("PostToolUse").empty());
  bob.type("use a tool\r");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_EQ(given("PostToolUse"), Texts{delivered_line(id, "mind the cache")});
}

TEST_F(Native, FencedCommandIsIgnoredAndOtherIsSentOnce) {
  auto& bob = start_claude();
  bob.type("show a fence\r");
  ASSERT_TRUE(until([&] { return messages_to_tester("this one is meant") > 0; }));
  bob.type("and again something else\r");  // one more turn, after which nothing else has happened
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id));
  EXPECT_EQ(messages_to_tester("this one is meant"), 1U) << box.ok({"log", "--json"});
  EXPECT_EQ(messages_to_tester("only an example"), 0U);
}

TEST_F(Native, ExplainSeparatesUserAndAgentMessagesDuringDraft) {
  auto& bob = start_claude();
  ASSERT_TRUE(until([&] { return box.ok({"explain", "Bob"}).find("on-idle inbox") != std::string::npos; }));
  bob.type("half a li");
  ASSERT_TRUE(until([&] { return string_member(box.ok_json({"explain", "Bob"}), "state") == "typing"; }));
  box.ok({"send", "Bob", "my own words"});
  const auto waiting = [&] {
    const auto all = box.ok_json({"explain", "Bob"});
    const auto* list = array_member(all, "pending");
    return list == nullptr || list->empty() ? json::object{} : list->front().as_object();
  };
  ASSERT_TRUE(until([&] { return string_member(waiting(), "reason") == "the composer holds a draft"; }));
  EXPECT_EQ(string_member(waiting(), "via"), "pty");
  EXPECT_EQ(string_member(waiting(), "as"), "user");
  const auto told = box.ok({"explain", "Bob"});
  EXPECT_NE(told.find("your messages stay pending until it is empty, messages from agents arrive beside it"),
            std::string::npos)
      << told;
  EXPECT_NE(told.find("typed  the composer holds a draft"), std::string::npos) << told;
  EXPECT_TRUE(is_seen(send("Bob", "of a peer")));
  EXPECT_TRUE(until([&] { return string_member(waiting(), "reason") == "the composer holds a draft"; }))
      << "again once that turn is over";
}

TEST_F(Native, ExplainShowsPermissionMode) {
  auto& bob = start_claude();
  EXPECT_NE(
      box.ok({"explain", "Bob"})
          .find("no rule approves or denies anything; its own permission mode decides what its dialog asks you; it "
                "has not reported the mode"),
      std::string::npos)
      << "it may be in auto mode: no hook has told its mode yet";
  bob.type("be quick\r");
  EXPECT_TRUE(until([&] {
    return box.ok({"explain", "Bob"}).find("mode auto: its own check approves or denies") != std::string::npos;
  })) << box.ok({"explain", "Bob"});
}

TEST_F(Native, PromptIsApprovedRemotely) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(asks());
  const auto id = send("Bob", "are you there?");
  EXPECT_TRUE(until([&] { return string_member(box.ok_json({"explain", "Bob"}), "state") == "blocked"; }));
  EXPECT_EQ(count("Bob", "left"), 0U) << "nothing is brought while it asks";
  box.ok({"approve", "Bob"});
  ASSERT_TRUE(until([&] { return count("Bob", "ran") == 1; }));
  EXPECT_EQ(answered(), "approved by hook");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_TRUE(until([&] { return permissions().find("make deploy") == std::string::npos; }));
  EXPECT_NE(box.run({"approve", "Bob"}).code, 0) << "nothing is approved in advance";
}

TEST_F(Native, PromptIsDeniedWithReason) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(asks());
  box.ok({"deny", "Bob", "--message", "not on a Friday"});
  ASSERT_TRUE(until([&] { return count("Bob", "answer") == 1; }));
  EXPECT_EQ(answered(), "denied by hook: not on a Friday");
  EXPECT_EQ(count("Bob", "ran"), 0U);
}

TEST_F(Native, QuestionIsAnsweredRemotely) {
  auto& bob = start_claude();
  bob.type("which database?\r");
  ASSERT_TRUE(until([&] { return box.ok({"questions", "--json"}).find("Which one?") != std::string::npos; }));
  EXPECT_NE(box.run({"answer", "Bob", "SQLite", "and one too many"}).code, 0);
  box.ok({"answer", "Bob", "SQLite"});
  ASSERT_TRUE(until([&] { return count("Bob", "answer") == 1; }));
  EXPECT_EQ(answered(), R"(approved by hook: {"Which one?":"SQLite"})");
}

TEST_F(Native, ActivityIsReportedAsEvents) {
  auto& bob = start_claude();
  bob.type("use a tool\r");
  ASSERT_TRUE(until([&] { return told("tokens.used").size() == 1; }));
  EXPECT_EQ(told("item.started"), (Texts{"test_run", "message"}));
  EXPECT_EQ(told("command.executed"), Texts{"make check"});
  EXPECT_EQ(told("item.completed").size(), 2U);
  EXPECT_TRUE(until([&] {
    const auto explained = box.ok_json({"explain", "Bob"});
    return integer_member(*object_member(explained, "events"), "pending") == 0;
  }));
}

TEST_F(Native, PromptAndAnswerAreEvents) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(asks());
  ASSERT_TRUE(until([&] { return told("permission.requested") == Texts{"make deploy"}; }));
  const auto request = string_member(event_of("permission.requested"), "requestId").value_or("");
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  ASSERT_TRUE(until([&] { return permissions().find("riskLevel") != std::string::npos; }))
      << "a new daemon is told too";
  EXPECT_NE(permissions().find(request), std::string::npos);
  EXPECT_EQ(told("permission.requested").size(), 1U) << "and the log has it once";
  box.ok({"approve", "Bob", "--prompt", request});
  ASSERT_TRUE(until([&] { return told("permission.resolved") == Texts{"approved by human"}; }));
  EXPECT_EQ(string_member(event_of("permission.resolved"), "requestId"), request);
}

TEST_F(Native, TranscriptShowsAnswerGivenOnScreen) {
  auto& bob = start_claude();
  for (const bool allows : {true, false}) {
    const auto before = told("permission.resolved").size();
    bob.type("deploy\r");
    ASSERT_TRUE(asks());
    ASSERT_TRUE(bob.shows("Do you want to proceed?"));
    bob.type(allows ? "\r" : "\x1b");
    ASSERT_TRUE(until([&] { return told("permission.resolved").size() == before + 1; }));
  }
  EXPECT_EQ(told("permission.resolved"), (Texts{"approved by human", "denied by human"}));
}

TEST_F(Native, ImmediateMessageInterruptsReply) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "given") == 1; }));
  const auto id = send("Bob", "stop that", {"--mode", "immediate"});
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_EQ(count("Bob", "interrupted"), 1U);
  EXPECT_EQ(given("peer"), Texts{delivered_line(id, "stop that")});
}

TEST_F(Native, OnIdleMessageDoesNotInterrupt) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "given") == 1; }));
  const auto id = send("Bob", "when you have time");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).story;
  EXPECT_EQ(count("Bob", "interrupted"), 0U);
  EXPECT_EQ(texts("Bob", "replied").at(0), "fine") << "its reply was whole";
}

TEST_F(Native, PeerMessageWaitsForUserMessageBeingTyped) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "given") == 1; }));
  box.ok({"send", "Bob", "of the user"});
  const auto peers = send("Bob", "take your time, peer");
  ASSERT_TRUE(until([&] { return heard("Bob", "of the user") == 1; })) << "it does not stand unsent for a turn";
  EXPECT_TRUE(given("peer").empty()) << "the user comes first";
  EXPECT_TRUE(is_seen(peers)) << trace_of(peers).story;
}

TEST_F(Native, LastTranscriptLinesAreReadBeforeHostExits) {
  auto& terminal = start_claude();
  terminal.type("say farewell");
  terminal.type("\r");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_TRUE(until([&] { return messages_to_tester("my last words") == 1; }));
}

TEST_F(Native, UsageIsCountedOnce) {
  auto& bob = start_claude();
  for (const auto* prompt : {"one\r", "two\r"}) {
    const auto before = count("Bob", "replied");
    bob.type(prompt);
    ASSERT_TRUE(until([&] { return count("Bob", "replied") == before + 1; }));
  }
  EXPECT_TRUE(until([&] {
    const auto all = box.ok_json({"explain", "Bob"});
    const auto* usage = object_member(all, "usage");
    return usage != nullptr && integer_member(*usage, "input") == 200 && integer_member(*usage, "output") == 20;
  })) << json::serialize(box.ok_json({"explain", "Bob"}));
}

TEST_F(Native, AgentWithoutHooksIsReachedAndFailureIsReported) {
  auto& bob = start_quiet_claude({"--no-hooks"});
  ASSERT_TRUE(until([&] { return string_member(box.ok_json({"explain", "Bob"}), "state") == "idle"; }));
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  ASSERT_TRUE(until([&] {
    return json::serialize(box.ok_json({"explain", "Bob"})).find("does not call its hooks") != std::string::npos;
  }));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).story;
  EXPECT_EQ(given("peer"), Texts{delivered_line(id, "hello")});
  const auto beside = send("Bob", "beside", {"--mode", "next-message"});
  EXPECT_TRUE(is_pending_because(beside, "its session cannot do next-message"));
}

TEST_F(Native, AnswerOfUserWins) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(asks());
  ASSERT_TRUE(bob.shows("Do you want to proceed?"));
  bob.type("\r");
  ASSERT_TRUE(until([&] { return permissions().find("make deploy") == std::string::npos; }));
  EXPECT_EQ(answered(), "approved by person");
  EXPECT_NE(box.run({"deny", "Bob"}).code, 0);
  EXPECT_EQ(count("Bob", "answer"), 1U);
}

TEST_F(Native, MessagesAreTypedWithoutInboxAndReasonIsShown) {
  start_claude({"--no-inbox"});
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).story;
  EXPECT_TRUE(trace_of(id).tells("its inbox took nothing")) << trace_of(id).story;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(id, "hello")});
  const auto explained = box.ok_json({"explain", "Bob"});
  const auto* broken = array_member(explained, "failedInterfaces");
  ASSERT_NE(broken, nullptr) << json::serialize(explained);
  EXPECT_EQ(string_member(broken->at(0).as_object(), "via"), "inbox");
  EXPECT_FALSE(string_member(broken->at(0).as_object(), "reason").value_or("").empty());
}

TEST_F(Native, LostInboxFallsBackToTyping) {
  start_claude();
  const auto first = send("Bob", "one");
  ASSERT_TRUE(is_seen(first));
  for (const auto& entry : fs::directory_iterator{config() + "/sessions"})
    if (entry.path().extension() == ".sock") fs::remove(entry.path());
  const auto second = send("Bob", "two");
  ASSERT_TRUE(reaches_state(second, "delivered")) << trace_of(second).story;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(second, "two")});
  EXPECT_EQ(given("peer"), Texts{delivered_line(first, "one")});
}

TEST_F(Native, DaemonDeathLosesAndRepeatsNothing) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "given") == 1; }));
  const auto waiting = send("Bob", "while you work");
  const auto beside = send("Bob", "beside your next prompt", {"--mode", "next-message"});
  ASSERT_TRUE(is_pending_because(beside, "next prompt"));
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  ASSERT_TRUE(is_seen(waiting)) << trace_of(waiting).story;
  ASSERT_TRUE(is_seen(beside)) << trace_of(beside).story;
  EXPECT_EQ(given("peer"), Texts{delivered_line(waiting, "while you work")});
  EXPECT_EQ(given("UserPromptSubmit"), Texts{delivered_line(beside, "beside your next prompt")});
  EXPECT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  EXPECT_EQ(count("Bob", "left"), 1U);
}

TEST_F(Native, HostDeathAfterDeliveryIsInDoubtWithoutSecondCopy) {
  start_claude();
  const auto id = send("Bob", "never recorded");
  ASSERT_TRUE(until([&] { return count("Bob", "left") == 1; }));
  const auto agent = agent_pid("Bob");
  kill("Bob");
  ASSERT_TRUE(until([&] { return !is_running(agent); }));
  start_claude();
  ASSERT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).story;
  const auto next = send("Bob", "the next one");
  ASSERT_TRUE(is_seen(next));
  EXPECT_EQ(count("Bob", "left"), 2U);
  EXPECT_TRUE(submitted("Bob").empty());
}

}  // namespace
}  // namespace relay::cli_tests
