#include "adapters/display_order.h"

#include <gtest/gtest.h>

namespace relay::adapters {
namespace {

using Pieces = std::vector<std::string>;

TEST(DisplayOrder, TellsEachPieceOnceAndInOrder) {
  DisplayOrder order;
  EXPECT_EQ(order.take("a", 0, "one"), (Pieces{"one"}));
  EXPECT_EQ(order.take("a", 2, "three"), Pieces{});
  EXPECT_EQ(order.take("b", 0, "other"), (Pieces{"other"}));
  EXPECT_EQ(order.take("a", 2, "three again"), Pieces{});
  EXPECT_EQ(order.take("a", 1, "two"), (Pieces{"two", "three"}));
  EXPECT_EQ(order.take("a", 1, "two"), Pieces{});
}

TEST(DisplayOrder, IsBounded) {
  DisplayOrder order;
  for (std::size_t i = 1; i <= 2 * DisplayOrder::kMaxHeld; ++i)
    EXPECT_EQ(order.take("a", static_cast<std::int64_t>(i), "x"), Pieces{});
  EXPECT_EQ(order.take("a", 0, "late"), Pieces{});
  for (std::size_t i = 0; i < 2 * DisplayOrder::kMaxMessages; ++i) (void)order.take(std::to_string(i), 1, "x");
  EXPECT_EQ(order.take("fresh", 0, "x"), (Pieces{"x"}));
}

}  // namespace
}  // namespace relay::adapters
