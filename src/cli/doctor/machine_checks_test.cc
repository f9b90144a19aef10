#include "cli/doctor/machine_checks.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

TEST(MachineChecks, ClockBeforeTheFirstReleaseIsAProblem) {
  constexpr WallMs kNow = 1'763'000'000'000, kDay = 86'400'000;  // November 2025
  EXPECT_EQ(check_clock(kNow).status, CheckStatus::Ok);
  EXPECT_TRUE(check_clock(kNow).message.starts_with("2025-11-1")) << check_clock(kNow).message;
  const auto unset = check_clock(2 * kDay);
  EXPECT_EQ(unset.status, CheckStatus::Problem);
  EXPECT_TRUE(unset.message.contains("1970-01-0")) << unset.message;
  EXPECT_FALSE(unset.fix.empty());
  EXPECT_EQ(check_clock(kNow - 400 * kDay).status, CheckStatus::Problem);
}

TEST(MachineChecks, MessageFromFutureMeansClockWasSetBack) {
  constexpr WallMs kNow = 1'763'000'000'000;
  EXPECT_EQ(check_newest_message(kNow + 60'000, kNow), std::nullopt) << "two clocks may differ a little";
  EXPECT_EQ(check_newest_message(kNow - 60'000, kNow), std::nullopt);
  const auto finding = check_newest_message(kNow + 60'001, kNow);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->status, CheckStatus::Problem);
  EXPECT_FALSE(finding->fix.empty());
}

TEST(MachineChecks, FewDescriptorsAreNotedWithFix) {
  EXPECT_EQ(assess_descriptors(1'048'576).status, CheckStatus::Ok);
  const auto few = assess_descriptors(1'024);
  EXPECT_EQ(few.status, CheckStatus::Note);
  EXPECT_TRUE(few.fix.contains("limits.conf")) << few.fix;
}

TEST(MachineChecks, ExhaustedInotifyIsProblem) {
  EXPECT_EQ(assess_inotify({.instances = 128, .watches = 65'536}).status, CheckStatus::Ok);
  EXPECT_EQ(assess_inotify({.instances = 8, .watches = 65'536}).status, CheckStatus::Note);
  const auto none = assess_inotify({.instances = 128, .watches = 65'536, .available = false});
  EXPECT_EQ(none.status, CheckStatus::Problem);
  EXPECT_TRUE(none.fix.contains("sysctl")) << none.fix;
}

TEST(MachineChecks, UnitNamesProgram) {
  EXPECT_EQ(parse_unit_program("[Service]\nExecStart=/usr/bin/agent-relay up --foreground\nRestart=always\n"),
            "/usr/bin/agent-relay");
  EXPECT_EQ(parse_unit_program("[Service]\nExecStart=/usr/bin/other\n"), std::nullopt);
  EXPECT_EQ(parse_unit_program(""), std::nullopt);
}

}  // namespace
}  // namespace relay::cli
