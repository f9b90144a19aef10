// What sessions say of deliveries that are not in flight, and what they are told of those that ended while they were away.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using records::DeliveryState;

constexpr auto kShown = R"("status":"delivered","proof":"submitted")";

struct Afterwards : ::testing::Test {
  BrokerFixture world{no_heartbeat()};
  ConnectionId alice = join_sender(world), person = world.join_user();
  ConnectionId bob = join_host(world);
  std::string token = text(payload(world.received(bob, "WELCOME").at(0)), "resume_token");

  std::string send(const std::string& id, const std::string& more = {}) {
    world.send(alice, id, "Bob", "hi", more);
    return given(world, bob).at(0);
  }
  void resume(const std::string& in_hand) {
    bob = join_host(world, "Bob", format(R"("session":{{"resume_token":"{}","unsettled":[{}]}})", token, in_hand));
  }
  Frame cancel(const std::string& id) {
    return world.control(person, format(R"("action":"cancel","deliveryId":"{}")", id));
  }
  DeliveryState state(const std::string& id) { return ledger(world, id).delivery.state; }
};

TEST_F(Afterwards, ReceiptAfterExpiryStillCountsAsDelivered) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  world.receipt(bob, id, R"("status":"accepted")");
  world.pass(2s);
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
  EXPECT_EQ(world.received(bob, "CANCEL").size(), 1u);
  world.receipt(bob, id, kShown);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
  world.receipt(bob, id, R"("status":"failed","code":"CANCELLED")");
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
}

TEST_F(Afterwards, ReturnOfExpiredDeliveryChangesNothing) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  world.pass(2s);
  world.receipt(bob, id, R"("status":"failed","code":"CANCELLED","reason":"its time ran out")");
  EXPECT_EQ(lines_of(ledger(world, "message-1")), (Texts{"queued", "expired"}));
}

TEST_F(Afterwards, ASessionMayLetSomethingExpireItself) {
  const auto id = send("message-1");
  world.receipt(bob, id, R"("status":"failed","code":"EXPIRED","reason":"its time ran out")");
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
  EXPECT_EQ(receipts(world, alice), Texts{"failed EXPIRED"});
}

TEST_F(Afterwards, DeliveryCancelledWhileOfflineIsCancelledAtSessionOnResume) {
  const auto kept = send("message-1"), dropped = send("message-2"), brought = send("message-3");
  for (const auto& id : {kept, dropped, brought}) world.receipt(bob, id, R"("status":"accepted")");
  world.leave(bob);
  cancel(dropped);
  cancel(brought);
  EXPECT_EQ(state("message-3"), DeliveryState::Cancelled);
  resume(format(R"("{}","{}","{}")", kept, dropped, brought));
  Texts orders, given;
  for (const auto& frame : world.received(bob)) {
    if (text(frame, "type") == "CANCEL") orders.push_back(text(payload(frame), "deliveryId"));
    if (text(frame, "type") == "DELIVER") given.push_back(text(frame, "id"));
  }
  EXPECT_EQ(orders, (Texts{dropped, brought}));
  EXPECT_EQ(given, Texts{kept});
  world.receipt(bob, brought, kShown);
  EXPECT_EQ(state("message-3"), DeliveryState::Delivered) << "it knows better";
  EXPECT_EQ(state("message-2"), DeliveryState::Cancelled);
}

TEST_F(Afterwards, RequestedCancelEndsWhenSessionDisconnects) {
  const auto id = send("message-1");
  cancel(id);
  EXPECT_EQ(state("message-1"), DeliveryState::Queued);
  world.leave(bob);
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
  bob = join_host(world);
  EXPECT_TRUE(given(world, bob).empty());
}

TEST_F(Afterwards, AWordAboutWhatWasNotSentAgainYetCounts) {
  const auto id = send("message-1");
  world.receipt(bob, id, R"("status":"accepted")");
  world.leave(bob);
  world.control(person, R"("action":"pause","agent":"Bob")");  // so it is not sent again
  resume(format(R"("{}")", id));
  EXPECT_TRUE(given(world, bob).empty());
  world.receipt(bob, id, kShown);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
  world.control(person, R"("action":"unpause","agent":"Bob")");
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(world.broker().roster().at(1).pending, 0u);
}

TEST_F(Afterwards, ReceiptForDeliveryOfOtherAgentIsIgnored) {
  const auto carol = join_host(world, "Carol");
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":1000})");
  world.pass(2s);
  world.receipt(carol, id, kShown);
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
}

TEST_F(Afterwards, AnAcknowledgementOfAQueueIsNotYetADelivery) {
  world.send(alice, "message-1", "Bob", "hi");
  world.ack(bob, world.received(bob, "DELIVER").at(0));
  EXPECT_EQ(state("message-1"), DeliveryState::Accepted);
}

TEST_F(Afterwards, DeliveryIsRedeliveredOnce) {
  const auto id = send("message-1");
  world.receipt(bob, id, R"("status":"failed","reason":"no way")");
  const auto redeliver = format(R"("action":"redeliver","deliveryId":"{}")", id);
  world.hold_commits();
  for (int i = 0; i < 2; ++i)
    world.say(person, format(R"({{"v":1,"type":"CONTROL","id":"q{}","ts":1,"payload":{{{}}}}})", i, redeliver));
  world.release_commits();
  EXPECT_EQ(given(world, bob).size(), 1u);
  Texts answers;
  for (const auto& answer : world.received(person, "CONTROL_RESULT"))
    answers.push_back(bool_member(payload(answer), "success").value_or(false) ? "done" : text(payload(answer), "code"));
  std::ranges::sort(answers);
  EXPECT_EQ(answers, (Texts{"STALE", "done"}));
}

TEST_F(Afterwards, SendersLearnOfModesThatNewSessionLacks) {
  world.leave(bob);
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-tool-call"));
  world.received(alice);
  bob = world.join("Bob");
  EXPECT_EQ(receipts(world, alice), Texts{"deferred UNSUPPORTED"});
  EXPECT_EQ(ledger(world, "message-1").history.back().reason, "its session cannot do next-tool-call");
  world.leave(bob);
  bob = world.join("Bob");
  EXPECT_TRUE(receipts(world, alice).empty()) << "told once";
}

TEST_F(Afterwards, SessionWithoutModeReplacesBoundaryReason) {
  world.leave(bob);
  auto carol = join_callback(world, "Carol");
  world.send(alice, "message-1", "Carol", "hi", in_mode("next-message"));
  world.leave(carol);
  world.received(alice);
  carol = world.join("Carol");
  EXPECT_EQ(receipts(world, alice), Texts{"deferred UNSUPPORTED"});
}

TEST_F(Afterwards, UnsupportedModesAreReportedWhenStoreRecovers) {
  world.leave(bob);
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-tool-call"));
  bob = join_host(world);  // which can do it
  world.pass(1s);
  world.received(alice);
  world.received(bob);
  world.leave(bob);
  bob = join_callback(world, "Bob");
  world.fail_commits(true);
  world.say(alice, R"({"v":1,"type":"SUBSCRIBE","id":"s","ts":1,"topic":"t","payload":{}})");
  world.report_state(bob, "active", R"("modes":["immediate"])");
  EXPECT_TRUE(receipts(world, alice).empty());
  world.fail_commits(false);
  world.pass(5s);
  EXPECT_EQ(receipts(world, alice), Texts{"deferred UNSUPPORTED"});
}

TEST_F(Afterwards, ReturnedDeliveryWithRequestedCancelIsCancelled) {
  int n = 0;
  for (const auto* word :
       {R"("status":"failed","retryable":true)", R"("status":"deferred","availableAt":9000000000000)"}) {
    const auto name = format("message-{}", ++n);
    const auto id = send(name);
    cancel(id);
    world.receipt(bob, id, word);
    EXPECT_EQ(state(name), DeliveryState::Cancelled) << word;
    world.pass(1min);
    EXPECT_TRUE(given(world, bob).empty());
  }
}

TEST_F(Afterwards, RequeuedUnsettledDeliveryCanBeCancelled) {
  const auto id = send("message-1", in_mode("manual"));
  world.control(person, R"("action":"pause","agent":"Bob")");
  world.control(person, R"("action":"flush","agent":"Bob")");
  EXPECT_TRUE(given(world, bob).empty()) << "it is paused";
  cancel(id);
  EXPECT_EQ(world.received(bob, "CANCEL").size(), 1u);
  EXPECT_EQ(state("message-1"), DeliveryState::Queued) << "only its session knows";
  world.leave(bob);
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
  world.control(person, R"("action":"unpause","agent":"Bob")");
  bob = join_host(world);
  EXPECT_TRUE(given(world, bob).empty());
}

TEST_F(Afterwards, AWordThatCrossesTheEndWeMadeIsLookedUpAgain) {
  const auto id = send("message-1");
  cancel(id);
  world.hold_commits();
  world.leave(bob);  // so it is cancelled, and that is not stored yet
  bob = join_host(world, "Bob", format(R"("session":{{"resume_token":"{}"}})", token));
  world.receipt(bob, id, kShown);
  world.release_commits();
  world.pass(2s);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
}

TEST_F(Afterwards, StrongerOfTwoLateReceiptsCounts) {
  const auto id = send("message-1");
  world.receipt(bob, id, R"("status":"accepted")");
  world.leave(bob);
  world.control(person, R"("action":"pause","agent":"Bob")");
  resume(format(R"("{}")", id));
  world.hold_commits();
  world.receipt(bob, id, kShown);
  world.receipt(bob, id, R"("status":"delivered","proof":"seen")");
  world.release_commits();
  world.pass(2s);
  EXPECT_EQ(ledger(world, "message-1").delivery.proof, records::Proof::Seen);
}

TEST_F(Afterwards, ExpiredDeliveryIsCountedOnce) {
  const auto id = send("message-1", R"("payload_meta":{"ttl_ms":5000})");
  world.receipt(bob, id, R"("status":"failed","retryable":true)");
  EXPECT_EQ(world.broker().roster().at(1).held, 1u);
  world.leave(bob);
  world.pass(6s);
  EXPECT_EQ(state("message-1"), DeliveryState::Expired);
  EXPECT_EQ(world.broker().roster().at(1).held, 0u);
  EXPECT_EQ(world.broker().roster().at(1).pending, 0u);
}

}  // namespace
}  // namespace relay::broker
