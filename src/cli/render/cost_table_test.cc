#include "cli/render/cost_table.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

TEST(CostTable, ListsHighestCostFirstAndTotal) {
  const events::CostBreakdown little{
      .input_tokens = 5, .output_tokens = 1, .total_tokens = 6, .estimated_cost_usd = 0.5};
  const events::CostBreakdown much{
      .input_tokens = 12'345, .output_tokens = 1, .total_tokens = 12'346, .estimated_cost_usd = 2};
  const events::CostBreakdown free{.input_tokens = 7, .total_tokens = 7};
  const events::CostBreakdown all{
      .input_tokens = 12'357, .output_tokens = 2, .total_tokens = 12'359, .estimated_cost_usd = 2.5, .partial = true};
  EXPECT_EQ(cost_table("agent", {{"Ann", little}, {"Bob", much}, {"Cy", free}}, all, Styler{false}),
            "agent  in      out  from cache  to cache  cost\n"
            "Bob    12.3 k  1    0           0         $2.0000\n"
            "Ann    5       1    0           0         $0.5000\n"
            "Cy     7       0    0           0         ?\n"
            "all    12.4 k  2    0           0         $2.5000+\n");
}

}  // namespace
}  // namespace relay::cli
