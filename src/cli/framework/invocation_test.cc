#include "cli/framework/invocation.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

TEST(Duration, IsNumberWithUnit) {
  EXPECT_EQ(parse_duration("250ms").value(), Millis{250});
  EXPECT_EQ(parse_duration("30").value(), Millis{30'000});
  EXPECT_EQ(parse_duration("30s").value(), Millis{30'000});
  EXPECT_EQ(parse_duration("15m").value(), Millis{900'000});
  EXPECT_EQ(parse_duration("2h").value(), Millis{7'200'000});
  EXPECT_EQ(parse_duration("7d").value(), Millis{7LL * 86'400'000});
}

TEST(Duration, RefusesInvalidText) {
  for (const auto* text : {"", "s", "-1s", "1 s", "1w", "1.5h", "99999999999999999999", "9999999999999d"})
    EXPECT_FALSE(parse_duration(text).has_value()) << text;
}

TEST(Invocation, ChecksTheRangeOfNumbers) {
  Invocation invocation;
  EXPECT_EQ(invocation.number("--limit", 1, 10, 5).value(), 5);
  invocation.set("--limit", "7");
  EXPECT_EQ(invocation.number("--limit", 1, 10, 5).value(), 7);
  for (const auto* text : {"0", "11", "x", "7x", ""}) {
    invocation.set("--limit", text);
    EXPECT_FALSE(invocation.number("--limit", 1, 10, 5).has_value()) << text;
  }
}

TEST(Invocation, JoinsRestWithSpaces) {
  Invocation invocation;
  for (const auto* word : {"Bob", "hello", "there"}) invocation.add_argument(word);
  EXPECT_EQ(invocation.argument(0), "Bob");
  EXPECT_EQ(invocation.rest(1), "hello there");
  EXPECT_EQ(invocation.argument(9), "");
}

}  // namespace
}  // namespace relay::cli
