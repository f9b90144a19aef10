#include "judge.h"

#include <gtest/gtest.h>

namespace relay::cost {
namespace {

constexpr Path kFrame{.name = "frame", .unit = "message", .allowed = 0.25, .what = "", .prepare = nullptr};
constexpr Path kJson{.name = "json", .unit = "byte", .allowed = 0.5, .what = "", .prepare = nullptr};
constexpr Path kBoth[] = {kFrame, kJson};

const Counts kRecorded{{"frame", 1000}, {"json", 4}};

TEST(CostJudge, SaysWhichPathCostsTooMuchByHowMuchAndHowToRecordIt) {
  const auto verdict = judge(kBoth, {{"frame", 1600}, {"json", 4}}, kRecorded);
  ASSERT_EQ(verdict.complaints.size(), 1U);
  EXPECT_EQ(
      verdict.complaints.front(),
      "frame costs 60 % more instructions per message than recorded, and 25 % is allowed; if that is intended, record "
      "it with: tests/instruction_count/run --record");
}

TEST(CostJudge, LetsEachPathGrowByWhatIsAllowedToIt) {
  EXPECT_TRUE(judge(kBoth, {{"frame", 1249}, {"json", 5.9}}, kRecorded).complaints.empty());
  EXPECT_EQ(judge(kBoth, {{"frame", 1251}, {"json", 6.1}}, kRecorded).complaints.size(), 2U);
}

TEST(CostJudge, SaysWhenTheRecordLagsBehindAndDoesNotComplain) {
  const auto verdict = judge(kBoth, {{"frame", 600}, {"json", 4}}, kRecorded);
  EXPECT_TRUE(verdict.complaints.empty());
  ASSERT_EQ(verdict.remarks.size(), 1U);
  EXPECT_EQ(verdict.remarks.front(),
            "frame costs 40 % less than recorded; keep it so with: tests/instruction_count/run --record");
}

TEST(CostJudge, ComplainsOfAPathThatWasNeverRecorded) {
  const auto verdict = judge(kBoth, {{"frame", 1000}, {"json", 4}}, {{"frame", 1000}});
  ASSERT_EQ(verdict.complaints.size(), 1U);
  EXPECT_EQ(verdict.complaints.front(), "json was never recorded; do it with: tests/instruction_count/run --record");
}

TEST(CostJudge, JudgesOnlyWhatWasMeasured) {
  const auto verdict = judge(kBoth, {{"json", 4}}, {{"json", 4}});
  EXPECT_TRUE(verdict.complaints.empty());
  EXPECT_FALSE(verdict.table.contains("frame"));
}

TEST(CostRecord, ReadsWhatItWrote) {
  const auto read = read_recorded(write_recorded(kBoth, {"GNU 12 for x86_64", kRecorded}));
  ASSERT_TRUE(read) << read.error().message();
  EXPECT_EQ(read->built, "GNU 12 for x86_64");
  EXPECT_EQ(read->counts, kRecorded);
}

TEST(CostRecord, RefusesLinesThatAreNoCount) {
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

TEST(CostMeasured, ThatCountedNothingIsAFailure) {
  EXPECT_FALSE(read_measured("frame 200 0\n"));
  EXPECT_FALSE(read_measured("frame 200\n"));
  EXPECT_FALSE(read_measured("frame\n"));
}

}  // namespace
}  // namespace relay::cost
