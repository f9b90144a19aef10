// DELIVER: stream numbers, resuming, the window, resending, expiry, and limits of senders.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST(Broker, ContinuesStreamNumbersAfterRestart) {
  BrokerFixture fixture;
  auto alice = fixture.join_with_acks("Alice");
  auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "1", "Bob", "a");
  fixture.send(alice, "2", "Bob", "b");
  auto frames = fixture.received(bob, "DELIVER");
  EXPECT_EQ(seq_of(frames[0]), 1u);
  EXPECT_EQ(seq_of(frames[1]), 2u);
  fixture.restart();
  alice = fixture.join_with_acks("Alice");
  fixture.send(alice, "3", "Bob", "c");
  bob = fixture.join_with_acks("Bob");
  frames = fixture.received(bob, "DELIVER");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(seq_of(frames[2]), 3u);
}

TEST(Broker, ResumesWithSameIdsAndNumbersAcrossRestart) {
  BrokerFixture fixture;
  auto alice = fixture.join_with_acks("Alice");
  auto bob = fixture.join_with_acks("Bob");
  const auto welcome = fixture.first_frame(bob, "WELCOME");
  fixture.send(alice, "1", "Bob", "a");
  const auto first = fixture.first_frame(bob, "DELIVER");
  fixture.restart();
  bob = fixture.join_with_acks("Bob", with_token(string_field(payload(welcome), "resume_token")));
  const auto frames = fixture.received(bob);
  EXPECT_EQ(string_field(payload(frames.at(0)), "session_id"), string_field(payload(welcome), "session_id"));
  EXPECT_EQ(string_field(frames.at(1), "id"), string_field(first, "id"));
  EXPECT_EQ(seq_of(frames.at(1)), seq_of(first));
}

TEST(Broker, RefusesOldResumeTokenAndStartsNewSession) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Bob", with_token("no-such-token"));
  const auto frames = fixture.received(bob);
  EXPECT_EQ(code_of(frames.at(0)), "RESUME_TOO_OLD");
  EXPECT_EQ(bool_member(payload(frames.at(0)), "fatal"), false);
  EXPECT_EQ(type_of(frames.at(1)), "WELCOME");
}

TEST(Broker, KeepsMessagesForOfflineAgents) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  auto bob = fixture.join("Bob");
  fixture.disconnect(bob);
  fixture.send(alice, "1", "Bob", "while you were out");
  bob = fixture.join("Bob");
  const auto frame = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(body(frame), "while you were out");
  EXPECT_EQ(bool_member(*object_member(payload(frame), "data"), "_offlineQueued"), true);
}

TEST(Broker, KeepsInFlightDeliveriesWithinWindow) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join("Bob", R"("capabilities":{"max_inflight":2})");
  for (int i = 0; i < 1500; ++i) fixture.send(alice, format("{}", i), "Bob", format("{}", i));
  Strings bodies;
  for (auto frames = fixture.received(bob, "DELIVER"); !frames.empty(); frames = fixture.received(bob, "DELIVER")) {
    EXPECT_LE(frames.size(), 2u);
    for (const auto& frame : frames) bodies.push_back(body(frame));
    for (const auto& frame : frames) fixture.ack(bob, frame);
  }
  ASSERT_EQ(bodies.size(), 1500u);
  for (int i = 0; i < 1500; ++i) EXPECT_EQ(bodies[static_cast<std::size_t>(i)], format("{}", i));
}

TEST(Broker, ResendsUnacknowledgedDelivery) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "1", "Bob", "hi");
  const auto first = fixture.first_frame(bob, "DELIVER");
  fixture.pong(bob);
  fixture.advance(4s);
  EXPECT_TRUE(fixture.received(bob, "DELIVER").empty());
  fixture.advance(1500ms);
  const auto again = fixture.received(bob, "DELIVER");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(string_field(again[0], "id"), string_field(first, "id"));
  fixture.ack(bob, again[0]);
  fixture.advance(4s);
  EXPECT_TRUE(fixture.received(bob, "DELIVER").empty());
}

TEST(Broker, ExpiresMessageAndSendsReceipt) {
  BrokerFixture fixture;
  const auto alice = join_with_final_receipts(fixture, "Alice");
  const auto bob = fixture.join("Bob");
  fixture.disconnect(bob);
  fixture.send(alice, "1", "Bob", "soon stale", R"("payload_meta":{"ttl_ms":1000})");
  fixture.drop_received(alice);
  fixture.advance(2s);
  const auto receipt = fixture.first_frame(alice, "RECEIPT");
  EXPECT_EQ(string_field(payload(receipt), "status"), "failed");
  EXPECT_EQ(string_field(payload(receipt), "messageId"), "1");
  const auto rejoined = fixture.join("Bob");
  EXPECT_TRUE(fixture.bodies(rejoined).empty());
  EXPECT_EQ(inbox_of(fixture, "Bob").at(0).state, records::DeliveryState::Expired);
}

TEST(Broker, SendsReceiptWhenRecipientAcknowledges) {
  BrokerFixture fixture;
  const auto alice = join_with_final_receipts(fixture, "Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "1", "Bob", "hi");
  fixture.drop_received(alice);
  fixture.ack(bob, fixture.first_frame(bob, "DELIVER"));
  const auto receipt = fixture.first_frame(alice, "RECEIPT");
  EXPECT_EQ(string_field(payload(receipt), "status"), "delivered");
  EXPECT_EQ(string_field(payload(receipt), "agent"), "Bob");
}

TEST(Broker, RefusesOnlySenderToFullBacklog) {
  BrokerFixture fixture{{.max_backlog = 2}};
  const auto alice = fixture.join_with_acks("Alice");
  const auto carol = fixture.join_with_acks("Carol");
  const auto published = fixture.join("Dave");
  fixture.disconnect(fixture.join("Bob"));
  for (int i = 0; i < 3; ++i) fixture.send(alice, format("{}", i), "Bob", "x");
  const auto frames = fixture.received(alice);
  EXPECT_EQ(type_of(frames.at(frames.size() - 2)), "BUSY");
  EXPECT_EQ(code_of(frames.back()), "BUSY");
  fixture.drop_received(published);
  fixture.send(published, "p", "Bob", "x");
  EXPECT_EQ(code_of(fixture.first_frame(published, "ERROR")), "BUSY");
  fixture.drop_received(carol);
  fixture.send(carol, "c", "Alice", "fine");
  EXPECT_EQ(fixture.received(carol, "ACK").size(), 1u);
}

TEST(Broker, PausesSenderUntilItsBytesAreCommitted) {
  BrokerFixture fixture{{.max_uncommitted_bytes = 1000}};
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  fixture.hold_commits();
  for (int i = 0; i < 20; ++i) fixture.send(alice, format("{}", i), "Bob", std::string(100, 'x'));
  EXPECT_TRUE(fixture.paused(alice));
  fixture.release_commits();
  EXPECT_FALSE(fixture.paused(alice));
}

TEST(Broker, ResendsNothingWhileReadingIsPaused) {
  BrokerFixture fixture{{.heartbeat_ms = 1'000'000'000, .max_uncommitted_bytes = 1000}};
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "one", "Bob", "hi");
  EXPECT_EQ(fixture.bodies(bob), Strings{"hi"});
  fixture.hold_commits();
  for (int i = 0; i < 20; ++i) fixture.send(bob, format("{}", i), "Alice", std::string(100, 'x'));
  ASSERT_TRUE(fixture.paused(bob));
  fixture.advance(1min);
  EXPECT_TRUE(fixture.bodies(bob).empty());
  fixture.release_commits();
  ASSERT_FALSE(fixture.paused(bob));
  fixture.advance(2min);
  EXPECT_FALSE(fixture.bodies(bob).empty());
}

TEST(Broker, RefusesOrSlowsFastSenders) {
  BrokerFixture fixture{{.rate_per_second = 10, .rate_burst = 5}};
  const auto alice = fixture.join_with_acks("Alice");
  const auto published = fixture.join("Dave");
  const auto bob = fixture.join_with_acks("Bob");
  for (int i = 0; i < 6; ++i) fixture.send(alice, format("{}", i), "Bob", "x");
  const auto nack = fixture.first_frame(alice, "NACK");
  EXPECT_EQ(code_of(nack), "RATE_LIMITED");
  EXPECT_GT(*integer_member(payload(nack), "retry_after_ms"), 0);
  fixture.drop_received(bob);
  for (int i = 0; i < 6; ++i) fixture.send(published, format("{}", i), "Bob", "y");
  EXPECT_TRUE(fixture.paused(published));
  EXPECT_EQ(fixture.bodies(bob).size(), 6u);  // slowed down, not refused
  fixture.advance(1s);
  EXPECT_FALSE(fixture.paused(published));
}

TEST(Broker, SendsReceiptWhenRecipientIsRemoved) {
  BrokerFixture fixture;
  const auto alice = join_with_final_receipts(fixture, "Alice");
  fixture.disconnect(fixture.join_with_acks("Bob"));
  fixture.send(alice, "m1", "Bob", "hello");
  fixture.drop_received(alice);
  fixture.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  const auto receipts = fixture.received(alice, "RECEIPT");
  ASSERT_EQ(receipts.size(), 1u);
  EXPECT_EQ(string_field(payload(receipts[0]), "status"), "failed");
  EXPECT_EQ(string_field(payload(receipts[0]), "messageId"), "m1");
  EXPECT_EQ(string_field(payload(receipts[0]), "reason"), "Bob was removed");
}

TEST(Broker, SendsReceiptWithBestProof) {
  BrokerFixture fixture;
  const auto alice = join_with_final_receipts(fixture, "Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "m1", "Bob", "hello");
  fixture.drop_received(alice);
  const auto deliver = fixture.first_frame(bob, "DELIVER");
  fixture.send_receipt(bob, string_field(deliver, "id"),
                       R"("status":"delivered","proof":"submitted","reason":"the user sent it")");
  const auto receipt = payload(fixture.first_frame(alice, "RECEIPT"));
  EXPECT_EQ(string_field(receipt, "proof"), "submitted");
  EXPECT_EQ(string_field(receipt, "reason"), "the user sent it");
}

TEST(Broker, ResendsDeferredDeliveryAfterRetryableNack) {
  BrokerFixture fixture{{.heartbeat_ms = 600'000}};
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  fixture.send(alice, "m", "Bob", "hi");
  const auto id = string_field(fixture.first_frame(bob, "DELIVER"), "id");
  fixture.send_receipt(bob, id, R"("status":"deferred")");
  fixture.advance(std::chrono::minutes{2});
  EXPECT_TRUE(fixture.bodies(bob).empty());
  fixture.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BUSY"}})", id));
  fixture.advance(std::chrono::seconds{2});
  EXPECT_EQ(fixture.bodies(bob), (Strings{"hi"}));
}

}  // namespace
}  // namespace relay::broker
