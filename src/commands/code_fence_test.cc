#include "commands/code_fence.h"

#include <gtest/gtest.h>

namespace relay::commands {
namespace {

TEST(CodeFence, OpensWithThreeMarksOrMore) {
  EXPECT_FALSE(fence_opening("``"));
  EXPECT_FALSE(fence_opening("text ```"));
  EXPECT_FALSE(fence_opening("``` a ` b"));
  EXPECT_EQ(fence_opening("`````js")->length, 5U);
  EXPECT_EQ(fence_opening("  ~~~ a ` b")->mark, '~');
  EXPECT_EQ(fence_opening("> - ```")->quote_depth, 1U);
  EXPECT_TRUE(fence_opening("12) ```sh"));
}

TEST(CodeFence, ClosesWithTheSameMarkAtLeastAsLong) {
  const auto fence = *fence_opening("````");
  EXPECT_EQ(classify_fence_line(fence, "```"), FenceLine::Inside);
  EXPECT_EQ(classify_fence_line(fence, "~~~~"), FenceLine::Inside);
  EXPECT_EQ(classify_fence_line(fence, "```` js"), FenceLine::Inside);
  EXPECT_EQ(classify_fence_line(fence, "> ````"), FenceLine::Inside);
  EXPECT_EQ(classify_fence_line(fence, "  ````` "), FenceLine::Closes);
}

TEST(CodeFence, EndsWithItsQuote) {
  const auto fence = *fence_opening("> ```");
  EXPECT_EQ(classify_fence_line(fence, "> code"), FenceLine::Inside);
  EXPECT_EQ(classify_fence_line(fence, "prose"), FenceLine::Left);
  EXPECT_EQ(classify_fence_line(fence, ">```"), FenceLine::Closes);
}

}  // namespace
}  // namespace relay::commands
