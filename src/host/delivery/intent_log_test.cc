#include "host/delivery/intent_log.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

using protocol::ReceiptStatus;

struct IntentLogTest : ::testing::Test {
  client::testing::MemoryDirectory disk;

  IntentLog opened() {
    IntentLog intent{disk, "Bob.intent"};
    EXPECT_TRUE(intent.load());
    return intent;
  }
  static protocol::Receipt delivered() { return {.status = ReceiptStatus::Delivered, .proof = "submitted"}; }
};

TEST_F(IntentLogTest, IntentIsFoundByNextHost) {
  EXPECT_FALSE(opened().contains("d-1"));
  ASSERT_TRUE(opened().add("d-1"));
  ASSERT_TRUE(opened().add("d-2"));
  EXPECT_TRUE(opened().contains("d-1") && opened().contains("d-2"));
}

TEST_F(IntentLogTest, LoggedOutcomeIsLoaded) {
  {
    auto intent = opened();
    ASSERT_TRUE(intent.add("d-1") && intent.add("d-2"));
    intent.add_outcome("d-1", delivered());
  }
  const auto next = opened();
  EXPECT_TRUE(next.contains("d-1") && next.contains("d-2"));
  ASSERT_TRUE(next.outcome_of("d-1"));
  EXPECT_EQ(next.outcome_of("d-1")->status, ReceiptStatus::Delivered);
  EXPECT_EQ(next.outcome_of("d-1")->proof, "submitted");
  EXPECT_FALSE(next.outcome_of("d-2"));
}

TEST_F(IntentLogTest, OutcomeWithoutIntentIsIgnored) {
  opened().add_outcome("d-1", delivered());
  EXPECT_FALSE(opened().contains("d-1"));
}

TEST_F(IntentLogTest, TruncatedFileKeepsWholeLines) {
  {
    auto intent = opened();
    ASSERT_TRUE(intent.add("d-1") && intent.add("d-2"));
    intent.add_outcome("d-2", delivered());
  }
  const auto whole = *disk.bytes("Bob.intent");
  const auto first_end = whole.rfind("d-2 ");
  for (auto cut = first_end; cut < whole.size() - 1; ++cut) {
    *disk.bytes("Bob.intent") = whole.substr(0, cut);
    ASSERT_TRUE(opened().add("d-3"));
    const auto next = opened();
    EXPECT_TRUE(next.contains("d-1") && next.contains("d-2") && next.contains("d-3")) << "cut at byte " << cut;
    EXPECT_FALSE(next.outcome_of("d-2")) << "cut at byte " << cut;
  }
}

TEST_F(IntentLogTest, FailedWriteLogsNothing) {
  auto intent = opened();
  ASSERT_TRUE(intent.add("d-1"));
  disk.fail_appends = 1;
  EXPECT_FALSE(intent.add("d-2"));
  EXPECT_FALSE(intent.contains("d-2"));
  ASSERT_TRUE(intent.add("d-3"));
  const auto next = opened();
  EXPECT_TRUE(next.contains("d-1") && next.contains("d-3"));
  EXPECT_FALSE(next.contains("d-2"));
}

TEST_F(IntentLogTest, IntentsAndFileAreBounded) {
  auto intent = opened();
  std::size_t max_bytes = 0;
  for (std::size_t i = 0; i < 4 * IntentLog::kMaxIntents; ++i) {
    const auto delivery = "d-" + std::to_string(i);
    ASSERT_TRUE(intent.add(delivery));
    intent.add_outcome(delivery, delivered());
    max_bytes = std::max(max_bytes, disk.bytes("Bob.intent")->size());
  }
  EXPECT_LT(max_bytes, 4 * IntentLog::kMaxIntents * 100);
  const auto next = opened();
  for (const auto* each : {&std::as_const(intent), &next}) {
    EXPECT_FALSE(each->contains("d-" + std::to_string(3 * IntentLog::kMaxIntents - 1)));
    EXPECT_TRUE(each->contains("d-" + std::to_string(3 * IntentLog::kMaxIntents)));
    EXPECT_TRUE(each->outcome_of("d-" + std::to_string(4 * IntentLog::kMaxIntents - 1)));
  }
}

}  // namespace
}  // namespace relay::host
