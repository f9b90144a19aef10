#include "cli/doctor/machine_checks.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

TEST(MachineChecks, ClockBeforeTheFirstReleaseIsAProblem) {
  constexpr WallMs kNow = 1'763'000'000'000, kDay = 86'400'000;  // November 2025
  EXPECT_EQ(judge_clock(kNow).verdict, CheckStatus::Ok);
  EXPECT_TRUE(judge_clock(kNow).message.starts_with("2025-11-1")) << judge_clock(kNow).message;
  const auto unset = judge_clock(2 * kDay);
  EXPECT_EQ(unset.verdict, CheckStatus::Problem);
  EXPECT_TRUE(unset.message.contains("1970-01-0")) << unset.message;
  EXPECT_FALSE(unset.fix.empty());
  EXPECT_EQ(judge_clock(kNow - 400 * kDay).verdict, CheckStatus::Problem);
}

TEST(MachineChecks, MessageFromTheFutureShowsThatTheClockWentBack) {
  constexpr WallMs kNow = 1'763'000'000'000;
  EXPECT_EQ(judge_newest_message(kNow + 60'000, kNow), std::nullopt) << "two clocks may differ a little";
  EXPECT_EQ(judge_newest_message(kNow - 60'000, kNow), std::nullopt);
  const auto finding = judge_newest_message(kNow + 60'001, kNow);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->verdict, CheckStatus::Problem);
  EXPECT_FALSE(finding->fix.empty());
}

TEST(MachineChecks, FewDescriptorsAreNotedWithTheRemedy) {
  EXPECT_EQ(judge_descriptors(1'048'576).verdict, CheckStatus::Ok);
  const auto few = judge_descriptors(1'024);
  EXPECT_EQ(few.verdict, CheckStatus::Note);
  EXPECT_TRUE(few.fix.contains("limits.conf")) << few.fix;
}

TEST(MachineChecks, InotifyThatIsUsedUpIsAProblem) {
  EXPECT_EQ(judge_inotify({.instances = 128, .watches = 65'536}).verdict, CheckStatus::Ok);
  EXPECT_EQ(judge_inotify({.instances = 8, .watches = 65'536}).verdict, CheckStatus::Note);
  const auto none = judge_inotify({.instances = 128, .watches = 65'536, .available = false});
  EXPECT_EQ(none.verdict, CheckStatus::Problem);
  EXPECT_TRUE(none.fix.contains("sysctl")) << none.fix;
}

TEST(MachineChecks, AUnitNamesTheProgramItStarts) {
  EXPECT_EQ(program_of_unit("[Service]\nExecStart=/usr/bin/agent-relay up --foreground\nRestart=always\n"),
            "/usr/bin/agent-relay");
  EXPECT_EQ(program_of_unit("[Service]\nExecStart=/usr/bin/other\n"), std::nullopt);
  EXPECT_EQ(program_of_unit(""), std::nullopt);
}

}  // namespace
}  // namespace relay::cli
