// What a session says about a delivery: a line of the ledger, a receipt to whoever asked, an event to whoever watches.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Receipts : ::testing::Test {
  BrokerFixture world{no_heartbeat()};
  ConnectionId alice = join_sender(world);

  std::string send_to(ConnectionId bob, const std::string& more = {}) {
    world.send(alice, "message-1", "Bob", "hi", more);
    world.received(alice);
    return given(world, bob).at(0);
  }
  Texts lines() { return lines_of(ledger(world, "message-1")); }
};

TEST_F(Receipts, ReportEveryStepWhenRequested) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.commit_modes();
  world.receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(world.commit_modes(), std::vector{records::CommitMode::Immediate}) << "a receipt waits for it";
  world.receipt(bob, id, R"("status":"accepted","proof":"written","via":"pty")");
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted","via":"pty","evidence":"status working")");
  world.receipt(bob, id, R"("status":"delivered","proof":"seen","via":"hook","evidence":"record 7")");
  const auto told = world.received(alice, "RECEIPT");
  Texts words;
  for (const auto& frame : told) words.push_back(receipt_word(frame));
  EXPECT_EQ(words, (Texts{"accepted/accepted", "accepted/written", "delivered/submitted", "delivered/seen"}));
  const auto& last = payload(told.back());
  EXPECT_EQ(text(last, "messageId"), "message-1");
  EXPECT_EQ(text(last, "deliveryId"), id);
  EXPECT_EQ(text(last, "agent"), "Bob");
  EXPECT_EQ(text(last, "via"), "hook");
  EXPECT_EQ(text(last, "evidence"), "record 7");
  EXPECT_EQ(number(last, "at"), world.now().wall);
  EXPECT_EQ(ledger(world, "message-1").history.back().evidence, "record 7");
}

TEST_F(Receipts, ReportOnlyTheEndByDefault) {
  alice = world.join("Alice", R"("capabilities":{"send_ack":true,"receipts":true})");
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"accepted")");
  world.receipt(bob, id, R"("status":"deferred","reason":"somebody types")");
  EXPECT_TRUE(receipts(world, alice).empty());
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  world.receipt(bob, id, R"("status":"delivered","proof":"seen")");
  EXPECT_EQ(receipts(world, alice), Texts{"delivered/submitted"});
}

TEST_F(Receipts, StepsCanBeAskedForByOneMessage) {
  alice = world.join_ours("Alice");
  const auto bob = join_host(world);
  const auto id = send_to(bob, R"("payload_meta":{"receipts":"steps"})");
  world.receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(receipts(world, alice), Texts{"accepted/accepted"});
  world.send(alice, "message-2", "Bob", "hi");
  world.receipt(bob, given(world, bob).at(0), R"("status":"accepted")");
  EXPECT_TRUE(receipts(world, alice).empty());
}

TEST_F(Receipts, AStrongerProofIsRecordedAndAWeakerIsNot) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"delivered","proof":"seen")");
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  world.receipt(bob, id, R"("status":"failed")");
  EXPECT_EQ(lines(), (Texts{"queued", "delivered/seen"}));
  EXPECT_EQ(receipts(world, alice), Texts{"delivered/seen"});
}

TEST_F(Receipts, ACallbackSessionMaySayLaterThatItWasSeen) {
  const auto bob = join_callback(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"delivered","via":"callback")");
  world.receipt(bob, id, R"("status":"delivered","via":"callback")");
  world.receipt(bob, id, R"("status":"delivered","proof":"seen")");
  EXPECT_EQ(lines(), (Texts{"queued", "delivered/accepted", "delivered/seen"}));
}

TEST_F(Receipts, DeliveredWithoutProofIsOnlyAcceptedFromAQueue) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"delivered")");
  world.receipt(bob, id, R"("status":"delivered","proof":"written")");
  EXPECT_EQ(lines(), (Texts{"queued", "accepted/accepted", "accepted/written"}));
  EXPECT_EQ(receipts(world, alice), (Texts{"accepted/accepted", "accepted/written"}));
}

TEST_F(Receipts, RepeatedReceiptsAddNoEntry) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  for (int i = 0; i < 3; ++i) world.receipt(bob, id, R"("status":"accepted","proof":"written")");
  world.receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(lines(), (Texts{"queued", "accepted/written"}));
}

TEST_F(Receipts, IgnoreReceiptsForDeliveriesOfOthers) {
  const auto bob = join_host(world);
  const auto mallory = join_host(world, "Mallory");
  const auto id = send_to(bob);
  world.receipt(mallory, id, R"("status":"delivered","proof":"seen")");
  world.request(mallory, "ACK", format(R"({{"ack_id":"{}"}})", id));
  EXPECT_EQ(lines(), Texts{"queued"});
}

TEST_F(Receipts, AreSentAfterTheCommitOfTheEntry) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.hold_commits();
  world.receipt(bob, id, R"("status":"accepted")");
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  EXPECT_TRUE(receipts(world, alice).empty());
  EXPECT_EQ(lines(), Texts{"queued"});
  world.release_commits();
  EXPECT_EQ(receipts(world, alice), (Texts{"accepted/accepted", "delivered/submitted"}));
}

TEST_F(Receipts, PassReasonAndMetadataOn) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"accepted","metadata":{"pane":3})");
  const auto told = world.received(alice, "RECEIPT").at(0);
  EXPECT_EQ(number(*object_member(payload(told), "metadata"), "pane"), 3);
}

TEST_F(Receipts, TheEarlierOfDeadlineAndTimeToLiveCounts) {
  const auto bob = join_host(world);
  const auto deadline = world.now().wall + 5'000;
  const auto id = send_to(bob, format(R"("payload_meta":{{"ttl_ms":60000,"delivery":{{"deadline":{}}}}})", deadline));
  EXPECT_EQ(ledger(world, "message-1").delivery.expires_at, deadline);
  world.receipt(bob, id, R"("status":"accepted")");
  world.received(alice);
  world.pass(6s);
  const auto told = world.received(alice, "RECEIPT").at(0);
  EXPECT_EQ(receipt_word(told), "failed EXPIRED");
  EXPECT_EQ(text(payload(told), "reason"), "its deadline passed");
  const auto order = world.received(bob, "CANCEL");
  ASSERT_EQ(order.size(), 1u) << "whoever has it must not write it any more";
  EXPECT_EQ(text(payload(order[0]), "deliveryId"), id);
  world.send(alice, "message-2", "Bob", "hi", format(R"("payload_meta":{{"delivery":{{"deadline":{}}}}})", deadline));
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "EXPIRED");
}

TEST_F(Receipts, ExpiryReleasesHeldDelivery) {
  const auto bob = join_host(world);
  const auto id = send_to(bob, R"("payload_meta":{"ttl_ms":2000})");
  for (int failure = 0; failure < 2; ++failure) {
    world.receipt(bob, id, R"("status":"failed","retryable":true)");
    if (failure == 0) world.pass(1s);
  }
  EXPECT_EQ(world.broker().roster().at(1).held, 1u);
  world.pass(5s);
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::Expired);
  EXPECT_EQ(world.broker().roster().at(1).held, 0u);
  EXPECT_EQ(world.broker().roster().at(1).pending, 0u);
}

TEST_F(Receipts, ExpiryWhileWritingLeavesInDoubt) {
  const auto bob = join_host(world);
  const auto id = send_to(bob, R"("payload_meta":{"ttl_ms":2000})");
  world.receipt(bob, id, R"("status":"accepted","proof":"written")");
  world.pass(5s);
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::InDoubt);
  EXPECT_EQ(receipts(world, alice).back(), "in_doubt EXPIRED");
}

TEST_F(Receipts, ReturnedInDoubtDeliveryFails) {
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"in_doubt","reason":"nothing shows it")");
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::InDoubt);
  world.receipt(bob, id, R"("status":"failed","retryable":false,"reason":"it gave it back unread")");
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::Failed);
  EXPECT_EQ(ledger(world, "message-1").history.back().reason, "it gave it back unread");
  world.receipt(bob, id, R"("status":"in_doubt")");
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::Failed);
}

TEST_F(Receipts, AWatcherSeesEveryLineInOrder) {
  const auto watcher = world.join_user();
  world.request(watcher, "EVENTS_SUBSCRIBE", R"({"types":["delivery"]})");
  const auto bob = join_host(world);
  const auto id = send_to(bob);
  world.receipt(bob, id, R"("status":"accepted")");
  world.receipt(bob, id, R"("status":"failed","retryable":true,"reason":"no luck")");
  world.pass(1s);
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted","via":"pty","evidence":"status working")");
  Texts types;
  Frame put_off, last;
  for (const auto& frame : world.received(watcher, "AGENT_EVENT")) {
    last = event_in(frame);
    types.push_back(text(last, "type"));
    if (types.back() == "delivery.deferred") put_off = last;
    EXPECT_EQ(text(last, "deliveryId"), id);
  }
  EXPECT_EQ(types, (Texts{"delivery.created", "delivery.accepted", "delivery.deferred", "delivery.queued",
                          "delivery.delivered"}));
  EXPECT_EQ(bool_member(put_off, "retryable"), true);
  EXPECT_EQ(text(put_off, "reason"), "try 1 of 8 failed: no luck");
  EXPECT_GT(number(put_off, "availableAt"), 0);
  EXPECT_EQ(text(last, "proof"), "submitted");
  EXPECT_EQ(text(last, "evidence"), "status working");
  EXPECT_EQ(text(*object_member(last, "agent"), "name"), "Bob");
  EXPECT_EQ(text(*object_member(last, "message"), "text"), "hi");
}

TEST_F(Receipts, AWatcherSeesWhatEndsWithoutADelivery) {
  const auto watcher = world.join_user(), person = world.join_user();
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "one");
  world.send(alice, "message-2", "Bob", "two");
  world.send(alice, "message-3", "Bob", "three", R"("payload_meta":{"ttl_ms":1000})");
  world.request(watcher, "EVENTS_SUBSCRIBE", R"({"types":["delivery"]})");
  const auto ids = given(world, bob);
  world.receipt(bob, ids.at(0), R"("status":"failed","reason":"no way")");
  world.receipt(bob, ids.at(1), R"("status":"in_doubt")");
  world.pass(2s);
  world.control(person, format(R"("action":"redeliver","deliveryId":"{}")", ids.at(0)));
  Texts events;
  for (const auto& frame : world.received(watcher, "AGENT_EVENT"))
    events.push_back(text(event_in(frame), "type") +
                     (text(event_in(frame), "deliveryId") == ids.at(0) ? " first" : ""));
  EXPECT_EQ(events, (Texts{"delivery.failed first", "delivery.in_doubt", "delivery.expired", "delivery.created",
                           "delivery.cancelled first"}));
}

}  // namespace
}  // namespace relay::broker
