#include "adapters/display_order.h"

#include <gtest/gtest.h>

namespace relay::adapters {
namespace {

using Chunks = std::vector<std::string>;

TEST(DisplayOrder, YieldsEachChunkOnceAndInOrder) {
  DisplayOrder order;
  EXPECT_EQ(order.take("a", 0, "one"), (Chunks{"one"}));
  EXPECT_EQ(order.take("a", 2, "three"), Chunks{});
  EXPECT_EQ(order.take("b", 0, "other"), (Chunks{"other"}));
  EXPECT_EQ(order.take("a", 2, "three again"), Chunks{});
  EXPECT_EQ(order.take("a", 1, "two"), (Chunks{"two", "three"}));
  EXPECT_EQ(order.take("a", 1, "two"), Chunks{});
}

TEST(DisplayOrder, IsBounded) {
  DisplayOrder order;
  for (std::size_t i = 1; i <= 2 * DisplayOrder::kMaxHeld; ++i)
    EXPECT_EQ(order.take("a", static_cast<std::int64_t>(i), "x"), Chunks{});
  EXPECT_EQ(order.take("a", 0, "late"), Chunks{});
  for (std::size_t i = 0; i < 2 * DisplayOrder::kMaxMessages; ++i) (void)order.take(std::to_string(i), 1, "x");
  EXPECT_EQ(order.take("fresh", 0, "x"), (Chunks{"x"}));
}

}  // namespace
}  // namespace relay::adapters
