#include "protocol/bye.h"

#include <gtest/gtest.h>

namespace relay::protocol {
namespace {

TEST(Bye, EmptyPayloadMeansCompleted) {
  for (const auto* payload : {"", "{}"}) {
    const auto bye = *parse_bye(payload);
    EXPECT_EQ(bye.end, EndReason::Completed);
    EXPECT_EQ(bye.by, "");
    EXPECT_EQ(bye.reason, "");
  }
}

TEST(Bye, RoundTrips) {
  for (const auto end : {EndReason::Completed, EndReason::Crashed, EndReason::Released}) {
    const auto bye = *parse_bye(
        write_bye({.end = end, .by = "Alice", .reason = "the review is done", .ended_at = 1'700'000'000'001}));
    EXPECT_EQ(bye.end, end);
    EXPECT_EQ(bye.by, "Alice");
    EXPECT_EQ(bye.reason, "the review is done");
    EXPECT_EQ(bye.ended_at, 1'700'000'000'001);
  }
}

TEST(Bye, UnknownEndIsRefused) { EXPECT_FALSE(parse_bye(R"({"end":"vanished"})")); }

}  // namespace
}  // namespace relay::protocol
