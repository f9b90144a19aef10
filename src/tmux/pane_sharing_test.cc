/// A pane shared with users: they attach, detach others, open panes, scroll.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <csignal>

#include "tmux/testing/pane_recorder.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using pty::WindowSize;
using testing::PaneRecorder;
using testing::shell;
using testing::TmuxUser;

TEST(PaneSharing, FollowsTheSizeOfTheUser) {
  PaneRecorder recorder{shell("stty -echo; echo go; read line"), {100, 30}};
  ASSERT_TRUE(recorder.wait_for("go"));
  TmuxUser user{recorder, {"attach-session", "-t", "=relay-Alice"}, {70, 21}};
  ASSERT_TRUE(recorder.until([&] { return !recorder.sizes.empty(); }));
  EXPECT_EQ(recorder.sizes.back(), (WindowSize{.columns = 70, .rows = 20})) << "one row is the status line";
  ASSERT_TRUE(recorder.pane->resize({120, 40}));
  ASSERT_TRUE(recorder.until([&] { return recorder.sizes.size() == 2; }));
  EXPECT_EQ(recorder.sizes.back(), (WindowSize{.columns = 70, .rows = 20})) << "the user is attached: the size stays";
}

TEST(PaneSharing, AttachesAgainAfterDetach) {
  PaneRecorder recorder{shell("stty -echo; echo go; while read line; do echo \"<$line>\"; done")};
  ASSERT_TRUE(recorder.wait_for("go"));
  TmuxUser user{recorder, {"attach-session", "-d", "-t", "=relay-Alice"}, {80, 25}};
  ASSERT_TRUE(recorder.until([&] { return recorder.output.contains("\x1b[2J"); })) << "the screen is redrawn";
  EXPECT_TRUE(recorder.output.substr(recorder.output.find("\x1b[2J")).contains("go"));
  recorder.pane->write("still here\r");
  EXPECT_TRUE(recorder.wait_for("<still here>"));
  EXPECT_TRUE(recorder.until([&] { return user.screen.contains("<still here>"); }));
}

TEST(PaneSharing, TypesWhileTheUserScrolls) {
  PaneRecorder recorder{shell("stty -echo; echo go; read line; echo \"<$line>\"; read line")};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.server.run({"copy-mode", "-t", "%0"});
  recorder.pane->write("qqq\r");
  EXPECT_TRUE(recorder.wait_for("<qqq>"));
  EXPECT_EQ(recorder.server.query({"display-message", "-p", "-t", "%0", "#{pane_in_mode}"}), "1\n");
}

TEST(PaneSharing, TypesOneWriteWithoutUserKeysInside) {
  constexpr std::size_t kHostBytes = 60'000, kUserBytes = 100;
  PaneRecorder recorder{
      shell(format("stty raw -echo; echo go; head -c {} | tr -s kp; echo .", kHostBytes + kUserBytes))};
  ASSERT_TRUE(recorder.wait_for("go"));
  TmuxUser user{recorder, {"attach-session", "-t", "=relay-Alice"}, {80, 25}};
  ASSERT_TRUE(recorder.until([&] { return user.screen.contains("go"); }));
  const std::string typed(kHostBytes, 'k');
  for (std::size_t i = 0; i < kUserBytes; ++i) {
    user.client->write("p");
    if (i == kUserBytes / 4) { EXPECT_EQ(recorder.pane->write(typed), kHostBytes); }
    recorder.pass(Millis{1});
  }
  ASSERT_TRUE(recorder.wait_for(".")) << recorder.output;
  EXPECT_EQ(std::ranges::count(recorder.output, 'k'), 1) << recorder.output;
}

TEST(PaneSharing, KeepsPanesOfTheUser) {
  PaneRecorder recorder{shell("stty -echo; echo go; read line; exit 5"), {100, 30}};
  ASSERT_TRUE(recorder.wait_for("go"));
  recorder.server.run({"split-window", "-d", "-h", "-t", "%0", "sleep", "1000"});
  ASSERT_TRUE(recorder.until([&] { return !recorder.sizes.empty(); }));
  EXPECT_LT(recorder.sizes.back().columns, 60) << "half of the window";
  recorder.pane->write("\r");
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Exited, 5}));
  EXPECT_EQ(recorder.server.query({"list-panes", "-a", "-F", "#{pane_id}"}), "%1\n");
}

TEST(PaneSharing, BlocksWhilePausedDespiteAnotherClient) {
  PaneRecorder recorder{shell("stty -echo; echo go; read line; stty raw; seq 1 500000; echo end"), {80, 24}};
  ASSERT_TRUE(recorder.wait_for("go"));
  TmuxUser user{recorder, {"attach-session", "-t", "=relay-Alice"}, {80, 25}};
  ASSERT_TRUE(recorder.until([&] { return user.screen.contains("go"); }));
  recorder.when_output = [&](std::string_view) { recorder.pane->pause_output(); };
  recorder.pane->write("\r");
  ASSERT_TRUE(recorder.wait_for("1\n2\n"));
  recorder.pass(Millis{300});
  EXPECT_FALSE(testing::is_gone(recorder.pane->pid()));
  recorder.when_output = nullptr;
  recorder.pane->resume_output();
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.contains("499999\n500000\nend\n"));
  EXPECT_FALSE(recorder.output.contains("\x1b[2J")) << "no output was missed";
}

TEST(PaneSharing, BlocksForASlowListenerDespiteAnotherClient) {
  PaneRecorder recorder{shell("stty -echo; echo go; read line; stty raw; seq 1 500000; echo end"), {80, 24}};
  ASSERT_TRUE(recorder.wait_for("go"));
  TmuxUser user{recorder, {"attach-session", "-t", "=relay-Alice"}, {80, 25}};
  ASSERT_TRUE(recorder.until([&] { return user.screen.contains("go"); }));
  std::size_t seen_at_its_end = 0;
  recorder.when_output = [&](std::string_view) {
    const auto until = SystemClock{}.now().steady + Millis{25};
    while (SystemClock{}.now().steady < until) {}
    if (testing::is_gone(recorder.pane->pid()) && seen_at_its_end == 0) seen_at_its_end = recorder.output_bytes;
  };
  recorder.pane->write("\r");
  EXPECT_TRUE(recorder.wait_exit());
  EXPECT_TRUE(recorder.output.ends_with("499999\n500000\nend\n"));
  EXPECT_GT(seen_at_its_end, recorder.output_bytes / 2) << "tmux did not buffer all of it";
}

TEST(PaneSharing, ResumesTheProgramWhenTheHostIsKilled) {
  PaneRecorder recorder;
  const auto child = ::fork();
  if (child == 0) {
    auto pane = recorder.try_spawn(shell("seq 1 100000; echo through; sleep 1000"));
    if (pane) (*pane)->pause_output();
    ::kill(::getpid(), pane ? SIGKILL : SIGABRT);
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  const auto through = [&] { return recorder.server.query({"capture-pane", "-p", "-t", "%0"}).contains("through"); };
  EXPECT_TRUE(recorder.until(through));
}

TEST(PaneSharing, ProgramSurvivesTheHost) {
  PaneRecorder recorder;
  const auto child = ::fork();
  if (child == 0) {  // a host that is killed
    auto pane = recorder.try_spawn(shell("while :; do sleep 1000; done"));
    ::kill(::getpid(), pane ? SIGKILL : SIGABRT);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  EXPECT_EQ(recorder.sessions(), "relay-Alice\n");
  EXPECT_EQ(recorder.server.query({"display-message", "-p", "-t", "=relay-Alice:", "#{pane_dead} #{session_attached}"}),
            "0 0\n");
  const auto again = recorder.try_spawn(shell("true"));
  ASSERT_FALSE(again);
  EXPECT_TRUE(again.error().message().contains("tmux kill-session -t =relay-Alice")) << again.error().message();
}

}  // namespace
}  // namespace relay::tmux
