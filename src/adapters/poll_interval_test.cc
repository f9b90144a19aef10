#include "adapters/poll_interval.h"

#include <gtest/gtest.h>

namespace relay::adapters {
namespace {

TEST(PollInterval, DoublesUpToMaximum) {
  PollInterval interval{Millis{500}, Millis{3'000}};
  for (const int expected : {500, 1'000, 2'000, 3'000, 3'000}) EXPECT_EQ(interval.next(), Millis{expected});
  interval.reset();
  EXPECT_EQ(interval.next(), Millis{500});
}

}  // namespace
}  // namespace relay::adapters
