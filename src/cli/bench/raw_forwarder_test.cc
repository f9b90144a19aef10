#include "cli/bench/raw_forwarder.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

constexpr Millis kLong{60'000};

TEST(RawForwarder, TimesEachMessageSentAlone) {
  auto forwarder = *RawForwarder::start();
  const auto measured = *forwarder.measure("hello", 1, {.messages = 50, .time = kLong});
  EXPECT_EQ(measured.messages, 50U);
  EXPECT_EQ(measured.delivered_us.size(), 50U);
  EXPECT_GT(measured.seconds, 0);
}

TEST(RawForwarder, ForwardsMoreThanSocketBuffer) {
  auto forwarder = *RawForwarder::start();
  const auto measured = *forwarder.measure(std::string(65'536, 'x'), 64, {.messages = 100, .time = kLong});
  EXPECT_EQ(measured.messages, 100U);
  EXPECT_TRUE(measured.delivered_us.empty()) << "there is no separate acknowledgement";
}

TEST(RawForwarder, CanMeasureRepeatedly) {
  auto forwarder = *RawForwarder::start();
  for (const std::size_t window : {8U, 1U, 3U})
    EXPECT_EQ(forwarder.measure("again", window, {.messages = 20, .time = kLong})->messages, 20U);
}

}  // namespace
}  // namespace relay::cli
