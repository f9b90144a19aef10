#include "client/delivery_tracker.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::client {
namespace {

using protocol::Receipt;
using protocol::ReceiptStatus;

TEST(DeliveryTracker, PendingReasonIsReportedOnlyWhileUnsettled) {
  DeliveryTracker tracker;
  EXPECT_FALSE(tracker.report("d-1", {.status = ReceiptStatus::Accepted}));
  tracker.take({.id = "d-1", .seq = 1});
  EXPECT_EQ(tracker.report("d-1", {.status = ReceiptStatus::Accepted})->delivery_id, "d-1");
  EXPECT_TRUE(tracker.report("d-1", {.status = ReceiptStatus::Deferred}));
  EXPECT_NE(tracker.find("d-1"), nullptr);
  EXPECT_TRUE(tracker.report("d-1", {.status = ReceiptStatus::Deferred, .available_at = 5}));
  EXPECT_EQ(tracker.find("d-1"), nullptr);
  EXPECT_FALSE(tracker.report("d-1", {.status = ReceiptStatus::Accepted}));
}

TEST(DeliveryTracker, NewDeliveryClearsTheLastReceipt) {
  DeliveryTracker tracker;
  tracker.take({.id = "d-1", .seq = 1});
  (void)tracker.report("d-1", {.status = ReceiptStatus::Failed, .retryable = true});
  EXPECT_TRUE(tracker.last_receipt("d-1")->retryable);
  tracker.take({.id = "d-1", .seq = 2});
  EXPECT_EQ(tracker.last_receipt("d-1"), nullptr);
  EXPECT_TRUE(tracker.report("d-1", {.status = ReceiptStatus::Delivered}));
}

TEST(DeliveryTracker, ReturnIsReportedOncePerConnection) {
  const Receipt given_back{.status = ReceiptStatus::Failed, .retryable = true};
  DeliveryTracker tracker;
  tracker.take({.id = "d-1", .seq = 1});
  (void)tracker.report("d-1", given_back);
  EXPECT_FALSE(tracker.should_resend("d-1")) << "the repetition was sent before the receipt arrived";
  tracker.on_new_connection();
  EXPECT_TRUE(tracker.should_resend("d-1"));
  EXPECT_FALSE(tracker.should_resend("d-1"));
}

TEST(DeliveryTracker, ReceiptOfAnEarlierConnectionIsResent) {
  const Receipt given_back{.status = ReceiptStatus::Failed, .retryable = true};
  DeliveryTracker tracker;
  tracker.take({.id = "d-1", .seq = 1});
  tracker.on_new_connection();
  (void)tracker.report("d-1", given_back);
  EXPECT_TRUE(tracker.should_resend("d-1")) << "the daemon may not have received the receipt";
  tracker.take({.id = "d-2", .seq = 1});
  tracker.on_new_connection();
  tracker.on_resent("d-2");
  (void)tracker.report("d-2", given_back);
  EXPECT_FALSE(tracker.should_resend("d-2"));
}

TEST(DeliveryTracker, NewestFinalReceiptsAreResentAfterAReconnection) {
  DeliveryTracker tracker;
  for (const auto* id : {"d-1", "d-2", "d-3"}) tracker.take({.id = id, .seq = 1});
  (void)tracker.report("d-1", {.status = ReceiptStatus::Delivered, .proof = "submitted"});
  (void)tracker.report("d-2", {.status = ReceiptStatus::Failed, .retryable = true});
  EXPECT_TRUE(tracker.take_resends().empty());
  tracker.on_new_connection();
  const auto owed = tracker.take_resends();
  ASSERT_EQ(owed.size(), 1u);
  EXPECT_EQ(owed[0].delivery_id, "d-1");
  EXPECT_TRUE(tracker.take_resends().empty());
}

TEST(DeliveryTracker, FinalReceiptIsResentForEachRedelivery) {
  DeliveryTracker tracker;
  tracker.take({.id = "d-1", .seq = 1});
  (void)tracker.report("d-1", {.status = ReceiptStatus::Delivered});
  EXPECT_TRUE(tracker.should_resend("d-1"));
  EXPECT_TRUE(tracker.should_resend("d-1"));
}

TEST(DeliveryTracker, AckIsReplacedOnlyByAStrongerProof) {
  DeliveryTracker tracker;
  EXPECT_FALSE(tracker.acknowledge("d-1"));
  tracker.take({.id = "d-1", .seq = 1});
  EXPECT_EQ(tracker.acknowledge("d-1")->seq, 1U);
  EXPECT_FALSE(tracker.acknowledge("d-1"));
  EXPECT_TRUE(tracker.acknowledged("d-1"));
  EXPECT_EQ(tracker.last_receipt("d-1")->status, ReceiptStatus::Delivered);
  EXPECT_FALSE(tracker.report("d-1", {.status = ReceiptStatus::Failed}));
  EXPECT_TRUE(tracker.report("d-1", {.status = ReceiptStatus::Delivered, .proof = "seen"}));
  EXPECT_FALSE(tracker.acknowledged("d-1"));
}

TEST(DeliveryTracker, DeliveredReplacesInDoubt) {
  DeliveryTracker tracker;
  tracker.take({.id = "d-1", .seq = 1});
  (void)tracker.report("d-1", {.status = ReceiptStatus::InDoubt});
  EXPECT_FALSE(tracker.report("d-1", {.status = ReceiptStatus::Failed}));
  EXPECT_TRUE(tracker.report("d-1", {.status = ReceiptStatus::Delivered, .proof = "seen"}));
  EXPECT_FALSE(tracker.report("d-1", {.status = ReceiptStatus::InDoubt}));
}

TEST(DeliveryTracker, LastReceiptsAreBounded) {
  DeliveryTracker tracker;
  for (std::size_t i = 0; i <= kMaxUnacknowledged; ++i) {
    tracker.take({.id = format("d-{}", i)});
    (void)tracker.report(format("d-{}", i), {.status = ReceiptStatus::InDoubt});
  }
  EXPECT_EQ(tracker.last_receipt("d-0"), nullptr);
  EXPECT_NE(tracker.last_receipt("d-1"), nullptr);
}

TEST(DeliveryTracker, UnsettledDeliveriesAreBounded) {
  DeliveryTracker tracker;
  for (std::size_t i = 0; i < kMaxUnacknowledged; ++i) tracker.take({.id = format("d-{}", i)});
  EXPECT_TRUE(tracker.full());
  EXPECT_EQ(tracker.acknowledge("d-7")->id, "d-7");
  EXPECT_FALSE(tracker.full());
}

}  // namespace
}  // namespace relay::client
