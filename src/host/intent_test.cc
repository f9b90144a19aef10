#include "host/intent.h"

#include <gtest/gtest.h>

#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

using protocol::ReceiptStatus;

struct IntentTest : testing::Test {
  client::testing::MemoryDirectory disk;

  Intent opened() {
    Intent intent{disk, "Bob.intent"};
    EXPECT_TRUE(intent.load());
    return intent;
  }
  static protocol::Receipt delivered() { return {.status = ReceiptStatus::Delivered, .proof = "submitted"}; }
};

TEST_F(IntentTest, EachNoteIsFoundByTheNextOne) {
  EXPECT_FALSE(opened().holds("d-1"));
  ASSERT_TRUE(opened().add("d-1"));
  ASSERT_TRUE(opened().add("d-2"));
  EXPECT_TRUE(opened().holds("d-1") && opened().holds("d-2"));
}

TEST_F(IntentTest, AnEndThatWasSeenIsKnownToTheNextOne) {
  {
    auto intent = opened();
    ASSERT_TRUE(intent.add("d-1") && intent.add("d-2"));
    intent.add_end("d-1", delivered());
  }
  const auto next = opened();
  EXPECT_TRUE(next.holds("d-1") && next.holds("d-2"));
  ASSERT_TRUE(next.end_of("d-1"));
  EXPECT_EQ(next.end_of("d-1")->status, ReceiptStatus::Delivered);
  EXPECT_EQ(next.end_of("d-1")->proof, "submitted");
  EXPECT_FALSE(next.end_of("d-2"));
}

TEST_F(IntentTest, OfWhatWasNeverNotedNoEndIsKept) {
  opened().add_end("d-1", delivered());
  EXPECT_FALSE(opened().holds("d-1"));
}

TEST_F(IntentTest, AFileThatWasCutIsAsGoodAsWhatIsLeftOfIt) {
  {
    auto intent = opened();
    ASSERT_TRUE(intent.add("d-1") && intent.add("d-2"));
    intent.add_end("d-2", delivered());
  }
  const auto whole = *disk.bytes("Bob.intent");
  const auto first_end = whole.rfind("d-2 ");
  for (auto cut = first_end; cut < whole.size() - 1; ++cut) {
    *disk.bytes("Bob.intent") = whole.substr(0, cut);
    ASSERT_TRUE(opened().add("d-3"));
    const auto next = opened();
    EXPECT_TRUE(next.holds("d-1") && next.holds("d-2") && next.holds("d-3")) << "cut at byte " << cut;
    EXPECT_FALSE(next.end_of("d-2")) << "cut at byte " << cut;
  }
}

TEST_F(IntentTest, WhatCouldNotBeWrittenIsNotNotedAndSpoilsNothing) {
  auto intent = opened();
  ASSERT_TRUE(intent.add("d-1"));
  disk.fail_appends = 1;
  EXPECT_FALSE(intent.add("d-2"));
  EXPECT_FALSE(intent.holds("d-2"));
  ASSERT_TRUE(intent.add("d-3"));
  const auto next = opened();
  EXPECT_TRUE(next.holds("d-1") && next.holds("d-3"));
  EXPECT_FALSE(next.holds("d-2"));
}

TEST_F(IntentTest, KeepsABoundedNumberOfNotesInABoundedFile) {
  auto intent = opened();
  std::size_t longest = 0;
  for (std::size_t i = 0; i < 4 * Intent::kMaxNotes; ++i) {
    const auto delivery = "d-" + std::to_string(i);
    ASSERT_TRUE(intent.add(delivery));
    intent.add_end(delivery, delivered());
    longest = std::max(longest, disk.bytes("Bob.intent")->size());
  }
  EXPECT_LT(longest, 4 * Intent::kMaxNotes * 100);
  const auto next = opened();
  for (const auto* each : {&std::as_const(intent), &next}) {
    EXPECT_FALSE(each->holds("d-" + std::to_string(3 * Intent::kMaxNotes - 1)));
    EXPECT_TRUE(each->holds("d-" + std::to_string(3 * Intent::kMaxNotes)));
    EXPECT_TRUE(each->end_of("d-" + std::to_string(4 * Intent::kMaxNotes - 1)));
  }
}

}  // namespace
}  // namespace relay::host
