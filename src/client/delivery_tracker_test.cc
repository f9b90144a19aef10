#include "client/delivery_tracker.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::client {
namespace {

using protocol::Receipt;
using protocol::ReceiptStatus;

TEST(DeliveryTracker, PendingReasonIsReportedOnlyWhileUnsettled) {
  DeliveryTracker custody;
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::Accepted}));
  custody.take({.id = "d-1", .seq = 1});
  EXPECT_EQ(custody.report("d-1", {.status = ReceiptStatus::Accepted})->delivery_id, "d-1");
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Deferred}));
  EXPECT_NE(custody.find("d-1"), nullptr);
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Deferred, .available_at = 5}));
  EXPECT_EQ(custody.find("d-1"), nullptr);
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::Accepted}));
}

TEST(DeliveryTracker, NewDeliveryClearsTheLastReceipt) {
  DeliveryTracker custody;
  custody.take({.id = "d-1", .seq = 1});
  (void)custody.report("d-1", {.status = ReceiptStatus::Failed, .retryable = true});
  EXPECT_TRUE(custody.last_receipt("d-1")->retryable);
  custody.take({.id = "d-1", .seq = 2});
  EXPECT_EQ(custody.last_receipt("d-1"), nullptr);
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Delivered}));
}

TEST(DeliveryTracker, ReturnIsReportedOncePerConnection) {
  const Receipt given_back{.status = ReceiptStatus::Failed, .retryable = true};
  DeliveryTracker custody;
  custody.take({.id = "d-1", .seq = 1});
  (void)custody.report("d-1", given_back);
  EXPECT_FALSE(custody.should_resend("d-1")) << "the repetition was sent before the receipt arrived";
  custody.on_new_connection();
  EXPECT_TRUE(custody.should_resend("d-1"));
  EXPECT_FALSE(custody.should_resend("d-1"));
}

TEST(DeliveryTracker, ReceiptOfAnEarlierConnectionIsResent) {
  const Receipt given_back{.status = ReceiptStatus::Failed, .retryable = true};
  DeliveryTracker custody;
  custody.take({.id = "d-1", .seq = 1});
  custody.on_new_connection();
  (void)custody.report("d-1", given_back);
  EXPECT_TRUE(custody.should_resend("d-1")) << "the daemon did not know that we have it";
  custody.take({.id = "d-2", .seq = 1});
  custody.on_new_connection();
  custody.on_redelivered("d-2");
  (void)custody.report("d-2", given_back);
  EXPECT_FALSE(custody.should_resend("d-2"));
}

TEST(DeliveryTracker, NewestFinalReceiptsAreResentAfterAReconnection) {
  DeliveryTracker custody;
  for (const auto* id : {"d-1", "d-2", "d-3"}) custody.take({.id = id, .seq = 1});
  (void)custody.report("d-1", {.status = ReceiptStatus::Delivered, .proof = "submitted"});
  (void)custody.report("d-2", {.status = ReceiptStatus::Failed, .retryable = true});
  EXPECT_TRUE(custody.take_resends().empty());
  custody.on_new_connection();
  const auto owed = custody.take_resends();
  ASSERT_EQ(owed.size(), 1u);
  EXPECT_EQ(owed[0].delivery_id, "d-1");
  EXPECT_TRUE(custody.take_resends().empty());
}

TEST(DeliveryTracker, FinalReceiptIsResentForEachRedelivery) {
  DeliveryTracker custody;
  custody.take({.id = "d-1", .seq = 1});
  (void)custody.report("d-1", {.status = ReceiptStatus::Delivered});
  EXPECT_TRUE(custody.should_resend("d-1"));
  EXPECT_TRUE(custody.should_resend("d-1"));
}

TEST(DeliveryTracker, AckIsReplacedOnlyByAStrongerProof) {
  DeliveryTracker custody;
  EXPECT_FALSE(custody.acknowledge("d-1"));
  custody.take({.id = "d-1", .seq = 1});
  EXPECT_EQ(custody.acknowledge("d-1")->seq, 1U);
  EXPECT_FALSE(custody.acknowledge("d-1"));
  EXPECT_TRUE(custody.acknowledged("d-1"));
  EXPECT_EQ(custody.last_receipt("d-1")->status, ReceiptStatus::Delivered);
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::Failed}));
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Delivered, .proof = "seen"}));
  EXPECT_FALSE(custody.acknowledged("d-1"));
}

TEST(DeliveryTracker, DeliveredReplacesInDoubt) {
  DeliveryTracker custody;
  custody.take({.id = "d-1", .seq = 1});
  (void)custody.report("d-1", {.status = ReceiptStatus::InDoubt});
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::Failed}));
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Delivered, .proof = "seen"}));
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::InDoubt}));
}

TEST(DeliveryTracker, LastReceiptsAreBounded) {
  DeliveryTracker custody;
  for (std::size_t i = 0; i <= kMaxUnacknowledged; ++i) {
    custody.take({.id = format("d-{}", i)});
    (void)custody.report(format("d-{}", i), {.status = ReceiptStatus::InDoubt});
  }
  EXPECT_EQ(custody.last_receipt("d-0"), nullptr);
  EXPECT_NE(custody.last_receipt("d-1"), nullptr);
}

TEST(DeliveryTracker, UnsettledDeliveriesAreBounded) {
  DeliveryTracker custody;
  for (std::size_t i = 0; i < kMaxUnacknowledged; ++i) custody.take({.id = format("d-{}", i)});
  EXPECT_TRUE(custody.full());
  EXPECT_EQ(custody.acknowledge("d-7")->id, "d-7");
  EXPECT_FALSE(custody.full());
}

}  // namespace
}  // namespace relay::client
