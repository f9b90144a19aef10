#include "client/custody.h"

#include <gtest/gtest.h>

#include "base/format.h"

namespace relay::client {
namespace {

using protocol::Receipt;
using protocol::ReceiptStatus;

TEST(Custody, SaysWhyADeliveryWaitsOnlyWhileItIsInHand) {
  Custody custody;
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::Accepted}));
  custody.take({.id = "d-1", .seq = 1});
  EXPECT_EQ(custody.report("d-1", {.status = ReceiptStatus::Accepted})->delivery_id, "d-1");
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Deferred}));
  EXPECT_NE(custody.find("d-1"), nullptr);
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Deferred, .available_at = 5}));
  EXPECT_EQ(custody.find("d-1"), nullptr);
  EXPECT_FALSE(custody.report("d-1", {.status = ReceiptStatus::Accepted}));
}

TEST(Custody, ForgetsTheLastWordWhenTheDeliveryComesAnew) {
  Custody custody;
  custody.take({.id = "d-1", .seq = 1});
  (void)custody.report("d-1", {.status = ReceiptStatus::Failed, .retryable = true});
  EXPECT_TRUE(custody.word_about("d-1")->retryable);
  custody.take({.id = "d-1", .seq = 2});
  EXPECT_EQ(custody.word_about("d-1"), nullptr);
  EXPECT_TRUE(custody.report("d-1", {.status = ReceiptStatus::Delivered}));
}

TEST(Custody, RemembersABoundedNumberOfLastWords) {
  Custody custody;
  for (std::size_t i = 0; i <= kMaxUnacknowledged; ++i) {
    custody.take({.id = format("d-{}", i)});
    (void)custody.report(format("d-{}", i), {.status = ReceiptStatus::InDoubt});
  }
  EXPECT_EQ(custody.word_about("d-0"), nullptr);
  EXPECT_NE(custody.word_about("d-1"), nullptr);
}

TEST(Custody, HasABoundInHandToo) {
  Custody custody;
  for (std::size_t i = 0; i < kMaxUnacknowledged; ++i) custody.take({.id = format("d-{}", i)});
  EXPECT_TRUE(custody.full());
  EXPECT_EQ(custody.let_go("d-7")->id, "d-7");
  EXPECT_FALSE(custody.full());
}

}  // namespace
}  // namespace relay::client
