// Deliveries that a session fails or defers: retries with growing pauses, until the delivery is dead.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

constexpr auto kRetryable = R"("status":"failed","retryable":true,"reason":"no luck")";
constexpr auto kSubmitted = R"("status":"delivered","proof":"submitted")";

struct Retries : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture), bob = join_host(fixture);

  /// Sends message-1 to Bob; returns the id of its delivery.
  std::string send() {
    fixture.send(alice, "message-1", "Bob", "hi");
    return delivered_ids(fixture, bob).at(0);
  }
};
using Deferral = Retries;

TEST_F(Retries, PausesGrowAndIdStaysWithNewNumbers) {
  fixture.send(alice, "message-1", "Bob", "hi");
  const auto first = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(integer_field(delivery_block(first), "attempt"), -1);
  const std::string id = string_field(first, "id");
  Millis pause = 1s;
  for (int failure = 1; failure < 8; ++failure, pause *= 2) {
    fixture.send_receipt(bob, id, kRetryable);
    fixture.advance(pause - 1ms);
    EXPECT_TRUE(delivered_ids(fixture, bob).empty()) << failure;
    fixture.advance(1ms);
    const auto again = fixture.received(bob, "DELIVER");
    ASSERT_EQ(again.size(), 1u) << failure;
    EXPECT_EQ(string_field(again[0], "id"), id);
    EXPECT_EQ(seq_of(again[0]), static_cast<std::uint64_t>(failure) + 1);
    EXPECT_EQ(integer_field(delivery_block(again[0]), "attempt"), failure + 1);
  }
  fixture.drop_received(alice);
  fixture.send_receipt(bob, id, kRetryable);
  const auto end = fixture.received(alice, "RECEIPT");
  ASSERT_EQ(end.size(), 1u);
  EXPECT_EQ(string_field(payload(end[0]), "status"), "failed");
  EXPECT_EQ(string_field(payload(end[0]), "reason"), "gave up after 8 attempts; the last error: no luck");
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::Dead);
  fixture.advance(std::chrono::hours{1});
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
}

TEST_F(Retries, EndOneDayAfterFirst) {
  const auto id = send();
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.advance(std::chrono::hours{24});  // it was not tried yet
  fixture.send_receipt(bob, id, kRetryable);
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.state, records::DeliveryState::Deferred);
  fixture.disconnect(bob);
  fixture.advance(std::chrono::hours{24});
  bob = join_host(fixture);
  fixture.send_receipt(bob, delivered_ids(fixture, bob).at(0), kRetryable);
  const auto entry = trace_entry(fixture, "message-1");
  EXPECT_EQ(entry.delivery.state, records::DeliveryState::Dead);
  EXPECT_EQ(entry.history.back().reason, "gave up after a day; the last error: no luck");
  EXPECT_EQ(entry.delivery.attempts, 2u);
}

TEST_F(Retries, WaitForRetryAfterUpToLimit) {
  bob = fixture.join_with_acks("Bob");
  const auto id = send();
  fixture.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BUSY","retry_after_ms":30000}})", id));
  fixture.advance(29s);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.advance(1s);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{id});
  fixture.request(bob, "NACK", format(R"({{"nack_id":"{}","code":"BUSY","retry_after_ms":999999999}})", id));
  fixture.advance(5min);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{id});
}

TEST_F(Retries, DoNotBlockLaterDeliveries) {
  fixture.send(alice, "bad", "Bob", "bad");
  const auto bad = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, bad, kRetryable);
  fixture.send(alice, "good", "Bob", "good");
  const auto good = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(body(good), "good");
  fixture.send_receipt(bob, string_field(good, "id"), kSubmitted);
  fixture.advance(1s);
  const auto again = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(string_field(again, "id"), bad);
  EXPECT_GT(seq_of(again), seq_of(good));
}

TEST_F(Retries, SurviveRestartAlsoWhenDueMeanwhile) {
  for (const auto downtime : {0s, 10s}) {
    BrokerFixture run{no_heartbeat()};
    const auto sender = join_sender(run);
    auto recipient = join_host(run);
    run.send(sender, "message-1", "Bob", "hi");
    const auto id = delivered_ids(run, recipient).at(0);
    run.send_receipt(recipient, id, kRetryable);
    run.now().wall += Millis{downtime}.count();
    run.restart();
    recipient = join_host(run);
    if (downtime == 0s) { EXPECT_TRUE(delivered_ids(run, recipient).empty()); }
    run.advance(1s);
    EXPECT_EQ(delivered_ids(run, recipient), Strings{id});
  }
}

TEST_F(Retries, GoToSessionThatJoinsAfterDueTime) {
  const auto id = send();
  fixture.send_receipt(bob, id, kRetryable);
  fixture.disconnect(bob);
  fixture.advance(5s);
  bob = join_host(fixture);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{id});
}

TEST_F(Deferral, ReturnsDeliveryUntilItsTime) {
  fixture.send(alice, "message-1", "Bob", "hi");
  fixture.drop_received(alice);
  const auto id = delivered_ids(fixture, bob).at(0);
  const auto until = fixture.now().wall + 60'000;
  fixture.send_receipt(bob, id, format(R"("status":"deferred","availableAt":{},"reason":"a dialog is open")", until));
  const auto receipt = fixture.first_frame(alice, "RECEIPT");
  EXPECT_EQ(receipt_summary(receipt), "deferred");
  EXPECT_EQ(integer_field(payload(receipt), "availableAt"), until);
  EXPECT_EQ(string_field(payload(receipt), "reason"), "a dialog is open");
  fixture.advance(59s);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.advance(1s);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{id});
  EXPECT_EQ(trace_entry(fixture, "message-1").delivery.attempts, 0u) << "a deferral is not a failure";
}

TEST_F(Deferral, WithoutTimeLeavesDeliveryWithSession) {
  const auto id = send();
  fixture.send_receipt(bob, id, R"("status":"deferred","reason":"the user is typing")");
  fixture.advance(10min);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.send_receipt(bob, id, kSubmitted);
  EXPECT_EQ(history_of(trace_entry(fixture, "message-1")),
            (Strings{"queued", "deferred/accepted", "delivered/submitted"}));
}

TEST_F(Retries, AreImmediateOnRequest) {
  const auto user = fixture.join_user();
  const auto id = send();
  const auto retry = format(R"("action":"retry","deliveryId":"{}")", id);
  EXPECT_EQ(string_field(fixture.control(user, retry), "error"),
            format("{} is not held until a retry: it is queued", id));
  fixture.send_receipt(bob, id, kRetryable);
  EXPECT_EQ(integer_field(fixture.control(user, retry), "count"), 1);
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{id});
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  fixture.advance(1min);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty()) << "the original due time has no effect";
}

}  // namespace
}  // namespace relay::broker
