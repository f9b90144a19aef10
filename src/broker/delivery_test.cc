#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using testing::body;
using testing::BrokerFixture;
using testing::inbox_of;
using testing::payload;
using testing::seq_of;
using testing::text;
using testing::with_token;
using Texts = std::vector<std::string>;

TEST(Broker, ContinuesStreamNumbersAfterRestart) {
  BrokerFixture world;
  auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "a");
  world.send(alice, "2", "Bob", "b");
  auto frames = world.received(bob, "DELIVER");
  EXPECT_EQ(seq_of(frames[0]), 1u);
  EXPECT_EQ(seq_of(frames[1]), 2u);
  world.restart();
  alice = world.join_ours("Alice");
  world.send(alice, "3", "Bob", "c");
  bob = world.join_ours("Bob");
  frames = world.received(bob, "DELIVER");
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(seq_of(frames[2]), 3u);
}

TEST(Broker, ResumesWithTheOldIdsAndNumbersAcrossARestart) {
  BrokerFixture world;
  auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto welcome = world.received(bob, "WELCOME").at(0);
  world.send(alice, "1", "Bob", "a");
  const auto first = world.received(bob, "DELIVER").at(0);
  world.restart();
  bob = world.join_ours("Bob", with_token(text(payload(welcome), "resume_token")));
  const auto frames = world.received(bob);
  EXPECT_EQ(text(payload(frames.at(0)), "session_id"), text(payload(welcome), "session_id"));
  EXPECT_EQ(text(frames.at(1), "id"), text(first, "id"));
  EXPECT_EQ(seq_of(frames.at(1)), seq_of(first));
}

TEST(Broker, RefusesOldResumeTokenAndStartsNewSession) {
  BrokerFixture world;
  const auto bob = world.join("Bob", with_token("no-such-token"));
  const auto frames = world.received(bob);
  EXPECT_EQ(text(payload(frames.at(0)), "code"), "RESUME_TOO_OLD");
  EXPECT_EQ(bool_member(payload(frames.at(0)), "fatal"), false);
  EXPECT_EQ(text(frames.at(1), "type"), "WELCOME");
}

TEST(Broker, KeepsMessagesForOfflineAgents) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  world.leave(bob);
  world.send(alice, "1", "Bob", "while you were out");
  bob = world.join("Bob");
  const auto frame = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(body(frame), "while you were out");
  EXPECT_EQ(bool_member(*object_member(payload(frame), "data"), "_offlineQueued"), true);
}

TEST(Broker, NeverHasMoreInFlightThanTheClientAllows) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join("Bob", R"("capabilities":{"max_inflight":2})");
  for (int i = 0; i < 1500; ++i) world.send(alice, format("{}", i), "Bob", format("{}", i));
  Texts got;
  for (auto frames = world.received(bob, "DELIVER"); !frames.empty(); frames = world.received(bob, "DELIVER")) {
    EXPECT_LE(frames.size(), 2u);
    for (const auto& frame : frames) got.push_back(body(frame));
    for (const auto& frame : frames) world.ack(bob, frame);
  }
  ASSERT_EQ(got.size(), 1500u);
  for (int i = 0; i < 1500; ++i) EXPECT_EQ(got[static_cast<std::size_t>(i)], format("{}", i));
}

TEST(Broker, SendsAgainWhatIsNotAcknowledged) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "hi");
  const auto first = world.received(bob, "DELIVER").at(0);
  world.say(bob, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{}})");
  world.pass(4s);
  EXPECT_TRUE(world.received(bob, "DELIVER").empty());
  world.pass(1500ms);
  const auto again = world.received(bob, "DELIVER");
  ASSERT_EQ(again.size(), 1u);
  EXPECT_EQ(text(again[0], "id"), text(first, "id"));
  world.ack(bob, again[0]);
  world.pass(4s);
  EXPECT_TRUE(world.received(bob, "DELIVER").empty());
}

TEST(Broker, ExpiresMessageAndSendsReceipt) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  const auto bob = world.join("Bob");
  world.leave(bob);
  world.send(alice, "1", "Bob", "soon stale", R"("payload_meta":{"ttl_ms":1000})");
  world.received(alice);
  world.pass(2s);
  const auto receipt = world.received(alice, "RECEIPT").at(0);
  EXPECT_EQ(text(payload(receipt), "status"), "failed");
  EXPECT_EQ(text(payload(receipt), "messageId"), "1");
  const auto back = world.join("Bob");
  EXPECT_TRUE(world.bodies(back).empty());
  EXPECT_EQ(inbox_of(world, "Bob").at(0).state, records::DeliveryState::Expired);
}

TEST(Broker, SendsAReceiptWhenTheRecipientAcknowledges) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "1", "Bob", "hi");
  world.received(alice);
  world.ack(bob, world.received(bob, "DELIVER").at(0));
  const auto receipt = world.received(alice, "RECEIPT").at(0);
  EXPECT_EQ(text(payload(receipt), "status"), "delivered");
  EXPECT_EQ(text(payload(receipt), "agent"), "Bob");
}

TEST(Broker, RefusesOnlySenderToFullBacklog) {
  BrokerFixture world{{.max_backlog = 2}};
  const auto alice = world.join_ours("Alice");
  const auto carol = world.join_ours("Carol");
  const auto published = world.join("Dave");
  world.leave(world.join("Bob"));
  for (int i = 0; i < 3; ++i) world.send(alice, format("{}", i), "Bob", "x");
  const auto frames = world.received(alice);
  EXPECT_EQ(text(frames.at(frames.size() - 2), "type"), "BUSY");
  EXPECT_EQ(text(payload(frames.back()), "code"), "BUSY");
  world.received(published);
  world.send(published, "p", "Bob", "x");
  EXPECT_EQ(text(payload(world.received(published, "ERROR").at(0)), "code"), "BUSY");
  world.received(carol);
  world.send(carol, "c", "Alice", "fine");
  EXPECT_EQ(world.received(carol, "ACK").size(), 1u);
}

TEST(Broker, PausesAFloodingSenderUntilItsBytesAreCommitted) {
  BrokerFixture world{{.max_uncommitted_bytes = 1000}};
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.hold_commits();
  for (int i = 0; i < 20; ++i) world.send(alice, format("{}", i), "Bob", std::string(100, 'x'));
  EXPECT_TRUE(world.paused(alice));
  world.release_commits();
  EXPECT_FALSE(world.paused(alice));
}

TEST(Broker, ResendsNothingWhileReadingIsPaused) {
  BrokerFixture world{{.heartbeat_ms = 1'000'000'000, .max_uncommitted_bytes = 1000}};
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  world.send(alice, "one", "Bob", "hi");
  EXPECT_EQ(world.bodies(bob), Texts{"hi"});
  world.hold_commits();
  for (int i = 0; i < 20; ++i) world.send(bob, format("{}", i), "Alice", std::string(100, 'x'));
  ASSERT_TRUE(world.paused(bob));
  world.pass(1min);
  EXPECT_TRUE(world.bodies(bob).empty());
  world.release_commits();
  ASSERT_FALSE(world.paused(bob));
  world.pass(2min);
  EXPECT_FALSE(world.bodies(bob).empty());
}

TEST(Broker, RefusesOrSlowsFastSenders) {
  BrokerFixture world{{.rate_per_second = 10, .rate_burst = 5}};
  const auto ours = world.join_ours("Alice");
  const auto published = world.join("Dave");
  const auto bob = world.join_ours("Bob");
  for (int i = 0; i < 6; ++i) world.send(ours, format("{}", i), "Bob", "x");
  const auto nack = world.received(ours, "NACK").at(0);
  EXPECT_EQ(text(payload(nack), "code"), "RATE_LIMITED");
  EXPECT_GT(*integer_member(payload(nack), "retry_after_ms"), 0);
  world.received(bob);
  for (int i = 0; i < 6; ++i) world.send(published, format("{}", i), "Bob", "y");
  EXPECT_TRUE(world.paused(published));
  EXPECT_EQ(world.bodies(bob).size(), 6u);  // slowed, not refused
  world.pass(1s);
  EXPECT_FALSE(world.paused(published));
}

TEST(Broker, SendsReceiptWhenRecipientIsRemoved) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  world.leave(world.join_ours("Bob"));
  world.send(alice, "m1", "Bob", "hello");
  world.received(alice);
  world.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  const auto receipts = world.received(alice, "RECEIPT");
  ASSERT_EQ(receipts.size(), 1u);
  EXPECT_EQ(text(payload(receipts[0]), "status"), "failed");
  EXPECT_EQ(text(payload(receipts[0]), "messageId"), "m1");
  EXPECT_EQ(text(payload(receipts[0]), "reason"), "Bob was removed");
}

TEST(Broker, SendsReceiptWithBestProof) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "m1", "Bob", "hello");
  world.received(alice);
  const auto deliver = world.received(bob, "DELIVER").at(0);
  world.request(bob, "RECEIPT",
                format(R"({{"status":"delivered","deliveryId":"{}","proof":"submitted","reason":"the user sent it"}})",
                       text(deliver, "id")));
  const auto receipt = payload(world.received(alice, "RECEIPT").at(0));
  EXPECT_EQ(text(receipt, "proof"), "submitted");
  EXPECT_EQ(text(receipt, "reason"), "the user sent it");
}

TEST(Broker, SendsAgainWhatWasPutOffAndThenRefusedForNow) {
  BrokerFixture world{{.heartbeat_ms = 600'000}};
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  world.send(alice, "m", "Bob", "hi");
  const auto id = text(world.received(bob, "DELIVER").at(0), "id");
  world.request(bob, "RECEIPT", format(R"({{"status":"deferred","deliveryId":"{}"}})", id));
  world.pass(std::chrono::minutes{2});
  EXPECT_TRUE(world.bodies(bob).empty());
  world.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BUSY"}})", id));
  world.pass(std::chrono::seconds{2});
  EXPECT_EQ(world.bodies(bob), (std::vector<std::string>{"hi"}));
}

}  // namespace
}  // namespace relay::broker
