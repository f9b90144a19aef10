#include "cli/render/times.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <ctime>

namespace relay::cli {
namespace {

class Times : public ::testing::Test {
 protected:
  Times() {
    ::setenv("TZ", "UTC", 1);
    ::tzset();
  }
};

constexpr WallMs kNoon = 1'748'779'200'000;  // 2025-06-01 12:00:00 UTC

TEST_F(Times, AreShorterWhenNearer) {
  EXPECT_EQ(short_time(kNoon - 1000, kNoon), "11:59:59");
  EXPECT_EQ(short_time(kNoon - 86'400'000, kNoon), "May 31 12:00");
  EXPECT_EQ(short_time(kNoon - 365LL * 86'400'000, kNoon), "2024-06-01 12:00");
  EXPECT_EQ(exact_time(kNoon + 7), "12:00:00.007");
}

TEST_F(Times, DurationsUseTheUnitThatFits) {
  EXPECT_EQ(short_duration(Millis{250}), "250 ms");
  EXPECT_EQ(short_duration(std::chrono::seconds{90}), "90 s");
  EXPECT_EQ(short_duration(std::chrono::minutes{90}), "90 min");
  EXPECT_EQ(short_duration(std::chrono::hours{30}), "30 h");
  EXPECT_EQ(short_duration(std::chrono::hours{100}), "4 d");
}

TEST_F(Times, ShortDurationsHaveTenths) {
  EXPECT_EQ(fine_duration(Millis{20}), "20 ms");
  EXPECT_EQ(fine_duration(Millis{1'290}), "1.2 s");
  EXPECT_EQ(fine_duration(Millis{42'900}), "42 s");
}

TEST_F(Times, ClockHasNoSeconds) {
  EXPECT_EQ(short_clock(kNoon - 60'000, kNoon), "11:59");
  EXPECT_EQ(short_clock(kNoon - 86'400'000, kNoon), "May 31 12:00");
}

TEST_F(Times, SizesUseTheUnitThatFits) {
  EXPECT_EQ(short_size(999), "999 B");
  EXPECT_EQ(short_size(1'400'000'000), "1.4 GB");
}

}  // namespace
}  // namespace relay::cli
