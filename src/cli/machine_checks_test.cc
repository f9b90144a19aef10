#include "cli/machine_checks.h"

#include <gtest/gtest.h>

namespace relay::cli {
namespace {

TEST(MachineChecks, FewDescriptorsAreNotedWithTheRemedy) {
  EXPECT_EQ(judge_descriptors(1'048'576).verdict, Verdict::Ok);
  const auto few = judge_descriptors(1'024);
  EXPECT_EQ(few.verdict, Verdict::Note);
  EXPECT_TRUE(few.advice.contains("limits.conf")) << few.advice;
}

TEST(MachineChecks, InotifyThatIsUsedUpIsAProblem) {
  EXPECT_EQ(judge_inotify({.instances = 128, .watches = 65'536}).verdict, Verdict::Ok);
  EXPECT_EQ(judge_inotify({.instances = 8, .watches = 65'536}).verdict, Verdict::Note);
  const auto none = judge_inotify({.instances = 128, .watches = 65'536, .available = false});
  EXPECT_EQ(none.verdict, Verdict::Problem);
  EXPECT_TRUE(none.advice.contains("sysctl")) << none.advice;
}

TEST(MachineChecks, AUnitNamesTheProgramItStarts) {
  EXPECT_EQ(program_of_unit("[Service]\nExecStart=/usr/bin/agent-relay up --foreground\nRestart=always\n"),
            "/usr/bin/agent-relay");
  EXPECT_EQ(program_of_unit("[Service]\nExecStart=/usr/bin/other\n"), std::nullopt);
  EXPECT_EQ(program_of_unit(""), std::nullopt);
}

}  // namespace
}  // namespace relay::cli
