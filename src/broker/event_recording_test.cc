// AGENT_EVENT: which events are stored, under which name, how often; event queries and subscriptions.
#include <gtest/gtest.h>

#include "broker/testing/event_fixture.h"
#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct EventRecording : EventFixture {};

TEST_F(EventRecording, DeferredDeliveryEventHasTime) {
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "m1", "Bob", "hello");
  const auto delivery = string_field(fixture.first_frame(bob, "DELIVER"), "id");
  fixture.send_receipt(bob, delivery, R"("status":"deferred","reason":"a dialog is open")");
  const auto deferred = last("delivery.deferred");
  EXPECT_EQ(string_field(deferred, "reason"), "a dialog is open");
  EXPECT_GT(integer_field(deferred, "availableAt"), 0);
  EXPECT_EQ(integer_field(deferred, "availableAt"), integer_field(deferred, "at"));
}

TEST_F(EventRecording, ChangedStateOfAgentIsEvent) {
  const auto bob = fixture.join_with_acks("Bob");
  for (const auto* state : {"active", "active", "idle"}) fixture.report_state(bob, state);
  std::vector<std::string> states;
  for (const auto& event : log("agent.status")) states.push_back(string_field(event, "state"));
  EXPECT_EQ(states, (Strings{"active", "idle"}));
}

TEST_F(EventRecording, EventOfSessionIsStoredUnderItsNameAndAcknowledged) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(bob);
  fixture.send_event(bob, "e1-1", kItem);
  EXPECT_EQ(responses(bob), Strings{"ACK e1-1"});
  const auto event = last("item.started");
  EXPECT_EQ(string_field(event, "itemId"), "i1");
  EXPECT_EQ(string_field(event, "_agentName"), "Bob");
  EXPECT_EQ(string_field(event, "_sessionId"), string_field(last("session.started"), "_sessionId"));
}

TEST_F(EventRecording, RepeatedEventIsStoredOnceAcrossDaemons) {
  auto bob = fixture.join_with_acks("Bob");
  fixture.send_event(bob, "e1-1", kItem);
  fixture.send_event(bob, "e1-1", kItem);
  fixture.restart();
  bob = fixture.join_with_acks("Bob");
  fixture.drop_received(bob);
  fixture.send_event(bob, "e1-1", kItem);
  fixture.send_event(bob, "e1-2", kItem);
  EXPECT_EQ(responses(bob), (Strings{"ACK e1-1", "ACK e1-2"}));
  EXPECT_EQ(log("item.started").size(), 2u);
}

TEST_F(EventRecording, InvalidEventIsRefusedAndNextOneAccepted) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(bob);
  fixture.send_event(bob, "e1-1", R"({"type":"message.exchanged","from":"x","to":"y","body":"","kind":"message"})");
  fixture.send_event(bob, "e1-2", R"({"type":"item.started","itemId":"i"})");
  fixture.send_event(bob, "e1-3", R"({"type":"no.such"})");
  fixture.send_event(bob, "e1-3", R"({"type":"no.such"})");
  fixture.send_event(bob, "no number", kItem);
  fixture.send_event(bob, "e1-4", kItem);
  EXPECT_EQ(responses(bob), (Strings{"NACK e1-1 BAD_REQUEST", "NACK e1-2 BAD_REQUEST", "NACK e1-3 BAD_REQUEST",
                                     "NACK e1-3 BAD_REQUEST", "NACK no number BAD_REQUEST", "ACK e1-4"}));
  EXPECT_EQ(log("item").size(), 1u);
}

TEST_F(EventRecording, UnstoredEventsAreRequestedAgainInOrder) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(bob);
  fixture.fail_commits();
  fixture.send_event(bob, "e1-1", kItem);
  fixture.send_event(bob, "e1-2", kItem);
  fixture.accept_commits();
  EXPECT_EQ(responses(bob), (Strings{"NACK e1-1 STORAGE", "NACK e1-2 BUSY"}));
  fixture.advance(5s);
  fixture.send_event(bob, "e1-2", kItem);
  fixture.send_event(bob, "e1-1", kItem);
  fixture.send_event(bob, "e1-2", kItem);
  EXPECT_EQ(responses(bob), (Strings{"NACK e1-2 BUSY", "ACK e1-1", "ACK e1-2"}));
  EXPECT_EQ(log("item.started").size(), 2u);
}

TEST_F(EventRecording, StoredEventSurvivesRepetitionWhileStoreFails) {
  auto bob = fixture.join_with_acks("Bob");
  for (int n = 1; n <= 3; ++n) fixture.send_event(bob, format("e1-{}", n), kItem);
  fixture.drop_received(bob);
  fixture.fail_commits();
  fixture.report_state(bob, "active");  // a change that must be stored
  fixture.send_event(bob, "e1-1", kItem);
  EXPECT_EQ(responses(bob), Strings{"NACK e1-1 STORAGE"});
  fixture.accept_commits();
  fixture.advance(5s);
  for (int n = 1; n <= 4; ++n) fixture.send_event(bob, format("e1-{}", n), kItem);
  EXPECT_EQ(log("item.started").size(), 4u);
}

TEST_F(EventRecording, EventsOfConnectionHaveOneEpoch) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(bob);
  fixture.send_event(bob, "e1-7", kItem);
  fixture.send_event(bob, "e2-1", kItem);
  EXPECT_EQ(responses(bob), (Strings{"ACK e1-7", "NACK e2-1 BAD_REQUEST"}));
}

TEST_F(EventRecording, OversizedEventIsRefused) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(bob);
  const std::string large(600'000, 'x'), deep(58, '[');
  fixture.send_event(
      bob, "e1-1",
      format(R"({{"type":"item.started","itemId":"i","itemType":"plan","startedAt":1,"metadata":{{"a":"{}"}}}})",
             large));
  fixture.send_event(
      bob, "e1-2",
      format(R"({{"type":"item.started","itemId":"i","itemType":"plan","startedAt":1,"metadata":{{"a":{}{}}}}})", deep,
             std::string(58, ']')));
  EXPECT_EQ(responses(bob), (Strings{"NACK e1-1 BAD_REQUEST", "NACK e1-2 BAD_REQUEST"}));
}

TEST_F(EventRecording, ReconnectedAgentIsNotOffline) {
  auto bob = fixture.join_with_acks("Bob");
  const auto token = token_of(fixture, bob);
  fixture.report_state(bob, "idle");
  fixture.disconnect(bob);
  EXPECT_EQ(string_field(last("agent.status"), "state"), "offline");
  bob = fixture.join_with_acks("Bob", with_token(token));
  EXPECT_EQ(string_field(last("agent.status"), "state"), "idle");
}

TEST_F(EventRecording, TokensAreSummedPerThread) {
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  fixture.send_payload(alice, "m1", "Bob", R"("body":"x","thread":"t-9")");
  for (const auto& frame : fixture.received(bob, "DELIVER")) fixture.ack(bob, frame);
  fixture.send_event(
      bob, "e1-1",
      R"({"type":"tokens.used","agentName":"Mallory","model":"m","inputTokens":5,"outputTokens":2,"requestId":"r"})");
  fixture.send_event(
      bob, "e1-2",
      R"({"type":"tokens.used","agentName":"Bob","model":"m","inputTokens":9,"outputTokens":3,"requestId":"r"})");
  const auto sums = fixture.store().usage({}).value();
  ASSERT_EQ(sums.size(), 1u);
  EXPECT_EQ(sums[0].agent, AgentName{"Bob"}) << "usage under another name is not counted";
  EXPECT_EQ(sums[0].input, 9);
  EXPECT_EQ(sums[0].thread, "t-9");
}

TEST_F(EventRecording, SessionQueryCountsWork) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send_event(bob, "e1-1", R"({"type":"item.completed","itemId":"i","completedAt":1,"duration":1})");
  fixture.send_event(bob, "e1-2", R"({"type":"command.executed","command":"ls","exitCode":0,"duration":1})");
  fixture.send_event(bob, "e1-3", R"({"type":"file.operation","operation":"edit","filePath":"a.cc"})");
  fixture.send_event(bob, "e1-4", R"({"type":"file.operation","operation":"read","filePath":"b.cc"})");
  fixture.request(bob, "BYE");
  const auto summary = *object_member(last("session.ended"), "summary");
  EXPECT_EQ(integer_field(summary, "itemCount"), 1);
  EXPECT_EQ(integer_field(summary, "commandsRun"), 1);
  EXPECT_EQ(json::serialize(summary.at("filesModified")), R"(["a.cc"])");
}

TEST_F(EventRecording, SubscriberReceivesOnlyRequestedEvents) {
  const auto subscriber = fixture.join_user();
  fixture.request(subscriber, "EVENTS_SUBSCRIBE", R"({"types":["item"],"agents":["Bob"]})");
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  fixture.send_event(alice, "e1-1", kItem);
  fixture.send_event(bob, "e1-1", kItem);
  fixture.send_event(bob, "e1-2", R"({"type":"command.executed","command":"ls","exitCode":0,"duration":1})");
  const auto events = fixture.received(subscriber, "AGENT_EVENT");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(string_field(event_of(events[0]), "_agentName"), "Bob");
}

TEST_F(EventRecording, ReplacedSubscriptionSendsNoMoreQueries) {
  const auto bob = fixture.join_with_acks("Bob");
  for (int n = 1; n <= 5; ++n) fixture.send_event(bob, format("e1-{}", n), kItem);
  const auto subscriber = fixture.join_user();
  fixture.drop_received(subscriber);
  fixture.hold_commits();
  for (int n = 0; n < 50; ++n) fixture.request(subscriber, "EVENTS_SUBSCRIBE", R"({"types":["item"],"since":0})");
  EXPECT_LE(fixture.pending_store_requests(), 2u);
  fixture.release_commits();
  EXPECT_EQ(fixture.received(subscriber, "AGENT_EVENT").size(), 5u);
}

TEST_F(EventRecording, EventQueryIsPagedAndFiltered) {
  const auto bob = fixture.join_with_acks("Bob");
  for (int n = 1; n <= 5; ++n) fixture.send_event(bob, format("e1-{}", n), kItem);
  const auto query = [&](const std::string& params) {
    fixture.request(bob, "EVENTS_QUERY", params);
    return payload(fixture.first_frame(bob, "EVENTS_RESPONSE"));
  };
  auto page = query(R"({"types":["item"],"limit":2})");
  EXPECT_EQ(array_member(page, "events")->size(), 2u);
  EXPECT_EQ(bool_member(page, "more"), true);
  page = query(format(R"({{"types":["item"],"after":{}}})", integer_field(page, "nextAfter")));
  EXPECT_EQ(array_member(page, "events")->size(), 3u);
  EXPECT_EQ(bool_member(page, "more"), false);
  EXPECT_EQ(integer_field(page, "nextAfter"), integer_field(page, "newest"));
  const std::string large(200'000, 'x');
  for (int n = 6; n <= 12; ++n)
    fixture.send_event(
        bob, format("e1-{}", n),
        format(R"({{"type":"item.started","itemId":"i{}","itemType":"plan","startedAt":1,"metadata":{{"a":"{}"}}}})", n,
               large));
  page = query(R"({"newest":true,"limit":100})");
  EXPECT_EQ(string_field(array_member(page, "events")->back().as_object(), "itemId"), "i12")
      << "older events do not fit";
  EXPECT_EQ(bool_member(page, "more"), true);
  auto received = array_member(page, "events")->size();
  for (int pages = 0; pages < 10 && bool_member(page, "more") == true; ++pages) {
    page = query(
        format(R"({{"newest":true,"types":["item"],"limit":100,"before":{}}})", integer_field(page, "nextBefore")));
    received += array_member(page, "events")->size();
  }
  EXPECT_EQ(received, 12u) << "each event once";
}

TEST_F(EventRecording, LoopsAndVotesAreEvents) {
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  for (int n = 0; n < 20; ++n) {
    fixture.send(alice, format("a-message-{}", n), "Bob", "thanks");
    fixture.send(bob, format("b-message-{}", n), "Alice", "thanks");
  }
  EXPECT_FALSE(string_field(last("loop.tripped"), "reason").empty());
  fixture.send(alice, "a-proposal-1", "_consensus", R"(PROPOSE: tabs\nPARTICIPANTS: Bob)");
  const auto id = string_field(last("consensus.proposed"), "proposalId");
  EXPECT_EQ(string_field(last("consensus.proposed"), "title"), "tabs");
  fixture.send(bob, "b-vote-1", "_consensus", format("VOTE {} approve", id));
  EXPECT_EQ(string_field(last("consensus.resolved"), "outcome"), "approved");
  EXPECT_EQ(string_field(*object_member(last("consensus.resolved"), "votes"), "Bob"), "approve");
}

TEST_F(EventRecording, EventNumbersHaveNoGap) {
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  for (int n = 1; n <= 20; ++n) {
    fixture.send_event(alice, format("e1-{}", n), kItem);
    fixture.send(bob, format("message-{}", n), "Alice", "hi");
  }
  std::int64_t before = 0;
  for (const auto& event : log()) EXPECT_EQ(integer_field(event, "_seq"), ++before);
}

}  // namespace
}  // namespace relay::broker
