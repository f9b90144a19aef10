// Receipts for deliveries that are not in flight, and CANCEL for those that ended while their session was offline.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using records::DeliveryState;

constexpr auto kSubmittedReceipt = R"("status":"delivered","proof":"submitted")";

struct LateReceiptsTest : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture), user = fixture.join_user();
  ConnectionId bob = join_host(fixture);
  std::string token = string_field(payload(fixture.first_frame(bob, "WELCOME")), "resume_token");

  std::string send(const std::string& id, const std::string& more = {}) {
    fixture.send(alice, id, "Bob", "hi", more);
    return delivered_ids(fixture, bob).at(0);
  }
  void resume(const std::string& unsettled) {
    bob = join_host(fixture, "Bob", format(R"("session":{{"resume_token":"{}","unsettled":[{}]}})", token, unsettled));
  }
  Frame cancel(const std::string& id) {
    return fixture.control(user, format(R"("action":"cancel","deliveryId":"{}")", id));
  }
  DeliveryState state(const std::string& id) { return trace_entry(fixture, id).delivery.state; }
};

TEST_F(LateReceiptsTest, ReceiptAfterExpiryStillCountsAsDelivered) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.advance(2s);
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
  EXPECT_EQ(fixture.received(bob, "CANCEL").size(), 1u);
  fixture.send_receipt(bob, id, kSubmittedReceipt);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
  fixture.send_receipt(bob, id, R"("status":"failed","code":"CANCELLED")");
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
}

TEST_F(LateReceiptsTest, ReturnOfExpiredDeliveryChangesNothing) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  fixture.advance(2s);
  fixture.send_receipt(bob, id, R"("status":"failed","code":"CANCELLED","reason":"its time ran out")");
  EXPECT_EQ(history_of(trace_entry(fixture, "message-1")), (Strings{"queued", "expired"}));
}

TEST_F(LateReceiptsTest, SessionMayReportExpiry) {
  const auto id = send("message-1");
  fixture.send_receipt(bob, id, R"("status":"failed","code":"EXPIRED","reason":"its time ran out")");
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
  EXPECT_EQ(receipts(fixture, alice), Strings{"failed EXPIRED"});
}

TEST_F(LateReceiptsTest, SessionMayReportExpiryOfDeliveryInDoubt) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  fixture.send_receipt(bob, id, R"("status":"accepted","proof":"written")");
  fixture.advance(2s);
  EXPECT_EQ(state("message-1"), DeliveryState::InDoubt);
  fixture.send_receipt(bob, id, R"("status":"failed","code":"EXPIRED","reason":"it was erased and its ttl ran out")");
  EXPECT_EQ(state("message-1"), DeliveryState::Expired) << "the session knows that it did not arrive";
}

TEST_F(LateReceiptsTest, DeliveryCancelledWhileOfflineIsCancelledAtSessionOnResume) {
  const auto unsettled = send("message-1"), cancelled = send("message-2"), delivered = send("message-3");
  for (const auto& id : {unsettled, cancelled, delivered}) fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.disconnect(bob);
  cancel(cancelled);
  cancel(delivered);
  EXPECT_EQ(state("message-3"), DeliveryState::Cancelled);
  resume(format(R"("{}","{}","{}")", unsettled, cancelled, delivered));
  Strings cancels, delivers;
  for (const auto& frame : fixture.received(bob)) {
    if (type_of(frame) == "CANCEL") cancels.push_back(string_field(payload(frame), "deliveryId"));
    if (type_of(frame) == "DELIVER") delivers.push_back(string_field(frame, "id"));
  }
  EXPECT_EQ(cancels, (Strings{cancelled, delivered}));
  EXPECT_EQ(delivers, Strings{unsettled});
  fixture.send_receipt(bob, delivered, kSubmittedReceipt);
  EXPECT_EQ(state("message-3"), DeliveryState::Delivered) << "the receipt of the session counts";
  EXPECT_EQ(state("message-2"), DeliveryState::Cancelled);
}

TEST_F(LateReceiptsTest, RequestedCancelEndsWhenSessionDisconnects) {
  const auto id = send("message-1");
  cancel(id);
  EXPECT_EQ(state("message-1"), DeliveryState::Queued);
  fixture.disconnect(bob);
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
  bob = join_host(fixture);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
}

TEST_F(LateReceiptsTest, RequestedCancelOfWrittenDeliveryLeavesItInDoubt) {
  const auto id = send("message-1");
  fixture.send_receipt(bob, id, R"("status":"accepted","proof":"written")");
  cancel(id);
  fixture.disconnect(bob);
  EXPECT_EQ(state("message-1"), DeliveryState::InDoubt) << "the agent may have it";
}

TEST_F(LateReceiptsTest, ReceiptBeforeResendCounts) {
  const auto id = send("message-1");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.disconnect(bob);
  fixture.control(user, R"("action":"pause","agent":"Bob")");  // so the delivery is not resent
  resume(format(R"("{}")", id));
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.send_receipt(bob, id, kSubmittedReceipt);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
  fixture.control(user, R"("action":"unpause","agent":"Bob")");
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(fixture.broker().roster().at(1).pending, 0u);
}

TEST_F(LateReceiptsTest, ReceiptForDeliveryOfOtherAgentIsIgnored) {
  const auto carol = join_host(fixture, "Carol");
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  fixture.advance(2s);
  fixture.send_receipt(carol, id, kSubmittedReceipt);
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
}

TEST_F(LateReceiptsTest, AckOfSessionWithQueueIsNotDelivered) {
  fixture.send(alice, "message-1", "Bob", "hi");
  fixture.ack(bob, fixture.first_frame(bob, "DELIVER"));
  EXPECT_EQ(state("message-1"), DeliveryState::Accepted);
}

TEST_F(LateReceiptsTest, DeliveryIsRedeliveredOnce) {
  const auto id = send("message-1");
  fixture.send_receipt(bob, id, R"("status":"failed","reason":"no way")");
  const auto redeliver = format(R"("action":"redeliver","deliveryId":"{}")", id);
  fixture.hold_commits();
  for (int i = 0; i < 2; ++i) fixture.request(user, "CONTROL", "{" + redeliver + "}", format("q{}", i));
  fixture.release_commits();
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
  Strings results;
  for (const auto& result : fixture.received(user, "CONTROL_RESULT"))
    results.push_back(bool_member(payload(result), "success").value_or(false) ? "done" : code_of(result));
  std::ranges::sort(results);
  EXPECT_EQ(results, (Strings{"STALE", "done"}));
}

TEST_F(LateReceiptsTest, SendersAreNotifiedOfModesThatNewSessionLacks) {
  fixture.disconnect(bob);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-tool-call"));
  fixture.drop_received(alice);
  bob = fixture.join("Bob");
  EXPECT_EQ(receipts(fixture, alice), Strings{"deferred UNSUPPORTED"});
  EXPECT_EQ(trace_entry(fixture, "message-1").history.back().reason, "its session does not support next-tool-call");
  fixture.disconnect(bob);
  bob = fixture.join("Bob");
  EXPECT_TRUE(receipts(fixture, alice).empty()) << "reported once";
}

TEST_F(LateReceiptsTest, SessionWithoutModeReplacesBoundaryReason) {
  fixture.disconnect(bob);
  auto carol = join_callback(fixture, "Carol");
  fixture.send(alice, "message-1", "Carol", "hi", with_mode("next-message"));
  fixture.disconnect(carol);
  fixture.drop_received(alice);
  carol = fixture.join("Carol");
  EXPECT_EQ(receipts(fixture, alice), Strings{"deferred UNSUPPORTED"});
}

TEST_F(LateReceiptsTest, UnsupportedModesAreReportedWhenStoreRecovers) {
  fixture.disconnect(bob);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-tool-call"));
  bob = join_host(fixture);  // it supports the mode
  fixture.advance(1s);
  fixture.drop_received(alice);
  fixture.drop_received(bob);
  fixture.disconnect(bob);
  bob = join_callback(fixture, "Bob");
  fixture.fail_commits();
  fixture.subscribe(alice, "t");
  fixture.report_state(bob, "active", R"("modes":["immediate"])");
  EXPECT_TRUE(receipts(fixture, alice).empty());
  fixture.accept_commits();
  fixture.advance(5s);
  EXPECT_EQ(receipts(fixture, alice), Strings{"deferred UNSUPPORTED"});
}

TEST_F(LateReceiptsTest, ReturnedDeliveryWithRequestedCancelIsCancelled) {
  int n = 0;
  for (const auto* members :
       {R"("status":"failed","retryable":true)", R"("status":"deferred","availableAt":9000000000000)"}) {
    const auto name = format("message-{}", ++n);
    const auto id = send(name);
    cancel(id);
    fixture.send_receipt(bob, id, members);
    EXPECT_EQ(state(name), DeliveryState::Cancelled) << members;
    fixture.advance(1min);
    EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  }
}

TEST_F(LateReceiptsTest, RequeuedUnsettledDeliveryCanBeCancelled) {
  const auto id = send("message-1", with_mode("manual"));
  fixture.control(user, R"("action":"pause","agent":"Bob")");
  fixture.control(user, R"("action":"flush","agent":"Bob")");
  EXPECT_TRUE(delivered_ids(fixture, bob).empty()) << "it is paused";
  cancel(id);
  EXPECT_EQ(fixture.received(bob, "CANCEL").size(), 1u);
  EXPECT_EQ(state("message-1"), DeliveryState::Queued) << "the session may have started it";
  fixture.disconnect(bob);
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
  fixture.control(user, R"("action":"unpause","agent":"Bob")");
  bob = join_host(fixture);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
}

TEST_F(LateReceiptsTest, ReceiptDuringCommitOfCancelCounts) {
  const auto id = send("message-1");
  cancel(id);
  fixture.hold_commits();
  fixture.disconnect(bob);  // the delivery is cancelled, but not stored yet
  bob = join_host(fixture, "Bob", format(R"("session":{{"resume_token":"{}"}})", token));
  fixture.send_receipt(bob, id, kSubmittedReceipt);
  fixture.release_commits();
  fixture.advance(2s);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
}

TEST_F(LateReceiptsTest, StrongerOfTwoLateReceiptsCounts) {
  const auto id = send("message-1");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.disconnect(bob);
  fixture.control(user, R"("action":"pause","agent":"Bob")");
  resume(format(R"("{}")", id));
  fixture.hold_commits();
  fixture.send_receipt(bob, id, kSubmittedReceipt);
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"seen")");
  fixture.release_commits();
  fixture.advance(2s);
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.proof, records::Proof::Seen);
}

TEST_F(LateReceiptsTest, ExpiredDeliveryIsCountedOnce) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":5000})");
  fixture.send_receipt(bob, id, R"("status":"failed","retryable":true)");
  EXPECT_EQ(fixture.broker().roster().at(1).held, 1u);
  fixture.disconnect(bob);
  fixture.advance(6s);
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
  EXPECT_EQ(fixture.broker().roster().at(1).held, 0u);
  EXPECT_EQ(fixture.broker().roster().at(1).pending, 0u);
}

}  // namespace
}  // namespace relay::broker
