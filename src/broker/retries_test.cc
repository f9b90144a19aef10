// What a session fails with comes again, later and later, and in the end waits for a person.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr auto kFailed = R"("status":"failed","retryable":true,"reason":"no luck")";
constexpr auto kSubmitted = R"("status":"delivered","proof":"submitted")";

TEST(Retries, ComeLaterAndLaterWithTheSameIdAndANewNumber) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto first = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(number(delivery_block(first), "attempt"), -1);
  const std::string id = text(first, "id");
  Millis pause = 1s;
  for (int failure = 1; failure < 8; ++failure, pause *= 2) {
    world.receipt(bob, id, kFailed);
    world.pass(pause - 1ms);
    EXPECT_TRUE(given(world, bob).empty()) << failure;
    world.pass(1ms);
    const auto again = world.received(bob, "DELIVER");
    ASSERT_EQ(again.size(), 1u) << failure;
    EXPECT_EQ(text(again[0], "id"), id);
    EXPECT_EQ(seq_of(again[0]), static_cast<std::uint64_t>(failure) + 1);
    EXPECT_EQ(number(delivery_block(again[0]), "attempt"), failure + 1);
  }
  world.received(alice);
  world.receipt(bob, id, kFailed);
  const auto end = world.received(alice, "RECEIPT");
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(text(payload(end[0]), "status"), "failed");
  EXPECT_EQ(text(payload(end[0]), "reason"), "given up after 8 tries; the last: no luck");
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::Dead);
  world.pass(std::chrono::hours{1});
  EXPECT_TRUE(given(world, bob).empty());
}

TEST(Retries, EndADayAfterTheFirst) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, R"("status":"accepted")");
  world.pass(std::chrono::hours{24});  // it was not tried yet
  world.receipt(bob, id, kFailed);
  EXPECT_EQ(ledger(world, "message-1").delivery.state, records::DeliveryState::Deferred);
  world.leave(bob);
  world.pass(std::chrono::hours{24});
  bob = join_host(world);
  world.receipt(bob, given(world, bob).at(0), kFailed);
  const auto entry = ledger(world, "message-1");
  EXPECT_EQ(entry.delivery.state, records::DeliveryState::Dead);
  EXPECT_EQ(entry.history.back().reason, "given up after a day of tries; the last: no luck");
  EXPECT_EQ(entry.delivery.attempts, 2u);
}

TEST(Retries, WaitAsLongAsARefusalAsksForButNotForEver) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  const auto bob = world.join_ours("Bob");
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  world.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BUSY","retry_after_ms":30000}})", id));
  world.pass(29s);
  EXPECT_TRUE(given(world, bob).empty());
  world.pass(1s);
  EXPECT_EQ(given(world, bob), Texts{id});
  world.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BUSY","retry_after_ms":999999999}})", id));
  world.pass(5min);
  EXPECT_EQ(given(world, bob), Texts{id});
}

TEST(Retries, DoNotKeepThoseBehindThemWaiting) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  const auto bob = join_host(world);
  world.send(alice, "bad", "Bob", "bad");
  const auto bad = given(world, bob).at(0);
  world.receipt(bob, bad, kFailed);
  world.send(alice, "good", "Bob", "good");
  const auto good = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(body(good), "good");
  world.receipt(bob, text(good, "id"), kSubmitted);
  world.pass(1s);
  const auto again = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(text(again, "id"), bad);
  EXPECT_GT(seq_of(again), seq_of(good));
}

TEST(Retries, SurviveTheDaemonAlsoWhenTheirTimeComesMeanwhile) {
  for (const auto away : {0s, 10s}) {
    BrokerFixture world{no_heartbeat()};
    const auto alice = join_sender(world);
    auto bob = join_host(world);
    world.send(alice, "message-1", "Bob", "hi");
    const auto id = given(world, bob).at(0);
    world.receipt(bob, id, kFailed);
    world.now().wall += Millis{away}.count();
    world.restart();
    bob = join_host(world);
    if (away == 0s) { EXPECT_TRUE(given(world, bob).empty()); }
    world.pass(1s);
    EXPECT_EQ(given(world, bob), Texts{id});
  }
}

TEST(Retries, GoToTheSessionAtTheirDueTime) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, kFailed);
  world.leave(bob);
  world.pass(5s);
  bob = join_host(world);
  EXPECT_EQ(given(world, bob), Texts{id});
}

TEST(Deferral, GivesADeliveryBackUntilItsTime) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  world.received(alice);
  const auto id = given(world, bob).at(0);
  const auto until = world.now().wall + 60'000;
  world.receipt(bob, id, format(R"("status":"deferred","availableAt":{},"reason":"a dialog is open")", until));
  const auto told = world.received(alice, "RECEIPT").at(0);
  EXPECT_EQ(receipt_word(told), "deferred");
  EXPECT_EQ(number(payload(told), "availableAt"), until);
  EXPECT_EQ(text(payload(told), "reason"), "a dialog is open");
  world.pass(59s);
  EXPECT_TRUE(given(world, bob).empty());
  world.pass(1s);
  EXPECT_EQ(given(world, bob), Texts{id});
  EXPECT_EQ(ledger(world, "message-1").delivery.attempts, 0u) << "putting off is no failure";
}

TEST(Deferral, WithoutATimeLeavesItWithTheSession) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, R"("status":"deferred","reason":"somebody types")");
  world.pass(10min);
  EXPECT_TRUE(given(world, bob).empty());
  world.receipt(bob, id, kSubmitted);
  EXPECT_EQ(lines_of(ledger(world, "message-1")), (Texts{"queued", "deferred/accepted", "delivered/submitted"}));
}

TEST(Retry, IsImmediateOnRequest) {
  BrokerFixture world{no_heartbeat()};
  const auto alice = join_sender(world);
  const auto bob = join_host(world);
  const auto person = world.join_user();
  world.send(alice, "message-1", "Bob", "hi");
  const auto id = given(world, bob).at(0);
  const auto ask = format(R"("action":"retry","deliveryId":"{}")", id);
  EXPECT_EQ(text(world.control(person, ask), "error"), format("{} does not wait for another try: it is queued", id));
  world.receipt(bob, id, kFailed);
  EXPECT_EQ(number(world.control(person, ask), "count"), 1);
  EXPECT_EQ(given(world, bob), Texts{id});
  world.receipt(bob, id, R"("status":"accepted")");
  world.pass(1min);
  EXPECT_TRUE(given(world, bob).empty()) << "its own time comes, and means nothing any more";
}

}  // namespace
}  // namespace relay::broker
