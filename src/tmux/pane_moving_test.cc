/// A pane that a user moves into a session of child_end, or kills.
#include <gtest/gtest.h>

#include <csignal>

#include "tmux/testing/pane_recorder.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using testing::PaneRecorder;
using testing::shell;
using testing::TmuxUser;

/// An agent that repeats its lines, and a user in another session.
struct PaneMoving : ::testing::Test {
  PaneMoving() {
    RELAY_ASSERT(recorder.wait_for("go"));
    recorder.server.run({"new-session", "-d", "-s", "user", "-x", "90", "-y", "25", "sleep", "1000"});
    user = std::make_unique<TmuxUser>(recorder, std::vector<std::string>{"attach-session", "-t", "=user"},
                                      pty::WindowSize{90, 25});
    RELAY_ASSERT(recorder.until([&] { return user->screen.contains("[user]"); }));
  }
  void open_another_window() { recorder.server.run({"new-window", "-d", "-t", "=relay-Alice:", "sleep", "1000"}); }
  std::string query_tmux(const std::string& format) {
    return recorder.server.query({"display-message", "-p", "-t", "=user:", format});
  }
  bool repeats(const std::string& line) {
    recorder.pane->write(line + "\r");
    return recorder.wait_for("<" + line + ">");
  }
  bool redrawn(const std::string& from) {
    return recorder.until([&] { return recorder.output.substr(from.size()).contains("\x1b[2J"); });
  }
  void expect_followed() {
    const auto size = query_tmux("#{window_width}x#{window_height}"), active = query_tmux("#{pane_id}");
    const auto before = recorder.output;
    recorder.server.run({"join-pane", "-d", "-s", "%0", "-t", "=user:"});
    ASSERT_TRUE(redrawn(before)) << "the screen is redrawn";
    EXPECT_TRUE(repeats("here too"));
    ASSERT_TRUE(recorder.until([&] { return !recorder.sizes.empty(); }));
    EXPECT_EQ(recorder.sizes.back().columns, 90);
    ASSERT_TRUE(recorder.pane->resize({120, 40}));
    ASSERT_TRUE(recorder.until([&] { return recorder.sizes.size() > 1; }))
        << "the requested size is not granted, and it is reported";
    EXPECT_EQ(query_tmux("#{window_width}x#{window_height}"), size) << "the user's window is unchanged";
    EXPECT_EQ(query_tmux("#{pane_id}"), active) << "and so is the current pane";
  }

  PaneRecorder recorder{shell("stty -echo; echo go; while read line; do echo \"<$line>\"; done"), {100, 30}};
  std::unique_ptr<TmuxUser> user;
};

TEST_F(PaneMoving, FollowsFromASessionThatEnds) { expect_followed(); }

TEST_F(PaneMoving, FollowsFromASessionThatStays) {
  open_another_window();
  expect_followed();
}

TEST_F(PaneMoving, FollowsBackToItsSessionAndRequestsItsSize) {
  open_another_window();
  expect_followed();
  const auto before = recorder.output;
  recorder.server.run({"break-pane", "-d", "-s", "%0", "-t", "=relay-Alice:"});
  ASSERT_TRUE(redrawn(before));
  EXPECT_TRUE(repeats("back again"));
  ASSERT_TRUE(recorder.pane->resize({110, 33}));
  EXPECT_TRUE(recorder.until([&] {
    return recorder.server.query({"display-message", "-p", "-t", "%0", "#{pane_width}x#{pane_height}"}) == "110x33\n";
  }));
}

TEST_F(PaneMoving, StaysAttachedInAnotherWindowOfItsSession) {
  recorder.server.run({"split-window", "-d", "-t", "%0", "sleep", "1000"});
  recorder.server.run({"break-pane", "-d", "-s", "%0", "-t", "=relay-Alice:"});
  EXPECT_TRUE(repeats("still here"));
  EXPECT_FALSE(recorder.output.contains("\x1b[2J")) << "no output was missed";
}

TEST_F(PaneMoving, FollowsAnUnannouncedMoveWhenTyping) {
  ASSERT_TRUE(recorder.pane->resize({90, 24}));  // child_end, so that no layout changes
  ASSERT_TRUE(recorder.until([&] {
    return recorder.server.query({"display-message", "-p", "-t", "%0", "#{pane_width}x#{pane_height}"}) == "90x24\n";
  }));
  recorder.server.run({"swap-window", "-d", "-s", "=relay-Alice:", "-t", "=user:"});
  EXPECT_TRUE(repeats("over here"));
  EXPECT_TRUE(repeats("and here"));
}

TEST(PaneKilled, EndsAProgramThatIgnoresItWhileTheSessionStays) {
  for (const auto* other : {"new-window", "split-window"}) {
    PaneRecorder recorder{shell("trap '' HUP; echo go; while :; do sleep 1000; done")};
    ASSERT_TRUE(recorder.wait_for("go"));
    recorder.server.run({other, "-d", "-t", "=relay-Alice:", "sleep", "1000"});
    recorder.server.run({"kill-pane", "-t", "%0"});
    EXPECT_TRUE(recorder.wait_exit()) << other;
    EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGTERM})) << other;
    EXPECT_EQ(recorder.server.query({"list-panes", "-a", "-F", "#{pane_id}"}), "%1\n") << "the other pane stays";
  }
}

}  // namespace
}  // namespace relay::tmux
