#include <gtest/gtest.h>

#include <csignal>

#include "pty/testing/child_recorder.h"
#include "pty/testing/test_terminal.h"

namespace relay::pty {
namespace {

using net::testing::run_until;
using testing::ChildRecorder;
using testing::is_gone;
using testing::shell;
using testing::TestTerminal;

constexpr Millis kShortGrace{50};
constexpr Millis kLongGrace{60'000};  // never reached

TEST(Ending, RequestsTerminationBeforeItKills) {
  ChildRecorder recorder{shell("trap 'echo tidy; exit 9' TERM; echo go; sleep 1000 & wait")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.child->end(kLongGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("tidy"));
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 9}));
}

TEST(Ending, KillsAProcessThatIgnoresBothSignals) {
  ChildRecorder recorder{shell("trap '' TERM HUP; echo go; while :; do sleep 1000; done")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.child->end(kShortGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGKILL}));
  for (const auto& one : all_processes())
    EXPECT_TRUE(one.ended || one.session != recorder.child->pid()) << "the sleep in its session has ended as well";
}

TEST(Ending, HangsUpAProcessThatIgnoresTheFirstSignal) {
  ChildRecorder recorder{shell("trap '' TERM; trap 'echo hung up; exit 8' HUP; echo go; sleep 1000 & wait")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.child->end(kShortGrace * 4);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("hung up"));
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 8}));
}

TEST(Ending, ContinuesAStoppedProcess) {
  ChildRecorder recorder{shell("echo go; kill -STOP $$; echo never")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.child->end(kLongGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_FALSE(recorder.output.contains("never"));
}

TEST(Ending, ReachesBackgroundJobs) {
  ChildRecorder recorder{shell("set -m; sleep 1000 & echo job $!.; wait")};
  const auto job = recorder.number_after("job ");
  recorder.child->end(kShortGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(is_gone(job));
}

TEST(Ending, ReachesADaemonizedProcess) {
  ChildRecorder recorder{
      shell("(setsid sh -c 'trap \"\" TERM HUP; echo daemon $$.; while :; do sleep 1000; done' &); exec sleep 1000")};
  const auto daemon = recorder.number_after("daemon ");
  ASSERT_FALSE(is_gone(daemon));
  recorder.child->end(kShortGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(is_gone(daemon));
}

TEST(Ending, CanBeShortened) {
  ChildRecorder recorder{shell("trap '' TERM HUP; echo go; while :; do sleep 1000; done")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.child->end(kLongGrace);
  recorder.child->end(Millis{0});
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGKILL}));
}

TEST(Ending, HappensWhenTheChildIsDestroyed) {
  ChildRecorder recorder{
      shell("trap '' TERM HUP; (setsid sleep 1000 & echo daemon $!.); echo go; while :; do sleep 1000; done")};
  const auto daemon = recorder.number_after("daemon ");
  const auto pid = recorder.child->pid();
  recorder.child.reset();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(is_gone(daemon));
  EXPECT_FALSE(recorder.status);
}

TEST(Ending, DoesNotWaitForAPausedListener) {
  ChildRecorder recorder{shell("yes")};
  ASSERT_TRUE(recorder.wait_for("y"));
  recorder.child->pause_output();
  recorder.child->end(kShortGrace);
  EXPECT_TRUE(recorder.wait_exit());
}

TEST(Ending, HangsUpTheChildWhenWeAreKilled) {
  // A session leader in the foreground, and a foreground job in its own group.
  TestTerminal terminal{{SEATED_PROGRAM, "hold", "sh", "-c", "set -m; sleep 1000"}};
  ASSERT_TRUE(terminal.wait_for("."));
  const pid_t child = std::stoi(terminal.screen.substr(terminal.screen.find("child ") + 6));
  ASSERT_FALSE(is_gone(child));
  ::kill(terminal.process.pid, SIGKILL);
  const auto start = SystemClock{}.now().steady;
  net::AsioLoop loop;
  const auto in_its_session = [&](const Process& one) { return !one.ended && one.session == child; };
  EXPECT_TRUE(run_until(loop, [&] { return std::ranges::none_of(all_processes(), in_its_session); }));
  EXPECT_LT(SystemClock{}.now().steady - start, std::chrono::seconds{1});
}

}  // namespace
}  // namespace relay::pty
