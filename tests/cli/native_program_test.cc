// An agent with native interfaces: the real daemon, host and hook program with a fake Claude Code.
#include <filesystem>

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
    {"contains": "exit after this", "reply": "@relay:tester my last message", "ends": true},
    {"contains": "use a tool", "tool": "make check", "reply": "checked"},
    {"contains": "deploy", "tool": "make deploy", "asks": true, "reply": "deployed"},
    {"contains": "database", "question": "Which one?", "choices": ["SQLite", "PostgreSQL"], "reply": "noted"},
    {"contains": "show a fence",
     "reply": "So:\n\n```text\n@relay:tester only an example\n```\n\n@relay:tester this one is sent\n\nSent."}]})";

  Native() {
    script(kScript);
    box.set("CLAUDE_CONFIG_DIR", config());
    box.ok({"send", "*", "hello from tester", "--from", "tester"});
  }
  std::string config() const { return box.project() + "/claude"; }
  Terminal& start_claude(const Texts& more = {}) { return start_hooked_claude("Bob", more); }
  /// The inputs of the model from that source, in order.
  Texts model_inputs(const std::string& source) const {
    Texts texts;
    for (const auto& event : events("Bob"))
      if (string_member(event, "event") == "model_input" && string_member(event, "by") == source)
        texts.push_back(string_member(event, "text").value_or(""));
    return texts;
  }
  /// The message is delivered and the transcript proves it.
  bool is_seen(const std::string& id) {
    const bool delivered = reaches_state(id, "delivered");
    EXPECT_EQ(trace_of(id).proof, "seen") << trace_of(id).history;
    return delivered;
  }
  /// The answer to the last dialog and its source.
  std::string last_answer() const {
    std::string last;
    for (const auto& event : events("Bob"))
      if (string_member(event, "event") == "answer")
        last = string_member(event, "decision").value_or("") + " by " + string_member(event, "by").value_or("") +
               (event.at("text").as_string().empty() ? "" : ": ") + string_member(event, "text").value_or("");
    return last;
  }
  std::string permissions() { return box.ok({"permissions", "--json"}); }
  /// Waits for the permission prompt of `make deploy`.
  bool prompts() {
    return until([&] { return permissions().find("make deploy") != std::string::npos; });
  }
  /// The events of that type, each reduced to the members under test.
  Texts event_summaries(const std::string& type) {
    Texts all;
    for (const auto& event : events_of_type(type)) {
      const auto member = [&](std::string_view name) { return string_member(event, name).value_or(""); };
      all.push_back(member("resolution").empty() ? member("itemType") + member("command")
                                                 : member("resolution") + " by " + member("resolvedBy"));
    }
    return all;
  }
  std::vector<json::object> events_of_type(const std::string& type) {
    return parse_json_lines(box.ok({"events", "--json", "--agent", "Bob", "--types", type}));
  }
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
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_TRUE(trace_of(id).contains("via inbox")) << trace_of(id).history;
  EXPECT_EQ(model_inputs("peer"), Texts{delivered_line(id, "hello")});
  EXPECT_EQ(count("Bob", "inbox"), 1U);
  EXPECT_TRUE(submitted("Bob").empty()) << "nothing was typed";
  EXPECT_EQ(count("Bob", "paste"), 0U);
}

TEST_F(Native, ManyMessagesArriveOnceInOrder) {
  start_claude();
  Texts expected;
  std::string id;
  for (const auto* body : {"one", "two", "three"}) expected.push_back(delivered_line(id = send("Bob", body), body));
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_EQ(model_inputs("peer"), expected);
}

TEST_F(Native, DraftIsUntouched) {
  auto& bob = start_claude();
  bob.type("half a line");
  ASSERT_TRUE(bob.shows("half a line"));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_TRUE(submitted("Bob").empty());
  bob.type(" and more\r");
  ASSERT_TRUE(receives("Bob", "half a line"));
  EXPECT_EQ(submitted("Bob"), Texts{"half a line and more"});
}

TEST_F(Native, NextMessageModeArrivesWithUserPrompt) {
  auto& bob = start_claude();
  const auto id = send("Bob", "by the way", {"--mode", "next-message"});
  ASSERT_TRUE(is_pending_because(id, "it is pending until the agent's next prompt"));
  bob.type("what now?\r");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_EQ(model_inputs("UserPromptSubmit"), Texts{delivered_line(id, "by the way")});
  EXPECT_EQ(model_inputs("user"), Texts{"what now?"});
  EXPECT_EQ(count("Bob", "inbox"), 0U);
}

TEST_F(Native, NextToolCallModeArrivesWithToolResult) {
  auto& bob = start_claude();
  const auto id = send("Bob", "mind the cache", {"--mode", "next-tool-call"});
  ASSERT_TRUE(is_pending_because(id, "it is pending until the agent's next tool call"));
  bob.type("just talk\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  EXPECT_TRUE(model_inputs("PostToolUse").empty());
  bob.type("use a tool\r");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_EQ(model_inputs("PostToolUse"), Texts{delivered_line(id, "mind the cache")});
}

TEST_F(Native, FencedCommandIsIgnoredAndOtherIsSentOnce) {
  auto& bob = start_claude();
  bob.type("show a fence\r");
  ASSERT_TRUE(until([&] { return messages_to_tester("this one is sent") > 0; }));
  bob.type("and again something else\r");  // one more turn, after which nothing else has happened
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(is_seen(id));
  EXPECT_EQ(messages_to_tester("this one is sent"), 1U) << box.ok({"log", "--json"});
  EXPECT_EQ(messages_to_tester("only an example"), 0U);
}

TEST_F(Native, ExplainSeparatesUserAndAgentMessagesDuringDraft) {
  auto& bob = start_claude();
  ASSERT_TRUE(until([&] { return box.ok({"explain", "Bob"}).find("on-idle inbox") != std::string::npos; }));
  bob.type("half a li");
  ASSERT_TRUE(until([&] { return string_member(box.ok_json({"explain", "Bob"}), "state") == "typing"; }));
  box.ok({"send", "Bob", "my own words"});
  const auto first_pending = [&] {
    const auto all = box.ok_json({"explain", "Bob"});
    const auto* list = array_member(all, "pending");
    return list == nullptr || list->empty() ? json::object{} : list->front().as_object();
  };
  ASSERT_TRUE(until([&] { return string_member(first_pending(), "reason") == "the composer holds a draft"; }));
  EXPECT_EQ(string_member(first_pending(), "via"), "pty");
  EXPECT_EQ(string_member(first_pending(), "as"), "user");
  const auto explained = box.ok({"explain", "Bob"});
  EXPECT_NE(explained.find("your messages stay pending until it is empty, messages from agents arrive beside it"),
            std::string::npos)
      << explained;
  EXPECT_NE(explained.find("typed  the composer holds a draft"), std::string::npos) << explained;
  EXPECT_TRUE(is_seen(send("Bob", "from a peer")));
  EXPECT_TRUE(until([&] { return string_member(first_pending(), "reason") == "the composer holds a draft"; }))
      << "again after that turn";
}

TEST_F(Native, ExplainShowsPermissionMode) {
  auto& bob = start_claude();
  EXPECT_NE(
      box.ok({"explain", "Bob"})
          .find("no rule approves or denies anything; its own permission mode decides what its dialog asks you; it "
                "has not reported the mode"),
      std::string::npos)
      << "no hook has reported its mode yet";
  bob.type("be quick\r");
  EXPECT_TRUE(until([&] {
    return box.ok({"explain", "Bob"}).find("mode auto: its own check approves or denies") != std::string::npos;
  })) << box.ok({"explain", "Bob"});
}

TEST_F(Native, PromptIsApprovedRemotely) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(prompts());
  const auto id = send("Bob", "are you there?");
  EXPECT_TRUE(until([&] { return string_member(box.ok_json({"explain", "Bob"}), "state") == "blocked"; }));
  EXPECT_EQ(count("Bob", "inbox"), 0U) << "no delivery while a prompt is open";
  box.ok({"approve", "Bob"});
  ASSERT_TRUE(until([&] { return count("Bob", "ran") == 1; }));
  EXPECT_EQ(last_answer(), "approved by hook");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_TRUE(until([&] { return permissions().find("make deploy") == std::string::npos; }));
  EXPECT_NE(box.run({"approve", "Bob"}).code, 0) << "nothing is approved in advance";
}

TEST_F(Native, PromptIsDeniedWithReason) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(prompts());
  box.ok({"deny", "Bob", "--message", "not on a Friday"});
  ASSERT_TRUE(until([&] { return count("Bob", "answer") == 1; }));
  EXPECT_EQ(last_answer(), "denied by hook: not on a Friday");
  EXPECT_EQ(count("Bob", "ran"), 0U);
}

TEST_F(Native, QuestionIsAnsweredRemotely) {
  auto& bob = start_claude();
  bob.type("which database?\r");
  ASSERT_TRUE(until([&] { return box.ok({"questions", "--json"}).find("Which one?") != std::string::npos; }));
  EXPECT_NE(box.run({"answer", "Bob", "SQLite", "and one too many"}).code, 0);
  box.ok({"answer", "Bob", "SQLite"});
  ASSERT_TRUE(until([&] { return count("Bob", "answer") == 1; }));
  EXPECT_EQ(last_answer(), R"(approved by hook: {"Which one?":"SQLite"})");
}

TEST_F(Native, ActivityIsReportedAsEvents) {
  auto& bob = start_claude();
  bob.type("use a tool\r");
  ASSERT_TRUE(until([&] { return event_summaries("tokens.used").size() == 1; }));
  EXPECT_EQ(event_summaries("item.started"), (Texts{"test_run", "message"}));
  EXPECT_EQ(event_summaries("command.executed"), Texts{"make check"});
  EXPECT_EQ(event_summaries("item.completed").size(), 2U);
  EXPECT_TRUE(until([&] {
    const auto explained = box.ok_json({"explain", "Bob"});
    return integer_member(*object_member(explained, "events"), "pending") == 0;
  }));
}

TEST_F(Native, PromptAndAnswerAreEvents) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(prompts());
  ASSERT_TRUE(until([&] { return event_summaries("permission.requested") == Texts{"make deploy"}; }));
  const auto request = string_member(events_of_type("permission.requested").back(), "requestId").value_or("");
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  ASSERT_TRUE(until([&] { return permissions().find("riskLevel") != std::string::npos; }))
      << "the host reports it to the new daemon";
  EXPECT_NE(permissions().find(request), std::string::npos);
  EXPECT_EQ(event_summaries("permission.requested").size(), 1U) << "the log has it once";
  box.ok({"approve", "Bob", "--prompt", request});
  ASSERT_TRUE(until([&] { return event_summaries("permission.resolved") == Texts{"approved by human"}; }));
  EXPECT_EQ(string_member(events_of_type("permission.resolved").back(), "requestId"), request);
}

TEST_F(Native, TranscriptShowsAnswerGivenOnScreen) {
  auto& bob = start_claude();
  for (const bool approve : {true, false}) {
    const auto before = event_summaries("permission.resolved").size();
    bob.type("deploy\r");
    ASSERT_TRUE(prompts());
    ASSERT_TRUE(bob.shows("Do you want to proceed?"));
    bob.type(approve ? "\r" : "\x1b");
    ASSERT_TRUE(until([&] { return event_summaries("permission.resolved").size() == before + 1; }));
  }
  EXPECT_EQ(event_summaries("permission.resolved"), (Texts{"approved by human", "denied by human"}));
}

TEST_F(Native, ImmediateMessageInterruptsReply) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "model_input") == 1; }));
  const auto id = send("Bob", "stop that", {"--mode", "immediate"});
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_EQ(count("Bob", "interrupted"), 1U);
  EXPECT_EQ(model_inputs("peer"), Texts{delivered_line(id, "stop that")});
}

TEST_F(Native, OnIdleMessageDoesNotInterrupt) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "model_input") == 1; }));
  const auto id = send("Bob", "when you have time");
  ASSERT_TRUE(is_seen(id)) << trace_of(id).history;
  EXPECT_EQ(count("Bob", "interrupted"), 0U);
  EXPECT_EQ(texts("Bob", "replied").at(0), "fine") << "its reply is complete";
}

TEST_F(Native, PeerMessageWaitsForUserMessageBeingTyped) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "model_input") == 1; }));
  box.ok({"send", "Bob", "from the user"});
  const auto from_peer = send("Bob", "take your time, peer");
  ASSERT_TRUE(until([&] { return submit_count("Bob", "from the user") == 1; }))
      << "it is submitted before the turn ends";
  EXPECT_TRUE(model_inputs("peer").empty()) << "the user comes first";
  EXPECT_TRUE(is_seen(from_peer)) << trace_of(from_peer).history;
}

TEST_F(Native, LastTranscriptLinesAreReadBeforeHostExits) {
  auto& terminal = start_claude();
  terminal.type("exit after this");
  terminal.type("\r");
  EXPECT_EQ(terminal.finish(), 0);
  EXPECT_TRUE(until([&] { return messages_to_tester("my last message") == 1; }));
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
  auto& bob = start_fake_claude("Bob", {"--no-hooks"});
  ASSERT_TRUE(until([&] { return string_member(box.ok_json({"explain", "Bob"}), "state") == "idle"; }));
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "replied") == 1; }));
  ASSERT_TRUE(until([&] {
    return json::serialize(box.ok_json({"explain", "Bob"})).find("does not call its hooks") != std::string::npos;
  }));
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_EQ(model_inputs("peer"), Texts{delivered_line(id, "hello")});
  const auto beside = send("Bob", "beside", {"--mode", "next-message"});
  EXPECT_TRUE(is_pending_because(beside, "its session does not support next-message"));
}

TEST_F(Native, AnswerOfUserWins) {
  auto& bob = start_claude();
  bob.type("deploy\r");
  ASSERT_TRUE(prompts());
  ASSERT_TRUE(bob.shows("Do you want to proceed?"));
  bob.type("\r");
  ASSERT_TRUE(until([&] { return permissions().find("make deploy") == std::string::npos; }));
  EXPECT_EQ(last_answer(), "approved by user");
  EXPECT_NE(box.run({"deny", "Bob"}).code, 0);
  EXPECT_EQ(count("Bob", "answer"), 1U);
}

TEST_F(Native, MessagesAreTypedWithoutInboxAndReasonIsShown) {
  start_claude({"--no-inbox"});
  const auto id = send("Bob", "hello");
  ASSERT_TRUE(reaches_state(id, "delivered")) << trace_of(id).history;
  EXPECT_TRUE(trace_of(id).contains("its inbox rejected it")) << trace_of(id).history;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(id, "hello")});
  const auto explained = box.ok_json({"explain", "Bob"});
  const auto* failed = array_member(explained, "failedInterfaces");
  ASSERT_NE(failed, nullptr) << json::serialize(explained);
  EXPECT_EQ(string_member(failed->at(0).as_object(), "via"), "inbox");
  EXPECT_FALSE(string_member(failed->at(0).as_object(), "reason").value_or("").empty());
}

TEST_F(Native, LostInboxFallsBackToTyping) {
  start_claude();
  const auto first = send("Bob", "one");
  ASSERT_TRUE(is_seen(first));
  for (const auto& entry : fs::directory_iterator{config() + "/sessions"})
    if (entry.path().extension() == ".sock") fs::remove(entry.path());
  const auto second = send("Bob", "two");
  ASSERT_TRUE(reaches_state(second, "delivered")) << trace_of(second).history;
  EXPECT_EQ(submitted("Bob"), Texts{delivered_line(second, "two")});
  EXPECT_EQ(model_inputs("peer"), Texts{delivered_line(first, "one")});
}

TEST_F(Native, DaemonDeathLosesAndRepeatsNothing) {
  auto& bob = start_claude();
  bob.type("take your time\r");
  ASSERT_TRUE(until([&] { return count("Bob", "model_input") == 1; }));
  const auto on_idle = send("Bob", "while you work");
  const auto beside = send("Bob", "beside your next prompt", {"--mode", "next-message"});
  ASSERT_TRUE(is_pending_because(beside, "next prompt"));
  box.kill_daemon();
  box.ok({"up", "--no-http"});
  ASSERT_TRUE(is_seen(on_idle)) << trace_of(on_idle).history;
  ASSERT_TRUE(is_seen(beside)) << trace_of(beside).history;
  EXPECT_EQ(model_inputs("peer"), Texts{delivered_line(on_idle, "while you work")});
  EXPECT_EQ(model_inputs("UserPromptSubmit"), Texts{delivered_line(beside, "beside your next prompt")});
  EXPECT_TRUE(until([&] { return count("Bob", "replied") == 2; }));
  EXPECT_EQ(count("Bob", "inbox"), 1U);
}

TEST_F(Native, HostDeathAfterDeliveryIsInDoubtWithoutSecondCopy) {
  start_claude();
  const auto id = send("Bob", "never recorded");
  ASSERT_TRUE(until([&] { return count("Bob", "inbox") == 1; }));
  const auto agent = agent_pid("Bob");
  kill("Bob");
  ASSERT_TRUE(until([&] { return !is_running(agent); }));
  start_claude();
  ASSERT_TRUE(reaches_state(id, "in_doubt")) << trace_of(id).history;
  const auto next = send("Bob", "the next one");
  ASSERT_TRUE(is_seen(next));
  EXPECT_EQ(count("Bob", "inbox"), 2U);
  EXPECT_TRUE(submitted("Bob").empty());
}

}  // namespace
}  // namespace relay::cli_tests
