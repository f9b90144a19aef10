#include "text/iso_time.h"

#include <gtest/gtest.h>

namespace relay::text {
namespace {

TEST(IsoTime, ReadsTimesOfJavaScript) {
  EXPECT_EQ(parse_iso_time("1970-01-01T00:00:00.000Z"), 0);
  EXPECT_EQ(parse_iso_time("2026-03-01T12:30:05.250Z"), 1772368205250);
}

TEST(IsoTime, ReadsZonesAndOptionalParts) {
  const auto noon = parse_iso_time("2026-03-01T12:00:00Z");
  for (const auto* same : {"2026-03-01T13:00:00+01:00", "2026-03-01T13:00+0100", "2026-03-01 12:00Z",
                           "2026-03-01t06:30:00.0-05:30", "2026-03-01T12:00:00.0009z"}) {
    EXPECT_EQ(parse_iso_time(same), noon) << same;
  }
  EXPECT_EQ(parse_iso_time("2024-02-29T00:00Z"), 1709164800000);
}

TEST(IsoTime, RefusesInvalidTimes) {
  for (const auto* other : {"", "now", "2026-03-01", "2026-03-01T12:00", "2026-03-01T12:00:00", "2026-13-01T00:00Z",
                            "2026-02-29T00:00Z", "2026-03-01T24:00Z", "2026-03-01T12:60Z", "2026-03-01T12:00:61Z",
                            "2026-03-01T12:00:00.Z", "2026-03-01T12:00:00Zx", "2026-03-01T12:00:00+24:00",
                            "2026-3-1T12:00Z", "2026-03-01T12:00:00+1", "+026-03-01T12:00Z"}) {
    EXPECT_EQ(parse_iso_time(other), std::nullopt) << other;
  }
}

}  // namespace
}  // namespace relay::text
