// Deliveries from the command line: wait, resend, hold, flush, cancel, redeliver, trace.
#include <signal.h>

#include "cli/deliveries.h"
#include "cli/mcp_client.h"

namespace relay::cli_tests {
namespace {

using namespace std::chrono_literals;

// ---------------------------------------------------------------- waiting

TEST_F(Deliveries, OfflineRecipientIsReportedAtOnce) {
  join("Bob");
  const auto sent = box.run({"send", "Bob", "hello"});
  EXPECT_EQ(sent.code, 0);
  EXPECT_TRUE(has(sent.err, "queued (Bob is offline since ")) << sent.err;
  EXPECT_TRUE(has(box.ok({"agents", "--all"}), "offline since "));
  const auto as_json = box.ok_json({"send", "Bob", "again"});
  EXPECT_EQ(string_member(as_json, "status"), "queued") << "the same value as in the history";
  EXPECT_FALSE(as_json.contains("state"));
  EXPECT_GT(integer_member(as_json, "offlineSince").value_or(0), 0);
  EXPECT_TRUE(trace_shows(*string_member(as_json, "id"), "pending: Bob is offline since "));
}

TEST_F(Deliveries, HostThatLostItsNameIsNotReportedAsReconnecting) {
  constexpr auto kNotConnected = "the host of Bob runs but is not connected; see: agent-relay explain Bob";
  start("Bob");
  ASSERT_TRUE(is_connected("Bob"));
  ASSERT_TRUE(until([&] {  // the host reconnects once
    take_name_briefly("Bob");
    return has(box.ok({"explain", "Bob"}), "another connection took the name 'Bob'");
  }));
  ASSERT_TRUE(until([&] { return has(box.ok({"agents", "--all"}), "offline since "); }));
  const auto sent = box.run({"send", "Bob", "hello"});
  EXPECT_TRUE(has(sent.err, kNotConnected)) << sent.err;
  const auto late = box.run({"send", "Bob", "hello", "--wait", "--timeout", "100ms"});
  EXPECT_TRUE(has(late.err, kNotConnected)) << late.err;
  Terminal live{box, {"send", "Bob", "hello", "--wait"}, 200};
  EXPECT_TRUE(live.shows(kNotConnected)) << "in the status line: " << live.screen();
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
  const auto start_time = std::chrono::steady_clock::now();
  const auto seen = box.run({"send", "Bob", "three", "--wait", "seen", "--timeout", "60s"});
  EXPECT_LT(std::chrono::steady_clock::now() - start_time, 20s);
  EXPECT_EQ(seen.code, 5) << "this agent has no transcript";
  EXPECT_TRUE(has(seen.err, "the session of Bob cannot prove that a message was seen, only submitted")) << seen.err;
  EXPECT_TRUE(has(seen.err, "wait with --wait delivered")) << seen.err;
  EXPECT_TRUE(until([&] { return submit_count("Bob", "three") == 1; })) << "the message is sent";
  auto carol = listen("Carol");
  const auto listening = box.run({"send", "Carol", "four", "--wait", "seen", "--timeout", "60s"});
  EXPECT_EQ(listening.code, 5);
  EXPECT_TRUE(has(listening.err, "only accepted")) << listening.err;
  EXPECT_TRUE(carol->prints("four"));
}

TEST_F(Deliveries, TimeoutReportsProgress) {
  start_with_draft("Bob");
  const auto late = box.run({"send", "Bob", "these are words", "--wait", "--timeout", "2s"});
  EXPECT_EQ(late.code, 4);
  EXPECT_TRUE(has(late.err, "not delivered within 2 s: ")) << late.err;
  EXPECT_TRUE(has(late.err, "the composer holds a draft")) << late.err;
}

TEST_F(Deliveries, InterruptReportsThatMessageIsStored) {
  auto carol = listen("Carol");
  carol->signal(SIGTERM);
  carol->finish();
  const auto send_command = box.start({"send", "Carol", "for later", "--wait"});
  ASSERT_TRUE(send_command->prints_error("Carol is offline since"));
  send_command->signal(SIGINT);
  const auto interrupted = send_command->finish();
  EXPECT_EQ(interrupted.code, 128 + SIGINT);
  EXPECT_TRUE(has(interrupted.err, "interrupted: stored, to be delivered later: Carol is offline since"))
      << interrupted.err;
  EXPECT_TRUE(has(interrupted.err, "agent-relay trace ")) << interrupted.err;
  Terminal sender{box, {"send", "Carol", "for later too", "--ask"}, 200};
  ASSERT_TRUE(sender.shows("Carol is offline since"));
  sender.type("\x03");
  EXPECT_EQ(sender.finish(), 128 + SIGINT);
  EXPECT_TRUE(sender.shows("interrupted: stored, to be delivered later")) << sender.screen();
}

TEST_F(Deliveries, TerminalShowsProgress) {
  start("Bob", {"--status"});
  Terminal sender{box, {"send", "Bob", "hello", "--wait"}};
  EXPECT_TRUE(sender.shows("Bob: stored")) << sender.screen();
  EXPECT_TRUE(sender.shows("delivered to Bob  ")) << sender.screen();
  EXPECT_EQ(sender.finish(), 0);
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
  EXPECT_TRUE(bob->prints("after it"));
  EXPECT_EQ(bob->out().find("only once"), bob->out().rfind("only once"));
  const auto other = box.run({"send", "Bob", "another text", "--id", "backup-2026-03-01"});
  EXPECT_EQ(other.code, 5);
  EXPECT_TRUE(has(other.err, "belongs to another message, " + *string_member(first, "id"))) << other.err;
}

TEST_F(Deliveries, DuplicateWaitsForResultOfFirst) {
  join("Bob");
  box.ok({"send", "Bob", "when you are back", "--id", "nightly-17"});
  const auto duplicate = box.start({"send", "Bob", "when you are back", "--id", "nightly-17", "--wait"});
  EXPECT_TRUE(duplicate->prints_error("queued (Bob is offline since ")) << duplicate->err();
  auto bob = listen("Bob");
  const auto ran = duplicate->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "delivered to Bob  ")) << ran.out;
}

TEST_F(Deliveries, DuplicateQuestionGetsEarlierAnswer) {
  join("Bob");
  const std::vector<std::string> words{"send",     "Bob",   "which color?", "--from",
                                       "Alice",    "--ask", "--id",         "color-question",
                                       "--thread", "paint", "--timeout",    "300ms"};
  EXPECT_EQ(box.run(words).code, 4);
  auto longer_wait = words;
  longer_wait.back() = "20s";
  const auto again = box.start(longer_wait);
  EXPECT_TRUE(again->prints_error("queued (Bob is offline since ")) << again->err();
  box.ok({"send", "Alice", "blue", "--from", "Bob", "--thread", "paint"});
  EXPECT_EQ(again->finish().out, "blue\n");
  EXPECT_EQ(box.ok(words), "blue\n") << "at once, from the stored answer";
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
    auto with_wait = words;
    with_wait.insert(with_wait.end(), {"--wait", "--timeout", "1s"});
    const auto timed_out = box.run(with_wait);
    EXPECT_EQ(timed_out.code, 4) << timed_out.err;
    EXPECT_TRUE(has(timed_out.err, "agent-relay trace " + *own)) << timed_out.err;
  }
}

// ---------------------------------------------------------------- holding

TEST_F(Deliveries, PausedAgentGetsMessagesAfterUnpause) {
  start("Bob", {"--status"});
  EXPECT_TRUE(has(box.ok({"pause", "Bob", "--reason", "lunch"}), "until: agent-relay unpause Bob"));
  const auto first = send("Bob", "the first"), second = send("Bob", "the second");
  EXPECT_TRUE(trace_shows(first, "pending: ")) << trace_text(first);
  EXPECT_TRUE(trace_shows(first, "paused")) << trace_text(first);
  EXPECT_TRUE(has(box.ok({"status"}), "paused")) << box.ok({"status"});
  EXPECT_TRUE(has(box.ok({"agents"}), "paused")) << box.ok({"agents"});
  EXPECT_TRUE(has(box.ok({"explain", "Bob"}), "lunch; resume with: agent-relay unpause Bob"));
  EXPECT_EQ(integer_member(box.ok_json({"explain", "Bob"}), "atDaemon"), 2);
  EXPECT_TRUE(has(box.ok({"explain", "Bob"}),
                  "2 messages held by the daemon while it is paused; resume with: agent-relay unpause Bob"))
      << box.ok({"explain", "Bob"});
  read_terminals_for(1s);
  EXPECT_TRUE(submitted("Bob").empty());
  EXPECT_TRUE(has(box.run({"flush", "Bob"}).err, "agent-relay unpause Bob")) << "a flush does not end a pause";
  EXPECT_TRUE(has(box.run({"pause", "Bob", "--reason", "lunch"}).err, "Bob is already paused"));
  EXPECT_EQ(box.ok({"unpause", "Bob"}), "Bob receives messages again\n");
  EXPECT_TRUE(has(box.run({"unpause", "Bob"}).err, "Bob is not paused"));
  EXPECT_TRUE(reaches_state(first, "delivered")) << trace_text(first);
  EXPECT_TRUE(reaches_state(second, "delivered")) << trace_text(second);
  EXPECT_EQ(submitted("Bob"), (std::vector{delivered_line(first, "the first"), delivered_line(second, "the second")}));
  EXPECT_FALSE(has(box.ok({"status"}), "paused"));
  const auto unknown = box.run({"pause", "Bbo"});
  EXPECT_EQ(unknown.code, 5);
  EXPECT_TRUE(has(unknown.err, "did you mean Bob? agent-relay agents --all lists all agents")) << unknown.err;
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
  EXPECT_TRUE(trace_shows(id, "paused")) << trace_text(id);
  box.ok({"unpause", "Bob"});
  EXPECT_TRUE(bob->prints("not yet"));
}

TEST_F(Deliveries, ManualMessageWaitsForFlush) {
  start("Bob", {"--status"});
  const auto id = send("Bob", "when you like", {"--mode", "manual"});
  const auto next = send("Bob", "the next");
  EXPECT_TRUE(reaches_state(next, "delivered")) << "a held lane blocks no other";
  EXPECT_FALSE(has(trace_text(id), "delivered")) << trace_text(id);
  EXPECT_EQ(submit_count("Bob", "when you like"), 0u);
  EXPECT_EQ(box.ok({"flush", "Bob"}), "released 1 message for Bob\n");
  EXPECT_TRUE(reaches_state(id, "delivered")) << trace_text(id);
  EXPECT_EQ(submit_count("Bob", "when you like"), 1u);
  EXPECT_EQ(integer_member(box.ok_json({"flush", "Bob"}), "count"), 0);
}

TEST_F(Deliveries, EndOfHoldPolicyReportsHeldMessages) {
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
  EXPECT_TRUE(bob->prints("from Carol"));
  EXPECT_TRUE(trace_shows(held, "pending: ")) << trace_text(held);
  EXPECT_EQ(bob->out().find("from Alice"), std::string::npos);
  EXPECT_EQ(box.ok({"flush", "Bob"}), "released 1 message for Bob\n");
  EXPECT_TRUE(bob->prints("from Alice"));
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
  ASSERT_TRUE(has(bob.call_text("relay_whoami"), "You are Bob"));
  const auto first = send("Bob", "never mind");
  ASSERT_TRUE(reaches_state(first, "accepted"));
  EXPECT_EQ(box.ok({"cancel", first}), first + " cancelled\n");
  EXPECT_EQ(bob.call_text("relay_inbox"), "no pending messages");

  const auto second = send("Bob", "too slow");
  ASSERT_TRUE(reaches_state(second, "accepted"));
  bob.server().signal(SIGSTOP);
  const auto requested = box.run({"cancel", second, "--json"});
  bob.server().signal(SIGCONT);
  EXPECT_EQ(requested.code, 4);
  const auto result = parse_json_object(requested.out).value();
  EXPECT_TRUE(array_member(result, "cancelled")->empty());
  EXPECT_EQ(array_member(result, "requested")->size(), 1U);
  EXPECT_TRUE(has(requested.err, "cancellation requested; no response yet; see: agent-relay trace " + second))
      << requested.err;
  EXPECT_TRUE(reaches_state(second, "cancelled")) << "the session responds later";
}

TEST_F(Deliveries, PendingMessageCanBeCancelled) {
  join("Bob");
  const auto id = send("Bob", "never mind");
  EXPECT_EQ(box.ok({"cancel", id, "--reason", "done already"}), id + " cancelled\n");
  EXPECT_TRUE(trace_shows(id, "╰─ cancelled by the user: done already")) << trace_text(id);
  const auto again = box.run({"cancel", id});
  EXPECT_EQ(again.code, 1);
  EXPECT_TRUE(has(again.err, "no delivery of " + id + " is pending")) << again.err;
  auto bob = listen("Bob");
  box.ok({"send", "Bob", "after it", "--wait"});
  EXPECT_TRUE(bob->prints("after it"));
  EXPECT_EQ(bob->out().find("never mind"), std::string::npos);
  EXPECT_EQ(box.run({"cancel", "zzzzzzzz"}).code, 1);
}

TEST_F(Deliveries, LateCancelIsReported) {
  auto bob = listen("Bob");
  const auto id = string_member(box.ok_json({"send", "Bob", "delivered already", "--wait"}), "id").value_or("");
  const auto trace = box.ok_json({"trace", id});
  const auto delivery = string_member(array_member(trace, "deliveries")->at(0).get_object(), "deliveryId").value_or("");
  ASSERT_TRUE(delivery.starts_with("d-"));
  const auto late = box.run({"cancel", delivery, "--json"});
  EXPECT_EQ(late.code, 1) << late.err;
  EXPECT_TRUE(has(late.err, "too late: delivered to Bob at ")) << late.err;
  const auto result = parse_json_object(late.out).value();
  ASSERT_NE(array_member(result, "tooLate"), nullptr) << late.out;
  ASSERT_EQ(array_member(result, "tooLate")->size(), 1U) << late.out;
  EXPECT_EQ(string_member(array_member(result, "tooLate")->at(0).get_object(), "deliveryId"), delivery);
}

TEST_F(Deliveries, ExpiredMessageNamesItsLimit) {
  join("Bob");
  const auto by_deadline = send("Bob", "by deadline", {"--deadline", "300ms"});
  const auto by_ttl = send("Bob", "by ttl", {"--ttl", "300ms"});
  ASSERT_TRUE(reaches_state(by_deadline, "expired")) << trace_text(by_deadline);
  ASSERT_TRUE(reaches_state(by_ttl, "expired")) << trace_text(by_ttl);
  EXPECT_TRUE(has(trace_text(by_deadline), "its deadline passed")) << trace_text(by_deadline);
  EXPECT_TRUE(has(trace_text(by_ttl), "its ttl ran out")) << trace_text(by_ttl);
}

TEST_F(Deliveries, ExpiredMessageIsListedAndRedelivered) {
  join("Bob");
  const auto id = send("Bob", "expires soon", {"--deadline", "500ms"});
  ASSERT_TRUE(reaches_state(id, "expired")) << trace_text(id);
  EXPECT_TRUE(has(trace_text(id), "; redeliver it with")) << trace_text(id);
  const auto dead = box.ok({"dead"});
  EXPECT_TRUE(has(dead, "expired")) << dead;
  EXPECT_TRUE(has(dead, "tester → Bob  expires soon")) << dead;
  EXPECT_TRUE(has(box.ok({"status"}), "1 message not delivered; see: agent-relay dead")) << box.ok({"status"});
  EXPECT_EQ(array_member(box.ok_json({"dead", "Bob"}), "deliveries")->size(), 1U);
  EXPECT_EQ(box.run({"dead", "Bbo"}).code, 1);
  auto bob = listen("Bob");
  EXPECT_TRUE(has(box.ok({"dead", "redeliver", id}), "redelivered as d-"));
  EXPECT_TRUE(bob->prints("expires soon"));
  EXPECT_TRUE(array_member(box.ok_json({"dead"}), "deliveries")->empty());
  EXPECT_TRUE(has(trace_text(id), "redelivered as d-")) << trace_text(id);
  EXPECT_FALSE(has(box.ok({"status"}), "not delivered"));
}

TEST_F(Deliveries, RedeliverAllSkipsDeliveriesInDoubt) {
  script(R"({"moments": [{"when": "before_paste", "dialog": {"title": "Update now?"}}]})");
  auto& bob = start("Bob");
  const auto doubtful = send("Bob", "these are words");
  ASSERT_TRUE(until([&] { return count("Bob", "swallowed") == 1; }));
  ASSERT_TRUE(bob.shows("Update now?"));  // a key pressed earlier would not reach the dialog
  bob.type("\x1b");
  ASSERT_TRUE(reaches_state(doubtful, "in_doubt")) << trace_text(doubtful);
  EXPECT_TRUE(has(trace_text(doubtful), "in doubt: ")) << trace_text(doubtful);
  join("Carol");
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(reaches_state(send("Carol", "late", {"--ttl", "1ms"}), "expired"));
  EXPECT_EQ(array_member(box.ok_json({"dead"}), "deliveries")->size(), 4U);
  EXPECT_EQ(integer_member(box.ok_json({"dead", "redeliver", "--all"}), "count"), 3);
  EXPECT_EQ(array_member(box.ok_json({"dead"}), "deliveries")->size(), 1U);
  EXPECT_EQ(integer_member(box.ok_json({"dead", "redeliver", "--all", "--in-doubt", "Bob"}), "count"), 1);
  EXPECT_TRUE(receives("Bob", "these are words"));
  EXPECT_EQ(box.run({"dead", "redeliver"}).code, 2);
  EXPECT_EQ(box.run({"dead", "redeliver", "d-22222222"}).code, 5);
}

// ---------------------------------------------------------------- order and time limits

TEST_F(Deliveries, UrgentMessageGoesFirst) {
  join("Bob");
  send("Bob", "in its turn");
  send("Bob", "at once", {"--urgent"});
  auto bob = listen("Bob");
  ASSERT_TRUE(bob->prints("in its turn"));
  EXPECT_LT(bob->out().find("at once"), bob->out().find("in its turn"));
}

TEST_F(Deliveries, UrgentMessageGoesFirstAmongUnsettledOnes) {
  auto& bob = start_with_draft("Bob");
  const auto first = send("Bob", "in its turn", {"--deadline", "9999-12-31T00:00:00Z"});
  ASSERT_TRUE(is_pending_because(first, "the composer holds a draft"));
  const auto urgent = send("Bob", "at once", {"--urgent"});
  ASSERT_TRUE(is_pending_because(urgent, "the composer holds a draft")) << "it has passed the first";
  bob.type("ne\r");
  EXPECT_TRUE(reaches_state(first, "delivered"));
  EXPECT_EQ(submitted("Bob"), (std::vector<std::string>{"half a line", delivered_line(urgent, "at once"),
                                                        delivered_line(first, "in its turn")}));
}

TEST_F(Deliveries, InvalidDeadlineIsUsageError) {
  join("Bob");
  for (const auto* deadline : {"soon", "0s", "2001-01-01T00:00:00Z"})
    EXPECT_EQ(box.run({"send", "Bob", "x", "--deadline", deadline}).code, 2) << deadline;
  box.ok({"send", "Bob", "x", "--deadline", "20m"});
}

// ---------------------------------------------------------------- trace

TEST_F(Deliveries, DebugLogHasPendingReason) {
  box.set("AGENT_RELAY_DEBUG", "1");
  box.ok({"down", "--all"});
  box.ok({"up"});
  start_with_draft("Bob");
  box.run({"send", "Bob", "secret words", "--wait", "--timeout", "2s"});
  const auto log = file_contents(box.home() + "/daemon.log");
  EXPECT_TRUE(has(log, "delivery step")) << log;
  EXPECT_TRUE(has(log, "the composer holds a draft")) << log;
  EXPECT_TRUE(has(log, "message routed id=")) << log;
  EXPECT_TRUE(has(log, "delivery changed message=")) << log;
  EXPECT_FALSE(has(log, "secret words"));
}

TEST_F(Deliveries, TraceDrawsTimelineAndOutcome) {
  start("Bob", {"--status"});
  const auto id = *string_member(box.ok_json({"send", "Bob", "hello\nworld", "--wait"}), "id");
  const auto timeline = trace_text(id);
  for (const auto* part :
       {"→ Bob", "  hello …\n", "\nto Bob  d-", "on-idle", "  ●  ", "queued", "proof: stored", "delivered",
        "proof: submitted", "  ╰─ it was submitted to Bob's agent ", "after you sent it"})
    EXPECT_TRUE(has(timeline, part)) << part << " in\n" << timeline;
  box.set("LANG", "C");
  const auto plain = trace_text(id);
  EXPECT_TRUE(has(plain, "  *  ")) << plain;
  EXPECT_EQ(plain.find("●"), std::string::npos);
}

TEST_F(Deliveries, TraceFollowsToFinalState) {
  join("Bob");
  const auto id = send("Bob", "hello");
  const auto follower = box.start({"trace", id, "--follow"});
  EXPECT_TRUE(follower->prints("pending: Bob is offline since "));
  auto bob = listen("Bob");
  const auto ran = follower->finish();
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(has(ran.out, "Bob received it ")) << ran.out;
}

}  // namespace
}  // namespace relay::cli_tests
