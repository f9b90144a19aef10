// CONTROL requests of the user: flush, cancel, read, redeliver, pause.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;
using records::DeliveryState;

constexpr auto kFlush = R"("action":"flush","agent":"Bob")";
constexpr auto kFailed = R"("status":"failed","reason":"no way")";

struct ControlRequests : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture), user = fixture.join_user();

  std::string on_delivery(std::string_view action, std::string_view id) {
    return format(R"("action":"{}","deliveryId":"{}")", action, id);
  }
  DeliveryState state(const std::string& id) { return trace_entry(fixture, id).delivery.state; }
  std::string last_reason(const std::string& id) { return trace_entry(fixture, id).history.back().reason; }
};

TEST_F(ControlRequests, FlushReleasesManualDeliveriesOfCallbackSession) {
  const auto bob = join_callback(fixture);
  fixture.send(alice, "message-1", "Bob", "one", with_mode("manual"));
  fixture.send(alice, "message-2", "Bob", "two", with_mode("manual"));
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(integer_field(fixture.control(user, kFlush), "count"), 2);
  const auto frames = fixture.received(bob, "DELIVER");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(body(frames[0]), "one");
  EXPECT_EQ(body(frames[1]), "two");
  EXPECT_EQ(integer_field(delivery_block(frames[0]), "lane"), -1) << "they are in the default lane now";
  EXPECT_EQ(string_field(delivery_block(frames[0]), "mode"), "on-idle");
  EXPECT_EQ(last_reason("message-1"), "flushed by the user; it was sent as manual");
  EXPECT_EQ(integer_field(fixture.control(user, kFlush), "count"), 0);
}

TEST_F(ControlRequests, FlushRequeuesUnsettledDeliveries) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "later", with_mode("manual"));
  const auto manual = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(integer_field(delivery_block(manual), "lane"), 8);
  const auto id = string_field(manual, "id");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.control(user, kFlush);
  const auto moved = fixture.received(bob, "DELIVER");
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(string_field(moved[0], "id"), id);
  EXPECT_EQ(integer_field(delivery_block(moved[0]), "lane"), -1);
  EXPECT_EQ(string_field(delivery_block(moved[0]), "mode"), "on-idle");
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  EXPECT_EQ(history_of(trace_entry(fixture, "message-1")),
            (Strings{"queued", "accepted/accepted", "queued", "accepted/accepted", "delivered/submitted"}));
}

TEST_F(ControlRequests, FlushOfOneDeliveryLeavesOthers) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "one", with_mode("manual"));
  fixture.send(alice, "message-2", "Bob", "two", with_mode("manual"));
  const auto ids = delivered_ids(fixture, bob);
  const auto result = fixture.control(user, format(R"({},"deliveryId":"{}")", kFlush, ids.at(1)));
  EXPECT_EQ(integer_field(result, "count"), 1);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{ids.at(1)});
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.lane.mode, protocol::DeliveryMode::Manual);
}

TEST_F(ControlRequests, FlushOfModeReleasesOnlyDeliveriesHeldInIt) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "one", with_mode("manual"));
  fixture.send(alice, "message-2", "Bob", "two");
  const auto ids = delivered_ids(fixture, bob);
  fixture.send_receipt(bob, ids.at(1), R"("status":"failed","retryable":true)");
  EXPECT_EQ(integer_field(fixture.control(user, format(R"({},"mode":"on-idle")", kFlush)), "count"), 1);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{ids.at(1)});
}

TEST_F(ControlRequests, FlushedDeliveriesOfOfflineAgentStayPending) {
  fixture.disconnect(join_callback(fixture));
  fixture.send(alice, "message-1", "Bob", "later", with_mode("manual"));
  EXPECT_EQ(integer_field(fixture.control(user, kFlush), "count"), 1);
  const auto bob = join_callback(fixture);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
}

TEST_F(ControlRequests, FlushReadsAllPages) {
  const auto bob = join_callback(fixture);
  for (int i = 0; i < 1203; ++i) fixture.send(alice, format("m{}", i), "Bob", "x", with_mode("manual"));
  EXPECT_EQ(integer_field(fixture.control(user, kFlush), "count"), 1203);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), protocol::kDefaultInflight);
}

TEST_F(ControlRequests, CancelRequestsUnsettledDeliveryFromSession) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "not started");
  fixture.send(alice, "message-2", "Bob", "started");
  const auto ids = delivered_ids(fixture, bob);
  fixture.drop_received(alice);
  for (const auto& id : ids) fixture.control(user, on_delivery("cancel", id) + R"(,"reason":"not needed")");
  const auto cancels = fixture.received(bob, "CANCEL");
  ASSERT_EQ(cancels.size(), 2u);
  EXPECT_EQ(string_field(payload(cancels[0]), "deliveryId"), ids.at(0));
  EXPECT_EQ(string_field(payload(cancels[0]), "reason"), "cancelled by the user: not needed");
  EXPECT_EQ(state("message-1"), DeliveryState::Queued) << "only the session knows whether it has started";
  fixture.send_receipt(bob, ids.at(0),
                       R"("status":"failed","code":"CANCELLED","reason":"cancelled by the user: not needed")");
  fixture.send_receipt(bob, ids.at(1), R"("status":"delivered","proof":"submitted")");
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
  EXPECT_EQ(last_reason("message-1"), "cancelled by the user: not needed");
  EXPECT_EQ(state("message-2"), DeliveryState::Delivered);
  EXPECT_EQ(receipts(fixture, alice), (Strings{"failed", "delivered/submitted"}));
  fixture.send_receipt(bob, ids.at(0), R"("status":"failed","reason":"late")");
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
}

TEST_F(ControlRequests, DeliveryOfPublishedClientCannotBeCancelled) {
  const auto bob = fixture.join("Bob");
  fixture.send(alice, "message-1", "Bob", "hi");
  const auto id = delivered_ids(fixture, bob).at(0);
  EXPECT_EQ(string_field(fixture.control(user, on_delivery("cancel", id)), "error"),
            format("{} is with a session that cannot return it: it is queued", id));
}

TEST_F(ControlRequests, CancelOfWrittenDeliveryOfLostSessionLeavesItInDoubt) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "written");
  const auto id = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, id, R"("status":"accepted","proof":"written")");
  fixture.disconnect(bob);
  EXPECT_EQ(integer_field(fixture.control(user, on_delivery("cancel", id)), "count"), 1);
  EXPECT_EQ(state("message-1"), DeliveryState::InDoubt) << "the agent may have it";
  EXPECT_EQ(last_reason("message-1"), "cancelled by the user");
}

TEST_F(ControlRequests, CancelEndsPendingDelivery) {
  auto bob = join_host(fixture);
  fixture.send(alice, "message-2", "Bob", "deferred");
  const auto deferred = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, deferred, R"("status":"failed","retryable":true)");
  EXPECT_EQ(integer_field(fixture.control(user, on_delivery("cancel", deferred)), "count"), 1);
  fixture.advance(1min);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());

  fixture.disconnect(bob);
  fixture.send(alice, "message-3", "Bob", "queued");
  const auto queued = records::delivery_id(trace_entry(fixture, "message-3").delivery.key);
  EXPECT_EQ(integer_field(fixture.control(user, on_delivery("cancel", queued)), "count"), 1);
  bob = join_host(fixture);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(fixture.broker().roster().at(1).pending, 0u);
  EXPECT_EQ(fixture.broker().roster().at(1).held, 0u);
}

TEST_F(ControlRequests, ReadSettlesPendingDeliveryOfOfflineAgentAsSeen) {
  const auto bob = join_callback(fixture);
  fixture.disconnect(bob);
  fixture.send(alice, "message-1", "Bob", "one");
  const auto id = records::delivery_id(trace_entry(fixture, "message-1").delivery.key);
  EXPECT_EQ(integer_field(fixture.control(user, on_delivery("read", id)), "count"), 1);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
  EXPECT_EQ(last_reason("message-1"), "read in the inbox");
  EXPECT_TRUE(string_field(fixture.control(user, on_delivery("read", id)), "error").contains("has already ended"));
}

TEST_F(ControlRequests, ReadOfDeliveryForConnectedAgentIsRefused) {
  (void)join_callback(fixture);
  fixture.send(alice, "message-1", "Bob", "one", with_mode("manual"));
  const auto id = records::delivery_id(trace_entry(fixture, "message-1").delivery.key);
  EXPECT_TRUE(string_field(fixture.control(user, on_delivery("read", id)), "error").contains("connected session"));
  EXPECT_NE(state("message-1"), DeliveryState::Delivered);
}

TEST_F(ControlRequests, CancelOfFinalDeliveryIsRefused) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "hi");
  const auto id = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  const auto result = fixture.control(user, on_delivery("cancel", id));
  EXPECT_EQ(bool_member(result, "success"), false);
  EXPECT_EQ(string_field(result, "error"), format("{} has already ended: it is delivered", id));
  EXPECT_EQ(string_field(fixture.control(user, on_delivery("cancel", "d-22222222")), "error"),
            "no delivery has the id d-22222222");
  EXPECT_EQ(string_field(fixture.control(user, on_delivery("cancel", "nonsense")), "error"),
            "'nonsense' is not the id of a delivery; `agent-relay trace` lists them");
}

TEST_F(ControlRequests, RedeliverCreatesDeliveryWithNewId) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "hi");
  const auto old = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, old, kFailed);
  const auto result = fixture.control(user, on_delivery("redeliver", old));
  EXPECT_EQ(integer_field(result, "count"), 1);
  const auto redelivered = fixture.first_frame(bob, "DELIVER");
  EXPECT_NE(string_field(redelivered, "id"), old);
  EXPECT_EQ(body(redelivered), "hi");
  EXPECT_EQ(seq_of(redelivered), 2u);
  EXPECT_EQ(result.at("deliveryIds").as_array().at(0).as_string(), string_field(redelivered, "id"));
  EXPECT_EQ(state(old), DeliveryState::Cancelled);
  EXPECT_EQ(last_reason(old), format("redelivered as {} by the user", string_field(redelivered, "id")));
  const auto repeated = fixture.control(user, on_delivery("redeliver", old));
  EXPECT_EQ(string_field(repeated, "error"), format("{} cannot be redelivered: it is cancelled", old));
}

TEST_F(ControlRequests, RedeliverOfAllTakesInDoubtDeliveriesOnlyWhenNamed) {
  const auto bob = join_host(fixture);
  for (const auto* id : {"message-1", "message-2", "message-3"}) fixture.send(alice, id, "Bob", id);
  const auto ids = delivered_ids(fixture, bob);
  fixture.send_receipt(bob, ids.at(0), kFailed);
  fixture.send_receipt(bob, ids.at(1), R"("status":"in_doubt")");
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"redeliver","all":true)"), "count"), 1);
  EXPECT_EQ(fixture.bodies(bob), Strings{"message-1"});
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"redeliver","all":true,"agent":"Alice")"), "count"), 0);
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"redeliver","all":true,"states":["in_doubt"])"), "count"),
            1);
  EXPECT_EQ(fixture.bodies(bob), Strings{"message-2"});
}

TEST_F(ControlRequests, RedeliverOfAllKeepsOrder) {
  const auto bob = join_host(fixture);
  for (const auto* id : {"message-1", "message-2", "message-3"}) fixture.send(alice, id, "Bob", id);
  for (const auto& id : delivered_ids(fixture, bob)) fixture.send_receipt(bob, id, kFailed);
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"redeliver","all":true)"), "count"), 3);
  EXPECT_EQ(fixture.bodies(bob), (Strings{"message-1", "message-2", "message-3"}));
}

TEST_F(ControlRequests, RedeliverOfAllReadsShortPagesOfLongMessages) {
  const auto bob = fixture.join("Bob", R"("capabilities":{"ack":true,"send_ack":true,"max_inflight":1000})");
  const std::string long_body(500'000, 'x');
  for (int i = 0; i < 12; ++i) fixture.send(alice, format("m{}", i), "Bob", long_body);
  for (auto ids = delivered_ids(fixture, bob); !ids.empty(); ids = delivered_ids(fixture, bob)) {
    for (const auto& id : ids) fixture.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BAD_REQUEST"}})", id));
    fixture.drain_output(bob);
  }
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"redeliver","all":true)"), "count"), 12);
}

TEST_F(ControlRequests, FailedCommitOfRedeliverIsReported) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "hi");
  const auto id = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, id, kFailed);
  fixture.fail_commits();
  EXPECT_EQ(string_field(fixture.control(user, on_delivery("redeliver", id)), "error"),
            "it could not be stored; try again");
  fixture.accept_commits();
  fixture.advance(2s);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(integer_field(fixture.control(user, on_delivery("redeliver", id)), "count"), 1);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
}

TEST_F(ControlRequests, PauseHoldsDeliveriesAndUnpauseReleasesThem) {
  auto bob = join_host(fixture);
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"pause","agent":"Bob","reason":"lunch")"), "count"), 1);
  const auto pause = fixture.first_frame(bob, "PAUSE");
  EXPECT_EQ(bool_member(payload(pause), "paused"), true);
  EXPECT_EQ(string_field(payload(pause), "reason"), "lunch");
  fixture.drop_received(alice);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("immediate"));
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(last_reason("message-1"), "it is paused by the user: lunch");
  EXPECT_EQ(receipts(fixture, alice), Strings{"deferred"});

  fixture.restart();
  user = fixture.join_user();
  bob = join_host(fixture);
  const auto frames = fixture.received(bob);
  EXPECT_EQ(type_of(frames.at(1)), "PAUSE") << "it follows WELCOME";
  EXPECT_EQ(frames.size(), 2u);
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"unpause","agent":"Bob")"), "count"), 1);
  const auto unpaused = fixture.received(bob);
  ASSERT_EQ(unpaused.size(), 2u);
  EXPECT_EQ(bool_member(payload(unpaused[0]), "paused"), false);
  EXPECT_EQ(body(unpaused[1]), "hi");
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"unpause","agent":"Bob")"), "count"), 0);
}

TEST_F(ControlRequests, InvalidRequestIsExplained) {
  EXPECT_EQ(string_field(fixture.control(user, R"("action":"flush","agent":"Unknown")"), "error"),
            "no agent is named 'Unknown'");
  const auto result = fixture.control(user, R"("action":"explode")");
  EXPECT_EQ(bool_member(result, "success"), false);
  EXPECT_FALSE(string_field(result, "error").empty());
}

}  // namespace
}  // namespace relay::broker
