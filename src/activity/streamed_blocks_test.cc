#include "activity/streamed_blocks.h"

#include <gtest/gtest.h>

namespace relay::activity {
namespace {

using events::ItemType;

TEST(DueDelta, EndsAtALineEndOrTheSizeLimit) {
  EXPECT_EQ(due_delta("half a line", 0), "");
  EXPECT_EQ(due_delta("one\ntwo\nthr", 0), "one\ntwo\n");
  EXPECT_EQ(due_delta("one\ntwo\nthr", 8), "");
  const std::string long_line(kMinDeltaBytes, 'x');
  EXPECT_EQ(due_delta("one\n" + long_line, 4), long_line);
  EXPECT_EQ(due_delta("short", 99), "");
}

TEST(StreamedBlocks, AreFinishedByIdOrPrefix) {
  StreamedBlocks blocks;
  ASSERT_NE(blocks.append(ItemType::Message, "a", "first "), nullptr);
  EXPECT_EQ(blocks.append(ItemType::Message, "a", "block")->text, "first block");
  ASSERT_NE(blocks.append(ItemType::Message, "b", "second"), nullptr);
  EXPECT_FALSE(blocks.finish(ItemType::Thinking, "x", "second block"));
  EXPECT_EQ(blocks.finish(ItemType::Message, "row", "second block")->id, "b");
  EXPECT_EQ(blocks.finish(ItemType::Message, "a", "anything")->text, "first block");
  EXPECT_EQ(blocks.append(ItemType::Message, "a", "late"), nullptr);
}

TEST(StreamedBlocks, IgnoreChunksOfACompletedBlock) {
  StreamedBlocks blocks;
  blocks.note_whole(ItemType::Message, "row", "Hello there.");
  EXPECT_EQ(blocks.append(ItemType::Message, "d1", "Hello"), nullptr);
  EXPECT_EQ(blocks.append(ItemType::Message, "d1", " there."), nullptr);
  EXPECT_NE(blocks.append(ItemType::Message, "d2", "Hello"), nullptr);
}

TEST(StreamedBlocks, AreBounded) {
  StreamedBlocks blocks;
  for (std::size_t i = 0; i < StreamedBlocks::kMaxBlocks; ++i)
    ASSERT_NE(blocks.append(ItemType::Message, std::to_string(i), "x"), nullptr);
  EXPECT_EQ(blocks.append(ItemType::Message, "more", "x"), nullptr);
  const std::string large(1 << 20, 'x');
  EXPECT_EQ(blocks.append(ItemType::Message, "0", large)->text.size(),
            static_cast<std::size_t>(events::kMaxContentBytes));
  EXPECT_EQ(blocks.take_all().size(), StreamedBlocks::kMaxBlocks);
}

}  // namespace
}  // namespace relay::activity
