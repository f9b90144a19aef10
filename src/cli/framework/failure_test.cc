#include "cli/framework/failure.h"

#include <gtest/gtest.h>

#include "cli/wire/daemon_connection.h"
#include "client/errors.h"
#include "daemon/daemon.h"

namespace relay::cli {
namespace {

template <class Code>
ExitCode code_of(Code code) {
  return exit_reason(fail(code, "why").error()).code;
}

TEST(ExitReasonTest, SameCauseHasSameExitCode) {
  EXPECT_EQ(code_of(Errc::NoDaemon), ExitCode::NoDaemon);
  EXPECT_EQ(code_of(client::Errc::NoDaemon), ExitCode::NoDaemon);
  EXPECT_EQ(code_of(Errc::TimedOut), ExitCode::TimedOut);
  EXPECT_EQ(code_of(client::Errc::TimedOut), ExitCode::TimedOut);
  EXPECT_EQ(code_of(Errc::Refused), ExitCode::Refused);
  EXPECT_EQ(code_of(client::Errc::Refused), ExitCode::Refused);
  EXPECT_EQ(code_of(Errc::TooLarge), ExitCode::Refused);
  EXPECT_EQ(code_of(client::Errc::TooLarge), ExitCode::Refused);
  EXPECT_EQ(code_of(daemon::Errc::AlreadyRunning), ExitCode::Refused);
  EXPECT_EQ(exit_reason(fail("anything else").error()).code, ExitCode::Failed);
}

TEST(ExitReasonTest, HasErrorCodeName) {
  EXPECT_EQ(exit_reason(fail(Errc::NoDaemon, "").error()).name, "NO_DAEMON");
  EXPECT_EQ(exit_reason(fail(Errc::TooLarge, "").error()).name, "TOO_LARGE");
  EXPECT_EQ(exit_reason(fail("").error()).name, "FAILED");
}

}  // namespace
}  // namespace relay::cli
