// Deliveries from the command line: wait, ask, hold, flush, cancel, redeliver.
#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "cli/agents.h"
#include "cli/mcp_client.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;

/// Agents, and chats that only listen.
struct Deliveries : Agents {
  void join(const std::string& name) { box.ok({"chat", "--name", name}); }
  std::unique_ptr<Background> listen(const std::string& name) {
    auto chat = box.start({"chat", "--name", name, "--listen"});
    EXPECT_TRUE(is_connected(name));
    return chat;
  }
  /// A program with the agent's claim token says HELLO under its name and disconnects.
  void take_name_once(const std::string& name) {
    std::string token;
    std::ifstream{box.workspace_directory() + "/outboxes/" + name + ".outbox.claim"} >> token;
    ASSERT_FALSE(token.empty());
    auto daemon = cli::DaemonConnection::open(*string_member(box.ok_json({"status"}), "socket"));
    ASSERT_TRUE(daemon) << daemon.error().message();
    const auto hello = format(R"({{"agent":"{}","session":{{"claim_token":"{}"}}}})", name, token);
    ASSERT_TRUE(daemon->send({.type = protocol::MessageType::Hello, .id = {}, .payload = hello}));
    const auto welcome = daemon->receive(cli::in(std::chrono::seconds{10}));
    ASSERT_TRUE(welcome) << welcome.error().message();
    ASSERT_EQ(welcome->envelope.type, protocol::MessageType::Welcome) << welcome->envelope.payload;
  }
  /// The text of `trace`.
  std::string story(const std::string& id) { return box.ok({"trace", id}); }
  bool story_tells(const std::string& id, const std::string& words) {
    return until([&] { return story(id).find(words) != std::string::npos; });
  }
  static bool has(const std::string& text, const std::string& words) { return text.find(words) != std::string::npos; }
};

// ---------------------------------------------------------------- waiting

TEST_F(Deliveries, OfflineRecipientIsReportedAtOnce) {
  join("Bob");
  const auto sent = box.run({"send", "Bob", "hello"});
  EXPECT_EQ(sent.code, 0);
  EXPECT_TRUE(has(sent.err, "queued (Bob is offline since ")) << sent.err;
  EXPECT_TRUE(has(box.ok({"agents", "--all"}), "offline since "));
  const auto as_json = box.ok_json({"send", "Bob", "again"});
  EXPECT_EQ(string_member(as_json, "status"), "queued") << "the word that the history has";
  EXPECT_FALSE(as_json.contains("state")) << "one word";
  EXPECT_GT(integer_member(as_json, "offlineSince").value_or(0), 0);
  EXPECT_TRUE(story_tells(*string_member(as_json, "id"), "pending: Bob is offline since "));
}

TEST_F(Deliveries, HostThatLostItsNameIsNotReportedAsReconnecting) {
  constexpr auto kSentence = "the host of Bob runs but is not connected; see: agent-relay explain Bob";
  start("Bob");
  ASSERT_TRUE(is_connected("Bob"));
  ASSERT_TRUE(until([&] {  // the host reconnects once
    take_name_once("Bob");
    return has(box.ok({"explain", "Bob"}), "another connection took the name 'Bob'");
  }));
  ASSERT_TRUE(until([&] { return has(box.ok({"agents", "--all"}), "offline since "); }));
  const auto sent = box.run({"send", "Bob", "hello"});
  EXPECT_TRUE(has(sent.err, kSentence)) << sent.err;
  const auto late = box.run({"send", "Bob", "hello", "--wait", "--timeout", "100ms"});
  EXPECT_TRUE(has(late.err, kSentence)) << late.err;
  Terminal live{box, {"send", "Bob", "hello", "--wait"}, 200};
  EXPECT_TRUE(live.shows(kSentence)) << "the line that is written anew: " << live.screen();
}

TEST_F(Deliveries, WaitEndsWithRequestedProof) {
  start("Bob", {"--status"});
  EXPECT_TRUE(has(box.ok({"send", "Bob", "one", "--wait", "accepted"}), "accepted by Bob  "));
  const auto delivered = box.ok_json({"send", "Bob", "two", "--wait"});
  EXPECT_EQ(string_member(delivered, "status"), "delivered");
  EXPECT_EQ(string_member(delivered, "proof"), "submitted");
}

TEST_F(Deliveries, ImpossibleProofIsRefusedAtOnce) {
  start("Bob", {"--status"});
  const auto begin = std::chrono::steady_clock::now();
  const auto seen = box.run({"send", "Bob", "three", "--wait", "seen", "--timeout", "60s"});
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 20s);
  EXPECT_EQ(seen.code, 5) << "nothing shows what the model of this agent has read";
  EXPECT_TRUE(has(seen.err, "the session of Bob cannot prove that a message was seen, only submitted")) << seen.err;
  EXPECT_TRUE(has(seen.err, "wait with --wait delivered")) << seen.err;
  EXPECT_TRUE(until([&] { return heard("Bob", "three") == 1; })) << "it is sent all the same";
  auto carol = listen("Carol");
  const auto listening = box.run({"send", "Carol", "four", "--wait", "seen", "--timeout", "60s"});
  EXPECT_EQ(listening.code, 5);
  EXPECT_TRUE(has(listening.err, "only accepted")) << listening.err;
  EXPECT_TRUE(carol->says("four"));
}

TEST_F(Deliveries, TimeoutReportsProgress) {
  auto& bob = start("Bob");
  bob.type("half a li");
  ASSERT_TRUE(bob.shows("half a li"));
  const auto late = box.run({"send", "Bob", "these are words", "--wait", "--timeout", "2s"});
  EXPECT_EQ(late.code, 4);
  EXPECT_TRUE(has(late.err, "not delivered within 2 s: ")) << late.err;
  EXPECT_TRUE(has(late.err, "the composer holds a draft")) << late.err;
}

TEST_F(Deliveries, InterruptReportsThatMessageIsStored) {
  auto carol = listen("Carol");
  carol->signal(SIGTERM);
  carol->finish();
  const auto waiting = box.start({"send", "Carol", "for later", "--wait"});
  ASSERT_TRUE(waiting->complains("Carol is offline since"));
  waiting->signal(SIGINT);
  const auto ended = waiting->finish();
  EXPECT_EQ(ended.code, 128 + SIGINT);
  EXPECT_TRUE(has(ended.err, "interrupted: stored, to be delivered later: Carol is offline since")) << ended.err;
  EXPECT_TRUE(has(ended.err, "agent-relay trace ")) << ended.err;
  Terminal person{box, {"send", "Carol", "for later too", "--ask"}, 200};
  ASSERT_TRUE(person.shows("Carol is offline since"));
  person.type("\x03");
  EXPECT_EQ(person.finish(), 128 + SIGINT);
  EXPECT_TRUE(person.shows("interrupted: stored, to be delivered later")) << person.screen();
}

TEST_F(Deliveries, TerminalShowsProgress) {
  start("Bob", {"--status"});
  Terminal sender{box, {"send", "Bob", "hello", "--wait"}};
  EXPECT_TRUE(sender.shows("Bob: stored")) << sender.screen();
  EXPECT_TRUE(sender.shows("delivered to Bob  ")) << sender.screen();
  EXPECT_EQ(sender.finish(), 0);
}

// ---------------------------------------------------------------- asking

TEST_F(Deliveries, QuestionIsAnsweredInItsThread) {
  script(R"({"rules": [{"contains": "which color", "reply": "@relay:tester [thread:paint-1] it is blue"}]})");
  start("Bob", {"--status"});
  const auto asked = box.run({"send", "Bob", "which color?", "--from", "tester", "--ask", "--thread", "paint-1"});
  EXPECT_EQ(asked.code, 0) << asked.err;
  EXPECT_EQ(asked.out, "it is blue\n");
  const auto as_json = parse_json_object(box.ok({"send", "Bob", "which color?", "--from", "tester", "--ask", "--thread",
                                                 "paint-1", "--json"}))
                           .value();
  EXPECT_EQ(string_member(as_json, "status"), "answered");
  EXPECT_EQ(string_member(as_json, "answer"), "it is blue");
}

TEST_F(Deliveries, PlainReplyAnswersTheOnlyQuestion) {
  script(R"({"rules": [{"contains": "which color", "reply": "@relay:tester it is blue"}]})");
  start("Bob", {"--status"});
  const std::vector<std::string> words{"send", "Bob",  "which color?", "--from", "tester",
                                       "--id", "q-17", "--ask",        "--json"};
  const auto asked = parse_json_object(box.ok(words)).value();
  EXPECT_EQ(string_member(asked, "answer"), "it is blue");
  EXPECT_EQ(string_member(asked, "matchedBy"), "only-request");
  EXPECT_EQ(string_member(parse_json_object(box.ok(words)).value(), "answer"), "it is blue") << "from what is stored";
  const auto read = box.ok_json({"read", *string_member(asked, "answerId")});
  EXPECT_TRUE(has(json::serialize(read), "\"replyTo\":\"" + *string_member(asked, "id") + "\""));
}

TEST_F(Deliveries, UnansweredQuestionReportsProgress) {
  script(R"({"default": {"reply": "I say nothing to you."}})");
  start("Bob", {"--status"});
  const auto asked = box.run({"send", "Bob", "anyone?", "--ask", "--timeout", "3s"});
  EXPECT_EQ(asked.code, 4);
  EXPECT_EQ(asked.out, "");
  EXPECT_TRUE(has(asked.err, "not answered within 3 s: it was submitted to Bob's agent")) << asked.err;
  join("Carol");
  const auto away = box.run({"send", "Carol", "anyone?", "--ask", "--timeout", "200ms"});
  EXPECT_EQ(away.code, 4);
  EXPECT_TRUE(has(away.err, "Carol is offline since ")) << away.err;
  EXPECT_EQ(box.run({"send", "*", "anyone?", "--ask"}).code, 2);
  EXPECT_EQ(box.run({"send", "Bob", "anyone?", "--ask", "--wait"}).code, 2);
}

TEST_F(Deliveries, ReplyNamesAnsweredMessage) {
  const auto asker = box.start({"send", "Bob", "ready?", "--from", "Alice", "--ask", "--timeout", "20s"});
  // Bob is a user at a shell who reads the question and answers that message.
  EXPECT_EQ(asker->finish().code, 5) << "nobody is called Bob yet";
  join("Bob");
  const auto again = box.start({"send", "Bob", "ready?", "--from", "Alice", "--ask", "--timeout", "20s"});
  std::string id;
  ASSERT_TRUE(until([&] {
    const auto inbox = box.ok_json({"inbox", "Bob"});
    const auto& messages = *array_member(inbox, "messages");
    if (!messages.empty()) id = *string_member(messages.at(0).as_object(), "id");
    return !id.empty();
  }));
  box.ok({"send", "Alice", "ready", "--from", "Bob", "--reply-to", id});
  const auto ran = again->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_EQ(ran.out, "ready\n");
}

// ---------------------------------------------------------------- topics

TEST_F(Deliveries, BroadcastAboutATopicReachesItsSubscribers) {
  auto bob = listen("Bob"), carol = listen("Carol");
  EXPECT_EQ(box.ok({"topics", "subscribe", "deploys", "--name", "Bob"}), "Bob is subscribed to deploys\n");
  EXPECT_TRUE(has(box.ok({"topics"}), "deploys  Bob"));
  box.ok({"send", "*", "v2 is live", "--topic", "deploys"});
  box.ok({"send", "*", "lunch"});
  EXPECT_TRUE(bob->says("v2 is live"));
  EXPECT_TRUE(carol->says("lunch"));
  EXPECT_FALSE(has(carol->out(), "v2 is live"));
  EXPECT_TRUE(has(box.ok({"log", "--topic", "deploys"}), "v2 is live"));
  EXPECT_FALSE(has(box.ok({"log", "--topic", "deploys"}), "lunch"));
  EXPECT_FALSE(has(box.ok({"inbox", "Bob", "--topic", "deploys"}), "lunch"));
  const auto event = parse_json_object(box.ok({"events", "--topic", "deploys", "--json"})).value();
  EXPECT_EQ(string_member(event, "topic"), "deploys");
  EXPECT_EQ(box.ok({"topics", "unsubscribe", "deploys", "--name", "Bob"}), "Bob is not subscribed to deploys\n");
  const auto away = box.run({"topics", "subscribe", "deploys", "--name", "Nobody"});
  EXPECT_EQ(away.code, 5);
  EXPECT_TRUE(has(away.err, "no agent is named 'Nobody'")) << away.err;
}

TEST_F(Deliveries, AgentSubscribesByCommandAndSeesKindAndTopic) {
  script(R"({"rules": [{"contains": "listen to deploys", "reply": "@relay:subscribe deploys"}]})");
  start("Bob", {"--status"});
  box.ok({"send", "Bob", "listen to deploys", "--wait"});
  EXPECT_TRUE(until([&] { return has(box.ok({"topics"}), "deploys  Bob"); }));
  box.ok({"send", "*", "restart it", "--topic", "deploys", "--kind", "action"});
  EXPECT_TRUE(until([&] { return heard("Bob", "[kind:action] [topic:deploys]") == 1; }));
}

TEST_F(Deliveries, DebugLogHasPendingReason) {
  box.set("AGENT_RELAY_DEBUG", "1");
  box.ok({"down", "--all"});
  box.ok({"up"});
  auto& bob = start("Bob");
  bob.type("half a li");
  ASSERT_TRUE(bob.shows("half a li"));
  box.run({"send", "Bob", "secret words", "--wait", "--timeout", "2s"});
  std::ifstream file{box.home() + "/daemon.log"};
  const std::string log{std::istreambuf_iterator<char>{file}, {}};
  EXPECT_TRUE(has(log, "delivery step")) << log;
  EXPECT_TRUE(has(log, "the composer holds a draft")) << log;
  EXPECT_TRUE(has(log, "message routed id=")) << log;
  EXPECT_TRUE(has(log, "delivery changed message=")) << log;
  EXPECT_FALSE(has(log, "secret words"));
}

// ---------------------------------------------------------------- duplicates

TEST_F(Deliveries, DuplicateReportsResultOfFirst) {
  auto bob = listen("Bob");
  const std::vector<std::string> words{"send", "Bob", "only once", "--id", "backup-2026-03-01", "--wait", "--json"};
  const auto first = parse_json_object(box.ok(words)).value();
  const auto again = parse_json_object(box.ok(words)).value();
  EXPECT_EQ(string_member(again, "id"), string_member(first, "id"));
  EXPECT_EQ(string_member(again, "status"), "delivered");
  EXPECT_FALSE(first.contains("duplicate"));
  EXPECT_EQ(bool_member(again, "duplicate"), true);
  EXPECT_EQ(string_member(again, "proof"), string_member(first, "proof"));
  box.ok({"send", "Bob", "after it", "--wait"});
  EXPECT_TRUE(bob->says("after it"));
  EXPECT_EQ(bob->out().find("only once"), bob->out().rfind("only once"));
  const auto other = box.run({"send", "Bob", "another text", "--id", "backup-2026-03-01"});
  EXPECT_EQ(other.code, 5);
  EXPECT_TRUE(has(other.err, "belongs to another message, " + *string_member(first, "id"))) << other.err;
}

TEST_F(Deliveries, DuplicateWaitsForResultOfFirst) {
  join("Bob");
  box.ok({"send", "Bob", "when you are back", "--id", "nightly-17"});
  const auto waiting = box.start({"send", "Bob", "when you are back", "--id", "nightly-17", "--wait"});
  EXPECT_TRUE(waiting->complains("queued (Bob is offline since ")) << waiting->err();
  auto bob = listen("Bob");
  const auto ran = waiting->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "delivered to Bob  ")) << ran.out;
}

TEST_F(Deliveries, DuplicateQuestionGetsEarlierAnswer) {
  join("Bob");
  const std::vector<std::string> words{"send",     "Bob",   "which color?", "--from",
                                       "Alice",    "--ask", "--id",         "color-question",
                                       "--thread", "paint", "--timeout",    "300ms"};
  EXPECT_EQ(box.run(words).code, 4);
  auto patient = words;
  patient.back() = "20s";
  const auto again = box.start(patient);
  EXPECT_TRUE(again->complains("queued (Bob is offline since ")) << again->err();
  box.ok({"send", "Alice", "blue", "--from", "Bob", "--thread", "paint"});
  EXPECT_EQ(again->finish().out, "blue\n");
  EXPECT_EQ(box.ok(words), "blue\n") << "at once, from what is stored";
}

TEST_F(Deliveries, DuplicateUnderShortIdIsStoredOnce) {
  join("Bob");
  const auto first = string_member(box.ok_json({"send", "Bob", "hello", "--id", "x1"}), "id");
  const auto again = box.ok_json({"send", "Bob", "hello", "--id", "x1"});
  EXPECT_EQ(string_member(again, "id"), first);
  EXPECT_EQ(bool_member(again, "duplicate"), true);
  EXPECT_EQ(array_member(box.ok_json({"inbox", "Bob"}), "messages")->size(), 1U);
}

TEST_F(Deliveries, DuplicateIdOfAnotherSenderIsDistinct) {
  join("Bob");
  const auto other = string_member(box.ok_json({"send", "Bob", "something else"}), "id").value_or("");
  const auto nightly = [](std::string_view from) {
    return std::vector<std::string>{"send", "Bob", "nightly", "--id", "nightly-backup", "--from", std::string{from}};
  };
  for (const auto& words : {std::vector<std::string>{"send", "Bob", "mine", "--id", other, "--from", "Alice"},
                            nightly("Alice"), nightly("Carol")}) {
    const auto own = string_member(box.ok_json(words), "id");
    ASSERT_TRUE(own);
    EXPECT_NE(own, other);
    auto patient = words;
    patient.insert(patient.end(), {"--wait", "--timeout", "1s"});
    const auto waits = box.run(patient);
    EXPECT_EQ(waits.code, 4) << waits.err;
    EXPECT_TRUE(has(waits.err, "agent-relay trace " + *own)) << waits.err;
  }
}

// ---------------------------------------------------------------- holding

TEST_F(Deliveries, PausedAgentGetsMessagesAfterUnpause) {
  start("Bob", {"--status"});
  EXPECT_TRUE(has(box.ok({"pause", "Bob", "--reason", "lunch"}), "until: agent-relay unpause Bob"));
  const auto first = send("Bob", "the first"), second = send("Bob", "the second");
  EXPECT_TRUE(story_tells(first, "pending: ")) << story(first);
  EXPECT_TRUE(story_tells(first, "paused")) << story(first);
  EXPECT_TRUE(has(box.ok({"status"}), "paused")) << box.ok({"status"});
  EXPECT_TRUE(has(box.ok({"agents"}), "paused")) << box.ok({"agents"});
  EXPECT_TRUE(has(box.ok({"explain", "Bob"}), "lunch; resume with: agent-relay unpause Bob"));
  EXPECT_EQ(integer_member(box.ok_json({"explain", "Bob"}), "atDaemon"), 2);
  EXPECT_TRUE(has(box.ok({"explain", "Bob"}),
                  "2 messages held by the daemon while it is paused; resume with: agent-relay unpause Bob"))
      << box.ok({"explain", "Bob"});
  let_pass(1s);
  EXPECT_TRUE(submitted("Bob").empty());
  EXPECT_TRUE(has(box.run({"flush", "Bob"}).err, "agent-relay unpause Bob")) << "a pause is not ended by a flush";
  EXPECT_TRUE(has(box.run({"pause", "Bob", "--reason", "lunch"}).err, "Bob is already paused"));
  EXPECT_EQ(box.ok({"unpause", "Bob"}), "Bob receives messages again\n");
  EXPECT_TRUE(has(box.run({"unpause", "Bob"}).err, "Bob is not paused"));
  EXPECT_TRUE(reaches_state(first, "delivered")) << story(first);
  EXPECT_TRUE(reaches_state(second, "delivered")) << story(second);
  EXPECT_EQ(submitted("Bob"), (std::vector{delivered_line(first, "the first"), delivered_line(second, "the second")}));
  EXPECT_FALSE(has(box.ok({"status"}), "paused"));
  const auto stranger = box.run({"pause", "Bbo"});
  EXPECT_EQ(stranger.code, 5);
  EXPECT_TRUE(has(stranger.err, "did you mean Bob? agent-relay agents --all lists all agents")) << stranger.err;
}

TEST_F(Deliveries, PauseSurvivesDaemon) {
  join("Bob");
  box.ok({"pause", "Bob"});
  box.ok({"down", "--all"});
  box.ok({"up", "--no-http"});
  EXPECT_TRUE(has(box.ok({"status"}), "paused"));
  const auto bob = box.start({"chat", "--name", "Bob", "--listen"});
  ASSERT_TRUE(is_connected("Bob"));
  const auto id = send("Bob", "not yet");
  EXPECT_TRUE(story_tells(id, "paused")) << story(id);
  box.ok({"unpause", "Bob"});
  EXPECT_TRUE(bob->says("not yet"));
}

TEST_F(Deliveries, ManualMessageWaitsForFlush) {
  start("Bob", {"--status"});
  const auto id = send("Bob", "when you like", {"--mode", "manual"});
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(reaches_state(next, "delivered")) << "a waiting lane blocks no other";
  EXPECT_FALSE(has(story(id), "delivered")) << story(id);
  EXPECT_EQ(heard("Bob", "when you like"), 0u);
  EXPECT_EQ(box.ok({"flush", "Bob"}), "released 1 message for Bob\n");
  EXPECT_TRUE(reaches_state(id, "delivered")) << story(id);
  EXPECT_EQ(heard("Bob", "when you like"), 1u);
  EXPECT_EQ(integer_member(box.ok_json({"flush", "Bob"}), "count"), 0);
}

TEST_F(Deliveries, EndOfHoldPolicyMentionsHeldMessagesOnlyWhenPresent) {
  join("Bob");
  box.ok({"policy", "Bob", "hold"});
  box.ok({"send", "Bob", "held"});
  const auto some = box.run({"policy", "Bob", "refuse"});
  EXPECT_TRUE(has(some.err, "messages held before stay held until: agent-relay flush Bob")) << some.err;
  box.ok({"policy", "Bob", "hold"});
  box.ok({"flush", "Bob"});
  const auto none = box.run({"policy", "Bob", "refuse"});
  EXPECT_FALSE(has(none.err, "held")) << none.err;
}

TEST_F(Deliveries, PolicyHoldsOrRefusesBySender) {
  auto bob = listen("Bob");
  EXPECT_TRUE(has(box.ok({"policy", "Bob"}), "everyone"));
  box.ok({"policy", "Bob", "hold", "--from", "Alice"});
  box.ok({"policy", "Bob", "refuse", "--from", "Mallory"});
  const auto rules = box.ok_json({"policy", "Bob"});
  EXPECT_EQ(array_member(rules, "rules")->size(), 2U);
  const auto refused = box.run({"send", "Bob", "let me in", "--from", "Mallory", "--json"});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_EQ(string_member(*object_member(parse_json_object(refused.out).value(), "error"), "code"), "REFUSED");
  const auto held = *string_member(box.ok_json({"send", "Bob", "from Alice", "--from", "Alice"}), "id");
  box.ok({"send", "Bob", "from Carol", "--from", "Carol", "--wait"});
  EXPECT_TRUE(bob->says("from Carol"));
  EXPECT_TRUE(story_tells(held, "pending: ")) << story(held);
  EXPECT_EQ(bob->out().find("from Alice"), std::string::npos);
  EXPECT_EQ(box.ok({"flush", "Bob"}), "released 1 message for Bob\n");
  EXPECT_TRUE(bob->says("from Alice"));
  box.ok({"policy", "Bob", "--clear", "--from", "Alice"});
  EXPECT_EQ(array_member(box.ok_json({"policy", "Bob"}), "rules")->size(), 1U);
  box.ok({"policy", "Bob", "--clear"});
  box.ok({"send", "Bob", "now me", "--from", "Mallory", "--wait"});
  EXPECT_EQ(box.run({"policy", "Bob", "perhaps"}).code, 2);
  EXPECT_EQ(box.run({"policy", "Bbo"}).code, 5);
}

// ---------------------------------------------------------------- final states

TEST_F(Deliveries, UnsettledDeliveryIsCancelledOnSessionResponse) {
  McpClient bob{box, {"--name", "Bob"}};
  ASSERT_TRUE(has(bob.tell("relay_whoami"), "You are Bob"));
  const auto first = send("Bob", "never mind");
  ASSERT_TRUE(reaches_state(first, "accepted"));
  EXPECT_EQ(box.ok({"cancel", first}), first + " cancelled\n");
  EXPECT_EQ(bob.tell("relay_inbox"), "no pending messages");

  const auto second = send("Bob", "too slow");
  ASSERT_TRUE(reaches_state(second, "accepted"));
  bob.server().signal(SIGSTOP);
  const auto asked = box.run({"cancel", second, "--json"});
  bob.server().signal(SIGCONT);
  EXPECT_EQ(asked.code, 4);
  const auto told = parse_json_object(asked.out).value();
  EXPECT_TRUE(array_member(told, "cancelled")->empty());
  EXPECT_EQ(array_member(told, "requested")->size(), 1U);
  EXPECT_TRUE(has(asked.err, "cancellation requested; no response yet; see: agent-relay trace " + second)) << asked.err;
  EXPECT_TRUE(reaches_state(second, "cancelled")) << "it answers later";
}

TEST_F(Deliveries, PendingMessageCanBeCancelled) {
  join("Bob");
  const auto id = send("Bob", "never mind");
  EXPECT_EQ(box.ok({"cancel", id, "--reason", "done already"}), id + " cancelled\n");
  EXPECT_TRUE(story_tells(id, "╰─ cancelled by a person: done already")) << story(id);
  const auto again = box.run({"cancel", id});
  EXPECT_EQ(again.code, 1);
  EXPECT_TRUE(has(again.err, "no delivery of " + id + " is pending")) << again.err;
  auto bob = listen("Bob");
  box.ok({"send", "Bob", "after it", "--wait"});
  EXPECT_TRUE(bob->says("after it"));
  EXPECT_EQ(bob->out().find("never mind"), std::string::npos);
  EXPECT_EQ(box.run({"cancel", "zzzzzzzz"}).code, 1);
}

TEST_F(Deliveries, LateCancelIsReported) {
  auto bob = listen("Bob");
  const auto id = string_member(box.ok_json({"send", "Bob", "there already", "--wait"}), "id").value_or("");
  const auto trace = box.ok_json({"trace", id});
  const auto delivery = string_member(array_member(trace, "deliveries")->at(0).get_object(), "deliveryId").value_or("");
  ASSERT_TRUE(delivery.starts_with("d-"));
  const auto late = box.run({"cancel", delivery, "--json"});
  EXPECT_EQ(late.code, 1) << late.err;
  EXPECT_TRUE(has(late.err, "too late: delivered to Bob at ")) << late.err;
  const auto told = parse_json_object(late.out).value();
  ASSERT_NE(array_member(told, "tooLate"), nullptr) << late.out;
  ASSERT_EQ(array_member(told, "tooLate")->size(), 1U) << late.out;
  EXPECT_EQ(string_member(array_member(told, "tooLate")->at(0).get_object(), "deliveryId"), delivery);
}

TEST_F(Deliveries, ExpiredMessageNamesItsLimit) {
  join("Bob");
  const auto by_deadline = send("Bob", "by deadline", {"--deadline", "300ms"});
  const auto by_ttl = send("Bob", "by ttl", {"--ttl", "300ms"});
  ASSERT_TRUE(reaches_state(by_deadline, "expired")) << story(by_deadline);
  ASSERT_TRUE(reaches_state(by_ttl, "expired")) << story(by_ttl);
  EXPECT_TRUE(has(story(by_deadline), "its deadline passed")) << story(by_deadline);
  EXPECT_TRUE(has(story(by_ttl), "its ttl ran out")) << story(by_ttl);
}

TEST_F(Deliveries, ExpiredMessageIsListedAndRedelivered) {
  join("Bob");
  const auto id = send("Bob", "soon gone", {"--deadline", "500ms"});
  ASSERT_TRUE(reaches_state(id, "expired")) << story(id);
  EXPECT_TRUE(has(story(id), "; redeliver it with")) << story(id);
  const auto dead = box.ok({"dead"});
  EXPECT_TRUE(has(dead, "expired")) << dead;
  EXPECT_TRUE(has(dead, "tester → Bob  soon gone")) << dead;
  EXPECT_TRUE(has(box.ok({"status"}), "1 message not delivered; see: agent-relay dead")) << box.ok({"status"});
  EXPECT_EQ(array_member(box.ok_json({"dead", "Bob"}), "deliveries")->size(), 1U);
  EXPECT_EQ(box.run({"dead", "Bbo"}).code, 1);
  auto bob = listen("Bob");
  EXPECT_TRUE(has(box.ok({"dead", "redeliver", id}), "redelivered as d-"));
  EXPECT_TRUE(bob->says("soon gone"));
  EXPECT_TRUE(array_member(box.ok_json({"dead"}), "deliveries")->empty());
  EXPECT_TRUE(has(story(id), "redelivered as d-")) << story(id);
  EXPECT_FALSE(has(box.ok({"status"}), "not delivered"));
}

TEST_F(Deliveries, RedeliverAllSkipsDeliveriesInDoubt) {
  script(R"({"moments": [{"when": "before_paste", "dialog": {"title": "Update now?"}}]})");
  auto& bob = start("Bob");
  const auto doubtful = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "swallowed") == 1; }));
  ASSERT_TRUE(bob.shows("Update now?"));  // a key pressed earlier would not be for the dialog
  bob.type("\x1b");
  ASSERT_TRUE(reaches_state(doubtful, "in_doubt")) << story(doubtful);
  EXPECT_TRUE(has(story(doubtful), "in doubt: ")) << story(doubtful);
  join("Carol");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reaches_state(send("Carol", "late", {"--ttl", "1ms"}), "expired"));
  EXPECT_EQ(array_member(box.ok_json({"dead"}), "deliveries")->size(), 4U);
  EXPECT_EQ(integer_member(box.ok_json({"dead", "redeliver", "--all"}), "count"), 3);
  EXPECT_EQ(array_member(box.ok_json({"dead"}), "deliveries")->size(), 1U);
  EXPECT_EQ(integer_member(box.ok_json({"dead", "redeliver", "--all", "--in-doubt", "Bob"}), "count"), 1);
  EXPECT_TRUE(hears("Bob", "these are words"));
  EXPECT_EQ(box.run({"dead", "redeliver"}).code, 2);
  EXPECT_EQ(box.run({"dead", "redeliver", "d-22222222"}).code, 5);
}

// ---------------------------------------------------------------- trace

TEST_F(Deliveries, TraceDrawsTimelineAndOutcome) {
  start("Bob", {"--status"});
  const auto id = *string_member(box.ok_json({"send", "Bob", "hello\nworld", "--wait"}), "id");
  const auto drawn = story(id);
  for (const auto* part :
       {"→ Bob", "  hello …\n", "\nto Bob  d-", "on-idle", "  ●  ", "queued", "proof: stored", "delivered",
        "proof: submitted", "  ╰─ it was submitted to Bob's agent ", "after you sent it"})
    EXPECT_TRUE(has(drawn, part)) << part << " in\n" << drawn;
  box.set("LANG", "C");
  const auto plain = story(id);
  EXPECT_TRUE(has(plain, "  *  ")) << plain;
  EXPECT_EQ(plain.find("●"), std::string::npos);
}

TEST_F(Deliveries, TraceFollowsToFinalState) {
  join("Bob");
  const auto id = send("Bob", "hello");
  const auto follower = box.start({"trace", id, "--follow"});
  EXPECT_TRUE(follower->says("pending: Bob is offline since "));
  auto bob = listen("Bob");
  const auto ran = follower->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "Bob received it ")) << ran.out;
}

// ---------------------------------------------------------------- conversations

TEST_F(Deliveries, ChannelReachesOfflineMembers) {
  join("Bob");
  auto alice = listen("Alice");
  EXPECT_EQ(box.ok({"channels", "join", "#dev", "--name", "Alice"}), "Alice joined #dev\n");
  EXPECT_EQ(box.ok({"channels", "join", "dev", "--name", "Bob"}), "Bob joined #dev\n");
  EXPECT_TRUE(has(box.ok({"channels"}), "#dev"));
  const auto members = box.ok({"channels", "members", "#dev"});
  EXPECT_TRUE(has(members, "Alice  connected")) << members;
  EXPECT_TRUE(has(members, "Bob    offline")) << members;
  box.ok({"send", "#dev", "the build is green", "--from", "Carol"});
  EXPECT_TRUE(alice->says("the build is green"));
  const auto history = box.ok({"channels", "history", "#dev"});
  EXPECT_TRUE(has(history, "the build is green")) << history;
  EXPECT_EQ(array_member(box.ok_json({"channels", "history", "dev"}), "messages")->size(), 1U);
  auto bob = listen("Bob");
  EXPECT_TRUE(bob->says("the build is green")) << "it waited for him";
  EXPECT_EQ(box.ok({"channels", "leave", "#dev", "--name", "Bob"}), "Bob left #dev\n");
  EXPECT_FALSE(has(box.ok({"channels", "members", "#dev"}), "Bob"));
  EXPECT_EQ(box.run({"channels", "paint", "#dev"}).code, 2);
  EXPECT_EQ(box.run({"channels", "join"}).code, 2);
}

TEST_F(Deliveries, FilesAreAttachedByReference) {
  join("Bob");
  const auto report = box.write(box.project() + "/my report.txt", "all green\n");
  const auto notes = box.write(box.project() + "/notes", "n");
  const auto id = send("Bob", "see the files", {"--attach", report, "--attach", notes});
  const auto page = box.ok({"read", id});
  EXPECT_TRUE(has(page, "file     my report.txt (10 B)  " + box.project() + "/.agent-relay/attachments/")) << page;
  const auto message = box.ok_json({"read", id});
  const auto& files = *array_member(message, "attachments");
  ASSERT_EQ(files.size(), 2U);
  const auto path = *string_member(files.at(0).as_object(), "path");
  std::ifstream copy{path};
  EXPECT_EQ((std::string{std::istreambuf_iterator<char>{copy}, {}}), "all green\n");
  std::filesystem::create_symlink(report, box.project() + "/link");
  EXPECT_EQ(box.run({"send", "Bob", "x", "--attach", box.project() + "/link"}).code, 1);
  std::filesystem::resize_file(notes, 17 << 20);
  EXPECT_EQ(box.run({"send", "Bob", "x", "--attach", notes}).code, 5);
}

TEST_F(Deliveries, LoopingPairIsStoppedAndCanBeReset) {
  for (const auto* name : {"Alice", "Bob"}) {
    script(format(R"({{"default": {{"reply": "@relay:{} thank you"}}}})",
                  std::string_view{name} == "Bob" ? "Alice" : "Bob"));
    start(name, {"--status"});
  }
  EXPECT_TRUE(array_member(box.ok_json({"loops"}), "breakers")->empty());
  EXPECT_FALSE(has(box.ok({"status"}), "loops"));
  send("Bob", "thank you");
  json::object loops;
  ASSERT_TRUE(until([&] {
    loops = box.ok_json({"loops"});
    return !array_member(loops, "breakers")->empty();
  })) << box.ok({"log"});
  const auto& breaker = array_member(loops, "breakers")->front().as_object();
  const auto from = *string_member(breaker, "from"), to = *string_member(breaker, "to");
  EXPECT_LE(heard("Alice", "thank you") + heard("Bob", "thank you"), 20u);
  EXPECT_TRUE(has(box.ok({"loops"}), from + " → " + to + "  stopped ")) << box.ok({"loops"});
  EXPECT_TRUE(has(box.ok({"status"}), "1 pair stopped for looping; see: agent-relay loops"));
  EXPECT_EQ(box.ok({"loops", "reset", from, to}), "reset 1 pair\n");
  EXPECT_EQ(box.run({"loops", "reset", "Alice"}).code, 2);
  EXPECT_EQ(box.run({"loops", "stop"}).code, 2);
}

TEST_F(Deliveries, UrgentGoesFirst) {
  join("Bob");
  send("Bob", "in its turn");
  send("Bob", "at once", {"--urgent"});
  auto bob = listen("Bob");
  ASSERT_TRUE(bob->says("in its turn"));
  EXPECT_LT(bob->out().find("at once"), bob->out().find("in its turn"));
}

TEST_F(Deliveries, UrgentGoesFirstAmongArrivedMessages) {
  auto& bob = start("Bob");
  bob.type("half a li");
  ASSERT_TRUE(bob.shows("half a li"));
  const auto first = send("Bob", "in its turn", {"--deadline", "9999-12-31T00:00:00Z"});
  ASSERT_TRUE(is_pending_because(first, "the composer holds a draft"));
  const auto urgent = send("Bob", "at once", {"--urgent"});
  ASSERT_TRUE(is_pending_because(urgent, "the composer holds a draft")) << "it has taken the other's place";
  bob.type("ne\r");
  EXPECT_TRUE(reaches_state(first, "delivered"));
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", delivered_line(urgent, "at once"),
                                                        delivered_line(first, "in its turn")}));
}

TEST_F(Deliveries, PastTimeIsNoDeadline) {
  join("Bob");
  for (const auto* deadline : {"soon", "0s", "2001-01-01T00:00:00Z"})
    EXPECT_EQ(box.run({"send", "Bob", "x", "--deadline", deadline}).code, 2) << deadline;
  box.ok({"send", "Bob", "x", "--deadline", "20m"});
}

}  // namespace
}  // namespace relay::cli_tests
