#include "pty/exit_status.h"

#include <gtest/gtest.h>

#include <csignal>

namespace relay::pty {
namespace {

TEST(ExitStatus, ParsesTheWaitStatus) {
  EXPECT_EQ(ExitStatus::from_wait(3 << 8), (ExitStatus{ExitStatus::Kind::Exited, 3}));
  EXPECT_EQ(ExitStatus::from_wait(SIGTERM), (ExitStatus{ExitStatus::Kind::Signalled, SIGTERM}));
}

TEST(ExitStatus, HasAShellCodeAndADescription) {
  const ExitStatus exited{ExitStatus::Kind::Exited, 3}, ended{ExitStatus::Kind::Signalled, SIGTERM};
  EXPECT_EQ(exited.shell_code(), 3);
  EXPECT_EQ(ended.shell_code(), 143);
  EXPECT_EQ(exited.describe(), "exited with code 3");
  EXPECT_EQ(ended.describe(), "ended by SIGTERM");
}

}  // namespace
}  // namespace relay::pty
