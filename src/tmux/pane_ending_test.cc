#include <gtest/gtest.h>

#include <csignal>

#include "tmux/testing/pane_recorder.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using testing::is_gone;
using testing::PaneRecorder;
using testing::shell;

constexpr Millis kShortGrace{50};
constexpr Millis kLongGrace{60'000};  // never reached

TEST(PaneEnding, RequestsTerminationBeforeItKills) {
  PaneRecorder recorder{shell("trap 'echo tidy; exit 9' TERM; echo go; sleep 1000 & wait")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.pane->end(kLongGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("tidy"));
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 9}));
}

TEST(PaneEnding, KillsATreeThatIgnoresSignals) {
  PaneRecorder recorder{
      shell("trap '' TERM HUP; (setsid sh -c 'trap \"\" TERM HUP; echo daemon $$.; while :; do sleep 1000; done' &) ; "
            "set -m; sleep 1000 & echo job $!.; echo go; while :; do sleep 1000; done")};
  const auto daemon = recorder.number_after("daemon "), job = recorder.number_after("job ");
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.pane->end(kShortGrace);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGKILL}));
  EXPECT_TRUE(is_gone(daemon));
  EXPECT_TRUE(is_gone(job));
  EXPECT_FALSE(recorder.sessions().contains("relay-Alice"));
}

TEST(PaneEnding, DoesNotWaitForAPausedListener) {
  PaneRecorder recorder{shell("yes")};
  ASSERT_TRUE(recorder.wait_for("y"));
  recorder.pane->pause_output();
  recorder.pane->end(kShortGrace);
  EXPECT_TRUE(recorder.wait_exit());
}

TEST(PaneEnding, ReportsTheStatusWhenTheServerIsKilled) {
  PaneRecorder recorder{shell("echo go; exec sleep 1000")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.server.run({"kill-server"});
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGHUP}));
}

TEST(PaneEnding, EndsAProgramThatIgnoresTheHangUp) {
  PaneRecorder recorder{shell("trap '' HUP; echo go; sleep 1000")};
  ASSERT_TRUE(recorder.wait_for("go"));
  const auto server = std::stoi(recorder.server.query({"display-message", "-p", "#{pid}"}));
  ::kill(server, SIGKILL);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(is_gone(recorder.pane->pid()));
  EXPECT_EQ(recorder.status->kind, ExitStatus::Kind::Signalled);
}

TEST(PaneEnding, ReportsAKilledSession) {
  PaneRecorder recorder{shell("echo go; exec sleep 1000")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.server.run({"kill-session", "-t", "=relay-Alice"});
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGHUP}));
}

TEST(PaneEnding, ReportsTheEndWhenTheShimIsKilled) {
  PaneRecorder recorder{shell("echo go; exec sleep 1000")};
  ASSERT_TRUE(recorder.wait_for("go"));
  ::kill(std::stoi(recorder.server.query({"display-message", "-p", "#{pane_pid}"})), SIGKILL);
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status->kind, ExitStatus::Kind::Lost);
  EXPECT_TRUE(recorder.until([&] { return is_gone(recorder.pane->pid()); })) << "its terminal is closed";
}

TEST(PaneEnding, ReportsTheEndWhileAGrandchildKeepsWriting) {
  PaneRecorder recorder{shell("trap '' HUP; yes & echo grandchild $!.; exit 4")};
  const auto grandchild = recorder.number_after("grandchild ");
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 4}));
  ::kill(grandchild, SIGKILL);
}

TEST(PaneEnding, HappensWhenThePaneIsDestroyed) {
  PaneRecorder recorder{
      shell("trap '' TERM HUP; (setsid sleep 1000 & echo daemon $!.); echo go; while :; do sleep 1000; done")};
  const auto daemon = recorder.number_after("daemon ");
  ASSERT_TRUE(recorder.wait_for("go"));
  const auto pid = recorder.pane->pid();
  recorder.pane.reset();
  EXPECT_TRUE(is_gone(pid));
  EXPECT_TRUE(is_gone(daemon));
  EXPECT_FALSE(recorder.status);
}

}  // namespace
}  // namespace relay::tmux
