#include "adapters/poll_interval.h"

#include <gtest/gtest.h>

namespace relay::adapters {
namespace {

TEST(LookPace, WhatDoesNotComeIsLookedForLessOften) {
  LookPace pace{Millis{500}, Millis{3'000}};
  for (const int wait : {500, 1'000, 2'000, 3'000, 3'000}) EXPECT_EQ(pace.next(), Millis{wait});
  pace.begin();
  EXPECT_EQ(pace.next(), Millis{500});
}

}  // namespace
}  // namespace relay::adapters
