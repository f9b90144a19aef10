// A person's hand on deliveries: flush, cancel, redeliver, pause; and what lies dead.
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

struct Steering : ::testing::Test {
  BrokerFixture world{no_heartbeat()};
  ConnectionId alice = join_sender(world), person = world.join_user();

  std::string about(std::string_view action, std::string_view id) {
    return format(R"("action":"{}","deliveryId":"{}")", action, id);
  }
  DeliveryState state(const std::string& id) { return ledger(world, id).delivery.state; }
  std::string last_reason(const std::string& id) { return ledger(world, id).history.back().reason; }
};

TEST_F(Steering, FlushLetsGoWhatIsKeptForASessionWithoutAQueue) {
  const auto bob = join_callback(world);
  world.send(alice, "message-1", "Bob", "one", in_mode("manual"));
  world.send(alice, "message-2", "Bob", "two", in_mode("manual"));
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(number(world.control(person, kFlush), "count"), 2);
  const auto frames = world.received(bob, "DELIVER");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(body(frames[0]), "one");
  EXPECT_EQ(body(frames[1]), "two");
  EXPECT_EQ(number(delivery_block(frames[0]), "lane"), -1) << "they are in the usual lane now";
  EXPECT_EQ(text(delivery_block(frames[0]), "mode"), "on-idle");
  EXPECT_EQ(last_reason("message-1"), "flushed by a person; it was sent as manual");
  EXPECT_EQ(number(world.control(person, kFlush), "count"), 0);
}

TEST_F(Steering, FlushRequeuesUnsettledDeliveries) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "later", in_mode("manual"));
  const auto kept = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(number(delivery_block(kept), "lane"), 8);
  const auto id = text(kept, "id");
  world.receipt(bob, id, R"("status":"accepted")");
  world.control(person, kFlush);
  const auto moved = world.received(bob, "DELIVER");
  ASSERT_EQ(moved.size(), 1u);
  EXPECT_EQ(text(moved[0], "id"), id);
  EXPECT_EQ(number(delivery_block(moved[0]), "lane"), -1);
  EXPECT_EQ(text(delivery_block(moved[0]), "mode"), "on-idle");
  world.receipt(bob, id, R"("status":"accepted")");
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  EXPECT_EQ(lines_of(ledger(world, "message-1")),
            (Texts{"queued", "accepted/accepted", "queued", "accepted/accepted", "delivered/submitted"}));
}

TEST_F(Steering, FlushOfOneLeavesTheOthers) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "one", in_mode("manual"));
  world.send(alice, "message-2", "Bob", "two", in_mode("manual"));
  const auto ids = given(world, bob);
  const auto answer = world.control(person, format(R"({},"deliveryId":"{}")", kFlush, ids.at(1)));
  EXPECT_EQ(number(answer, "count"), 1);
  EXPECT_EQ(given(world, bob), Texts{ids.at(1)});
  EXPECT_EQ(ledger(world, "message-1").delivery.lane.mode, protocol::DeliveryMode::Manual);
}

TEST_F(Steering, FlushOfAModeLetsGoOnlyWhatIsHeldInIt) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "one", in_mode("manual"));
  world.send(alice, "message-2", "Bob", "two");
  const auto ids = given(world, bob);
  world.receipt(bob, ids.at(1), R"("status":"failed","retryable":true)");
  EXPECT_EQ(number(world.control(person, format(R"({},"mode":"on-idle")", kFlush)), "count"), 1);
  EXPECT_EQ(given(world, bob), Texts{ids.at(1)});
}

TEST_F(Steering, FlushedDeliveriesOfOfflineAgentStayPending) {
  world.leave(join_callback(world));
  world.send(alice, "message-1", "Bob", "later", in_mode("manual"));
  EXPECT_EQ(number(world.control(person, kFlush), "count"), 1);
  const auto bob = join_callback(world);
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Steering, FlushReadsAllPages) {
  const auto bob = join_callback(world);
  for (int i = 0; i < 1203; ++i) world.send(alice, format("m{}", i), "Bob", "x", in_mode("manual"));
  EXPECT_EQ(number(world.control(person, kFlush), "count"), 1203);
  EXPECT_EQ(given(world, bob).size(), protocol::kDefaultInflight);
}

TEST_F(Steering, CancelRequestsUnsettledDeliveryFromSession) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "not begun");
  world.send(alice, "message-2", "Bob", "begun");
  const auto ids = given(world, bob);
  world.received(alice);
  for (const auto& id : ids) world.control(person, about("cancel", id) + R"(,"reason":"not needed")");
  const auto orders = world.received(bob, "CANCEL");
  ASSERT_EQ(orders.size(), 2u);
  EXPECT_EQ(text(payload(orders[0]), "deliveryId"), ids.at(0));
  EXPECT_EQ(text(payload(orders[0]), "reason"), "cancelled by a person: not needed");
  EXPECT_EQ(state("message-1"), DeliveryState::Queued) << "only the session knows whether it has begun";
  world.receipt(bob, ids.at(0), R"("status":"failed","code":"CANCELLED","reason":"cancelled by a person: not needed")");
  world.receipt(bob, ids.at(1), R"("status":"delivered","proof":"submitted")");
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
  EXPECT_EQ(last_reason("message-1"), "cancelled by a person: not needed");
  EXPECT_EQ(state("message-2"), DeliveryState::Delivered);
  EXPECT_EQ(receipts(world, alice), (Texts{"failed", "delivered/submitted"}));
  world.receipt(bob, ids.at(0), R"("status":"failed","reason":"what?")");
  EXPECT_EQ(state("message-1"), DeliveryState::Cancelled);
}

TEST_F(Steering, CancelCannotReachIntoAPublishedClient) {
  const auto bob = world.join("Bob");
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  EXPECT_EQ(text(world.control(person, about("cancel", id)), "error"),
            format("{} is in the hands of a session that cannot give it back: it is queued", id));
}

TEST_F(Steering, CancelEndsPendingDelivery) {
  auto bob = join_host(world);
  world.send(alice, "message-2", "Bob", "put off");
  const auto put_off = given(world, bob).at(0);
  world.receipt(bob, put_off, R"("status":"failed","retryable":true)");
  EXPECT_EQ(number(world.control(person, about("cancel", put_off)), "count"), 1);
  world.pass(1min);
  EXPECT_TRUE(given(world, bob).empty());

  world.leave(bob);
  world.send(alice, "message-3", "Bob", "queued");
  const auto queued = records::delivery_id(ledger(world, "message-3").delivery.key);
  EXPECT_EQ(number(world.control(person, about("cancel", queued)), "count"), 1);
  bob = join_host(world);
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(world.broker().roster().at(1).pending, 0u);
  EXPECT_EQ(world.broker().roster().at(1).held, 0u);
}

TEST_F(Steering, ReadSettlesPendingDeliveryOfOfflineAgentAsSeen) {
  const auto bob = join_callback(world);
  world.leave(bob);
  world.send(alice, "message-1", "Bob", "one");
  const auto id = records::delivery_id(ledger(world, "message-1").delivery.key);
  EXPECT_EQ(number(world.control(person, about("read", id)), "count"), 1);
  EXPECT_EQ(state("message-1"), DeliveryState::Delivered);
  EXPECT_EQ(last_reason("message-1"), "read in the inbox");
  EXPECT_TRUE(text(world.control(person, about("read", id)), "error").contains("has ended already"));
}

TEST_F(Steering, ReadLeavesToASessionWhatItGetsItself) {
  (void)join_callback(world);
  world.send(alice, "message-1", "Bob", "one", in_mode("manual"));
  const auto id = records::delivery_id(ledger(world, "message-1").delivery.key);
  EXPECT_TRUE(text(world.control(person, about("read", id)), "error").contains("gets it itself"));
  EXPECT_NE(state("message-1"), DeliveryState::Delivered);
}

TEST_F(Steering, CancelOfFinalDeliveryIsRefused) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, R"("status":"delivered","proof":"submitted")");
  const auto answer = world.control(person, about("cancel", id));
  EXPECT_EQ(bool_member(answer, "success"), false);
  EXPECT_EQ(text(answer, "error"), format("{} has ended already: it is delivered", id));
  EXPECT_EQ(text(world.control(person, about("cancel", "d-22222222")), "error"), "no delivery is called d-22222222");
  EXPECT_EQ(text(world.control(person, about("cancel", "nonsense")), "error"),
            "'nonsense' is no delivery's id; `agent-relay trace` shows them");
}

TEST_F(Steering, RedeliverCreatesDeliveryWithNewId) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto old = given(world, bob).at(0);
  world.receipt(bob, old, kFailed);
  const auto answer = world.control(person, about("redeliver", old));
  EXPECT_EQ(number(answer, "count"), 1);
  const auto fresh = world.received(bob, "DELIVER").at(0);
  EXPECT_NE(text(fresh, "id"), old);
  EXPECT_EQ(body(fresh), "hi");
  EXPECT_EQ(seq_of(fresh), 2u);
  EXPECT_EQ(answer.at("deliveryIds").as_array().at(0).as_string(), text(fresh, "id"));
  EXPECT_EQ(state(old), DeliveryState::Cancelled);
  EXPECT_EQ(last_reason(old), format("redelivered as {} by a person", text(fresh, "id")));
  const auto again = world.control(person, about("redeliver", old));
  EXPECT_EQ(text(again, "error"), format("{} cannot be delivered anew: it is cancelled", old));
}

TEST_F(Steering, RedeliverOfAllTakesWhatIsInDoubtOnlyWhenNamed) {
  const auto bob = join_host(world);
  for (const auto* id : {"message-1", "message-2", "message-3"}) world.send(alice, id, "Bob", id);
  const auto ids = given(world, bob);
  world.receipt(bob, ids.at(0), kFailed);
  world.receipt(bob, ids.at(1), R"("status":"in_doubt")");
  EXPECT_EQ(number(world.control(person, R"("action":"redeliver","all":true)"), "count"), 1);
  EXPECT_EQ(world.bodies(bob), Texts{"message-1"});
  EXPECT_EQ(number(world.control(person, R"("action":"redeliver","all":true,"agent":"Alice")"), "count"), 0);
  EXPECT_EQ(number(world.control(person, R"("action":"redeliver","all":true,"states":["in_doubt"])"), "count"), 1);
  EXPECT_EQ(world.bodies(bob), Texts{"message-2"});
}

TEST_F(Steering, RedeliverOfAllKeepsTheOrderOfTheMessages) {
  const auto bob = join_host(world);
  for (const auto* id : {"message-1", "message-2", "message-3"}) world.send(alice, id, "Bob", id);
  for (const auto& id : given(world, bob)) world.receipt(bob, id, kFailed);
  EXPECT_EQ(number(world.control(person, R"("action":"redeliver","all":true)"), "count"), 3);
  EXPECT_EQ(world.bodies(bob), (Texts{"message-1", "message-2", "message-3"}));
}

TEST_F(Steering, RedeliverOfAllReadsShortPagesOfLongMessages) {
  const auto bob = world.join("Bob", R"("capabilities":{"ack":true,"send_ack":true,"max_inflight":1000})");
  const std::string much(500'000, 'x');
  for (int i = 0; i < 12; ++i) world.send(alice, format("m{}", i), "Bob", much);
  for (auto ids = given(world, bob); !ids.empty(); ids = given(world, bob)) {
    for (const auto& id : ids) world.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BAD_REQUEST"}})", id));
    world.take_all_output(bob);
  }
  EXPECT_EQ(number(world.control(person, R"("action":"redeliver","all":true)"), "count"), 12);
}

TEST_F(Steering, FailedCommitOfRedeliverIsReported) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, kFailed);
  world.fail_commits(true);
  EXPECT_EQ(text(world.control(person, about("redeliver", id)), "error"), "it could not be stored; try again");
  world.fail_commits(false);
  world.pass(2s);
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(number(world.control(person, about("redeliver", id)), "count"), 1);
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Steering, PauseHoldsEverythingAndUnpauseLetsItGo) {
  auto bob = join_host(world);
  EXPECT_EQ(number(world.control(person, R"("action":"pause","agent":"Bob","reason":"lunch")"), "count"), 1);
  auto order = world.received(bob, "PAUSE").at(0);
  EXPECT_EQ(bool_member(payload(order), "paused"), true);
  EXPECT_EQ(text(payload(order), "reason"), "lunch");
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi", in_mode("immediate"));
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(last_reason("message-1"), "it is paused by a person: lunch");
  EXPECT_EQ(receipts(world, alice), Texts{"deferred"});

  world.restart();
  person = world.join_user();
  bob = join_host(world);
  const auto frames = world.received(bob);
  EXPECT_EQ(text(frames.at(1), "type"), "PAUSE") << "it is told after WELCOME";
  EXPECT_EQ(frames.size(), 2u);
  EXPECT_EQ(number(world.control(person, R"("action":"unpause","agent":"Bob")"), "count"), 1);
  const auto heard = world.received(bob);
  ASSERT_EQ(heard.size(), 2u);
  EXPECT_EQ(bool_member(payload(heard[0]), "paused"), false);
  EXPECT_EQ(body(heard[1]), "hi");
  EXPECT_EQ(number(world.control(person, R"("action":"unpause","agent":"Bob")"), "count"), 0);
}

TEST_F(Steering, InvalidRequestIsExplained) {
  EXPECT_EQ(text(world.control(person, R"("action":"flush","agent":"Nobody")"), "error"), "no agent is named 'Nobody'");
  const auto answer = world.control(person, R"("action":"explode")");
  EXPECT_EQ(bool_member(answer, "success"), false);
  EXPECT_FALSE(text(answer, "error").empty());
}

}  // namespace
}  // namespace relay::broker
