// Receipts of sessions: an entry in the history, a RECEIPT to the sender, an event to subscribers.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct ReceiptsTest : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture);

  std::string send_to(ConnectionId bob, const std::string& more = {}) {
    fixture.send(alice, "message-1", "Bob", "hi", more);
    fixture.drop_received(alice);
    return delivered_ids(fixture, bob).at(0);
  }
  Strings history() { return history_of(trace_entry(fixture, "message-1")); }
};

TEST_F(ReceiptsTest, ReportEveryStepWhenRequested) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.commit_modes();
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(fixture.commit_modes(), std::vector{records::CommitMode::Immediate})
      << "the RECEIPT to the sender waits for it";
  fixture.send_receipt(bob, id, R"("status":"accepted","proof":"written","via":"pty")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted","via":"pty","evidence":"status working")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"seen","via":"hook","evidence":"record 7")");
  const auto frames = fixture.received(alice, "RECEIPT");
  Strings summaries;
  for (const auto& frame : frames) summaries.push_back(receipt_summary(frame));
  EXPECT_EQ(summaries, (Strings{"accepted/accepted", "accepted/written", "delivered/submitted", "delivered/seen"}));
  const auto& last = payload(frames.back());
  EXPECT_EQ(string_field(last, "messageId"), "message-1");
  EXPECT_EQ(string_field(last, "deliveryId"), id);
  EXPECT_EQ(string_field(last, "agent"), "Bob");
  EXPECT_EQ(string_field(last, "via"), "hook");
  EXPECT_EQ(string_field(last, "evidence"), "record 7");
  EXPECT_EQ(integer_field(last, "at"), fixture.now().wall);
  EXPECT_EQ(trace_entry(fixture, "message-1").history.back().evidence, "record 7");
}

TEST_F(ReceiptsTest, ReportOnlyTheFinalState) {
  alice = join_with_final_receipts(fixture, "Alice");
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.send_receipt(bob, id, R"("status":"deferred","reason":"the user is typing")");
  EXPECT_TRUE(receipts(fixture, alice).empty());
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"seen")");
  EXPECT_EQ(receipts(fixture, alice), Strings{"delivered/submitted"});
}

TEST_F(ReceiptsTest, StepsCanBeRequestedForOneMessage) {
  alice = fixture.join_with_acks("Alice");
  const auto bob = join_host(fixture);
  const auto id = send_to(bob, R"("payload_meta":{"receipts":"steps"})");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(receipts(fixture, alice), Strings{"accepted/accepted"});
  fixture.send(alice, "message-2", "Bob", "hi");
  fixture.send_receipt(bob, delivered_ids(fixture, bob).at(0), R"("status":"accepted")");
  EXPECT_TRUE(receipts(fixture, alice).empty());
}

TEST_F(ReceiptsTest, StrongerProofIsRecordedAndWeakerIsNot) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"seen")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  fixture.send_receipt(bob, id, R"("status":"failed")");
  EXPECT_EQ(history(), (Strings{"queued", "delivered/seen"}));
  EXPECT_EQ(receipts(fixture, alice), Strings{"delivered/seen"});
}

TEST_F(ReceiptsTest, CallbackSessionMayReportSeenLater) {
  const auto bob = join_callback(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"delivered","via":"callback")");
  fixture.send_receipt(bob, id, R"("status":"delivered","via":"callback")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"seen")");
  EXPECT_EQ(history(), (Strings{"queued", "delivered/accepted", "delivered/seen"}));
}

TEST_F(ReceiptsTest, DeliveredWithoutProofFromQueueIsOnlyAccepted) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"delivered")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"written")");
  EXPECT_EQ(history(), (Strings{"queued", "accepted/accepted", "accepted/written"}));
  EXPECT_EQ(receipts(fixture, alice), (Strings{"accepted/accepted", "accepted/written"}));
}

TEST_F(ReceiptsTest, RepeatedReceiptsAddNoEntry) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  for (int i = 0; i < 3; ++i) fixture.send_receipt(bob, id, R"("status":"accepted","proof":"written")");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(history(), (Strings{"queued", "accepted/written"}));
}

TEST_F(ReceiptsTest, IgnoreReceiptsForDeliveriesOfOthers) {
  const auto bob = join_host(fixture);
  const auto mallory = join_host(fixture, "Mallory");
  const auto id = send_to(bob);
  fixture.send_receipt(mallory, id, R"("status":"delivered","proof":"seen")");
  fixture.request(mallory, "ACK", format(R"({{"ack_id":"{}"}})", id));
  EXPECT_EQ(history(), Strings{"queued"});
}

TEST_F(ReceiptsTest, AreSentAfterTheCommitOfTheEntry) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.hold_commits();
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  EXPECT_TRUE(receipts(fixture, alice).empty());
  EXPECT_EQ(history(), Strings{"queued"});
  fixture.release_commits();
  EXPECT_EQ(receipts(fixture, alice), (Strings{"accepted/accepted", "delivered/submitted"}));
}

TEST_F(ReceiptsTest, ForwardMetadata) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"accepted","metadata":{"pane":3})");
  const auto receipt = fixture.first_frame(alice, "RECEIPT");
  EXPECT_EQ(integer_field(*object_member(payload(receipt), "metadata"), "pane"), 3);
}

TEST_F(ReceiptsTest, EarlierOfDeadlineAndTimeToLiveCounts) {
  const auto bob = join_host(fixture);
  const auto deadline = fixture.now().wall + 5'000;
  const auto id = send_to(bob, format(R"("payload_meta":{{"ttl_ms":60000,"delivery":{{"deadline":{}}}}})", deadline));
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.expires_at, deadline);
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.drop_received(alice);
  fixture.advance(6s);
  const auto receipt = fixture.first_frame(alice, "RECEIPT");
  EXPECT_EQ(receipt_summary(receipt), "failed EXPIRED");
  EXPECT_EQ(string_field(payload(receipt), "reason"), "its deadline passed");
  const auto cancels = fixture.received(bob, "CANCEL");
  ASSERT_EQ(cancels.size(), 1u) << "its session must not write it any more";
  EXPECT_EQ(string_field(payload(cancels[0]), "deliveryId"), id);
  fixture.send(alice, "message-2", "Bob", "hi", format(R"("payload_meta":{{"delivery":{{"deadline":{}}}}})", deadline));
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "EXPIRED");
}

TEST_F(ReceiptsTest, ExpiryReleasesHeldDelivery) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob, R"("payload_meta":{"ttl_ms":2000})");
  for (int failure = 0; failure < 2; ++failure) {
    fixture.send_receipt(bob, id, R"("status":"failed","retryable":true)");
    if (failure == 0) fixture.advance(1s);
  }
  EXPECT_EQ(fixture.broker().roster().at(1).held, 1u);
  fixture.advance(5s);
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::Expired);
  EXPECT_EQ(fixture.broker().roster().at(1).held, 0u);
  EXPECT_EQ(fixture.broker().roster().at(1).pending, 0u);
}

TEST_F(ReceiptsTest, ExpiryWhileWritingLeavesInDoubt) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob, R"("payload_meta":{"ttl_ms":2000})");
  fixture.send_receipt(bob, id, R"("status":"accepted","proof":"written")");
  fixture.advance(5s);
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::InDoubt);
  EXPECT_EQ(receipts(fixture, alice).back(), "in_doubt EXPIRED");
}

TEST_F(ReceiptsTest, ReturnedInDoubtDeliveryFails) {
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"in_doubt","reason":"no evidence")");
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::InDoubt);
  fixture.send_receipt(bob, id, R"("status":"failed","retryable":false,"reason":"returned unread")");
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::Failed);
  EXPECT_EQ(trace_entry(fixture, "message-1").history.back().reason, "returned unread");
  fixture.send_receipt(bob, id, R"("status":"in_doubt")");
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::Failed);
}

TEST_F(ReceiptsTest, SubscriberReceivesEveryEntryInOrder) {
  const auto subscriber = fixture.join_user();
  fixture.request(subscriber, "EVENTS_SUBSCRIBE", R"({"types":["delivery"]})");
  const auto bob = join_host(fixture);
  const auto id = send_to(bob);
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.send_receipt(bob, id, R"("status":"failed","retryable":true,"reason":"no luck")");
  fixture.advance(1s);
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted","via":"pty","evidence":"status working")");
  Strings types;
  Frame deferred, last;
  for (const auto& frame : fixture.received(subscriber, "AGENT_EVENT")) {
    last = event_of(frame);
    types.push_back(type_of(last));
    if (types.back() == "delivery.deferred") deferred = last;
    EXPECT_EQ(string_field(last, "deliveryId"), id);
  }
  EXPECT_EQ(types, (Strings{"delivery.created", "delivery.accepted", "delivery.deferred", "delivery.queued",
                            "delivery.delivered"}));
  EXPECT_EQ(bool_member(deferred, "retryable"), true);
  EXPECT_EQ(string_field(deferred, "reason"), "attempt 1 of 8 failed: no luck");
  EXPECT_GT(integer_field(deferred, "availableAt"), 0);
  EXPECT_EQ(string_field(last, "proof"), "submitted");
  EXPECT_EQ(string_field(last, "evidence"), "status working");
  EXPECT_EQ(string_field(*object_member(last, "agent"), "name"), "Bob");
  EXPECT_EQ(string_field(*object_member(last, "message"), "text"), "hi");
}

TEST_F(ReceiptsTest, SubscriberReceivesUndeliveredOutcomes) {
  const auto subscriber = fixture.join_user(), user = fixture.join_user();
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "one");
  fixture.send(alice, "message-2", "Bob", "two");
  fixture.send(alice, "message-3", "Bob", "three", R"("payload_meta":{"ttl_ms":1000})");
  fixture.request(subscriber, "EVENTS_SUBSCRIBE", R"({"types":["delivery"]})");
  const auto ids = delivered_ids(fixture, bob);
  fixture.send_receipt(bob, ids.at(0), R"("status":"failed","reason":"no way")");
  fixture.send_receipt(bob, ids.at(1), R"("status":"in_doubt")");
  fixture.advance(2s);
  fixture.control(user, format(R"("action":"redeliver","deliveryId":"{}")", ids.at(0)));
  Strings events;
  for (const auto& frame : fixture.received(subscriber, "AGENT_EVENT"))
    events.push_back(type_of(event_of(frame)) +
                     (string_field(event_of(frame), "deliveryId") == ids.at(0) ? " first" : ""));
  EXPECT_EQ(events, (Strings{"delivery.failed first", "delivery.in_doubt", "delivery.expired", "delivery.created",
                             "delivery.cancelled first"}));
}

}  // namespace
}  // namespace relay::broker
