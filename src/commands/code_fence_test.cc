#include "commands/code_fence.h"

#include <gtest/gtest.h>

namespace relay::commands {
namespace {

TEST(CodeFence, OpensWithThreeMarksOrMore) {
  EXPECT_FALSE(opened_fence("``"));
  EXPECT_FALSE(opened_fence("text ```"));
  EXPECT_FALSE(opened_fence("``` a ` b"));
  EXPECT_EQ(opened_fence("`````js")->length, 5U);
  EXPECT_EQ(opened_fence("  ~~~ a ` b")->mark, '~');
  EXPECT_EQ(opened_fence("> - ```")->quote_depth, 1U);
  EXPECT_TRUE(opened_fence("12) ```sh"));
}

TEST(CodeFence, ClosesWithTheSameMarkAtLeastAsLong) {
  const auto fence = *opened_fence("````");
  EXPECT_EQ(within_fence(fence, "```"), FenceLine::Inside);
  EXPECT_EQ(within_fence(fence, "~~~~"), FenceLine::Inside);
  EXPECT_EQ(within_fence(fence, "```` js"), FenceLine::Inside);
  EXPECT_EQ(within_fence(fence, "> ````"), FenceLine::Inside);
  EXPECT_EQ(within_fence(fence, "  ````` "), FenceLine::Closes);
}

TEST(CodeFence, EndsWithItsQuote) {
  const auto fence = *opened_fence("> ```");
  EXPECT_EQ(within_fence(fence, "> code"), FenceLine::Inside);
  EXPECT_EQ(within_fence(fence, "prose"), FenceLine::Left);
  EXPECT_EQ(within_fence(fence, ">```"), FenceLine::Closes);
}

}  // namespace
}  // namespace relay::commands
