#include "comparison.h"

#include <gtest/gtest.h>

namespace relay::cost {
namespace {

constexpr Path kFrame{.name = "frame", .unit = "message", .allowed = 0.25, .description = "", .prepare = nullptr};
constexpr Path kJson{.name = "json", .unit = "byte", .allowed = 0.5, .description = "", .prepare = nullptr};
constexpr Path kBoth[] = {kFrame, kJson};

const Counts kRecorded{{"frame", 1000}, {"json", 4}};

TEST(CostComparison, ReportsARegressionAndTheCommandToRecordIt) {
  const auto comparison = compare(kBoth, {{"frame", 1600}, {"json", 4}}, kRecorded);
  ASSERT_EQ(comparison.regressions.size(), 1U);
  EXPECT_EQ(
      comparison.regressions.front(),
      "frame needs 60 % more instructions per message than recorded (allowed: 25 %); if that is intended, record it "
      "with: tests/instruction_count/run --record");
}

TEST(CostComparison, AppliesTheAllowanceOfEachPath) {
  EXPECT_TRUE(compare(kBoth, {{"frame", 1249}, {"json", 5.9}}, kRecorded).regressions.empty());
  EXPECT_EQ(compare(kBoth, {{"frame", 1251}, {"json", 6.1}}, kRecorded).regressions.size(), 2U);
}

TEST(CostComparison, ReportsAnImprovementThatIsNotRecorded) {
  const auto comparison = compare(kBoth, {{"frame", 600}, {"json", 4}}, kRecorded);
  EXPECT_TRUE(comparison.regressions.empty());
  ASSERT_EQ(comparison.improvements.size(), 1U);
  EXPECT_EQ(comparison.improvements.front(),
            "frame needs 40 % fewer instructions than recorded; record it with: tests/instruction_count/run --record");
}

TEST(CostComparison, ReportsAPathThatIsNotRecorded) {
  const auto comparison = compare(kBoth, {{"frame", 1000}, {"json", 4}}, {{"frame", 1000}});
  ASSERT_EQ(comparison.regressions.size(), 1U);
  EXPECT_EQ(comparison.regressions.front(),
            "json is not recorded; record it with: tests/instruction_count/run --record");
}

TEST(CostComparison, ComparesOnlyMeasuredPaths) {
  const auto comparison = compare(kBoth, {{"json", 4}}, {{"json", 4}});
  EXPECT_TRUE(comparison.regressions.empty());
  EXPECT_FALSE(comparison.table.contains("frame"));
}

TEST(CostRecord, RoundTrips) {
  const auto read = read_recorded(write_recorded(kBoth, {"GNU 12 for x86_64", kRecorded}));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->built, "GNU 12 for x86_64");
  EXPECT_EQ(read->counts, kRecorded);
}

TEST(CostRecord, RejectsLinesWithoutACount) {
  EXPECT_FALSE(read_recorded("built GNU 12\nframe much\n"));
  EXPECT_FALSE(read_recorded("built GNU 12\nframe 0\n"));
  EXPECT_FALSE(read_recorded("frame 1000\n"));
  EXPECT_FALSE(read_recorded(""));
}

TEST(CostMeasured, IsInstructionsDividedByUnits) {
  const auto counts = read_measured("frame 200 300000\njson 1000 4500\n");
  ASSERT_TRUE(counts) << counts.error().message();
  EXPECT_EQ(*counts, (Counts{{"frame", 1500}, {"json", 4.5}}));
}

TEST(CostMeasured, RejectsLinesWithoutInstructions) {
  EXPECT_FALSE(read_measured("frame 200 0\n"));
  EXPECT_FALSE(read_measured("frame 200\n"));
  EXPECT_FALSE(read_measured("frame\n"));
}

}  // namespace
}  // namespace relay::cost
