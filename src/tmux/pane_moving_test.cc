/// A pane that a person moves into a session of theirs, or kills.
#include <gtest/gtest.h>

#include <csignal>

#include "tmux/testing/pane_recorder.h"

namespace relay::tmux {
namespace {

using pty::ExitStatus;
using testing::PaneRecorder;
using testing::Person;
using testing::shell;

/// An agent that repeats its lines, and a person in a session of their own.
struct PaneMoving : ::testing::Test {
  PaneMoving() {
    RELAY_ASSERT(recorder.shows("go"));
    recorder.server.run({"new-session", "-d", "-s", "person", "-x", "90", "-y", "25", "sleep", "1000"});
    person = std::make_unique<Person>(recorder, std::vector<std::string>{"attach-session", "-t", "=person"},
                                      pty::WindowSize{90, 25});
    RELAY_ASSERT(recorder.until([&] { return person->screen.contains("[person]"); }));
  }
  void open_another_window() { recorder.server.run({"new-window", "-d", "-t", "=relay-Alice:", "sleep", "1000"}); }
  std::string tell(const std::string& format) {
    return recorder.server.ask({"display-message", "-p", "-t", "=person:", format});
  }
  bool repeats(const std::string& words) {
    recorder.pane->write(words + "\r");
    return recorder.shows("<" + words + ">");
  }
  bool redrawn(const std::string& from) {
    return recorder.until([&] { return recorder.output.substr(from.size()).contains("\x1b[2J"); });
  }
  void expect_followed() {
    const auto size = tell("#{window_width}x#{window_height}"), active = tell("#{pane_id}");
    const auto before = recorder.output;
    recorder.server.run({"join-pane", "-d", "-s", "%0", "-t", "=person:"});
    ASSERT_TRUE(redrawn(before)) << "the screen is drawn again";
    EXPECT_TRUE(repeats("here too"));
    ASSERT_TRUE(recorder.until([&] { return !recorder.sizes.empty(); }));
    EXPECT_EQ(recorder.sizes.back().columns, 90);
    ASSERT_TRUE(recorder.pane->resize({120, 40}));
    ASSERT_TRUE(recorder.until([&] { return recorder.sizes.size() > 1; })) << "the wish is not granted, and it says so";
    EXPECT_EQ(tell("#{window_width}x#{window_height}"), size) << "the person's window stays as it was";
    EXPECT_EQ(tell("#{pane_id}"), active) << "and so does the pane they are in";
  }

  PaneRecorder recorder{shell("stty -echo; echo go; while read line; do echo \"<$line>\"; done"), {100, 30}};
  std::unique_ptr<Person> person;
};

TEST_F(PaneMoving, IsFollowedFromASessionThatEnds) { expect_followed(); }

TEST_F(PaneMoving, IsFollowedFromASessionThatStays) {
  open_another_window();
  expect_followed();
}

TEST_F(PaneMoving, IsFollowedHomeWhereOurWishesCountAgain) {
  open_another_window();
  expect_followed();
  const auto before = recorder.output;
  recorder.server.run({"break-pane", "-d", "-s", "%0", "-t", "=relay-Alice:"});
  ASSERT_TRUE(redrawn(before));
  EXPECT_TRUE(repeats("at home"));
  ASSERT_TRUE(recorder.pane->resize({110, 33}));
  EXPECT_TRUE(recorder.until([&] {
    return recorder.server.ask({"display-message", "-p", "-t", "%0", "#{pane_width}x#{pane_height}"}) == "110x33\n";
  }));
}

TEST_F(PaneMoving, StaysInSightInAnotherWindowOfItsSession) {
  recorder.server.run({"split-window", "-d", "-t", "%0", "sleep", "1000"});
  recorder.server.run({"break-pane", "-d", "-s", "%0", "-t", "=relay-Alice:"});
  EXPECT_TRUE(repeats("still here"));
  EXPECT_FALSE(recorder.output.contains("\x1b[2J")) << "nothing was missed";
}

TEST_F(PaneMoving, IsFollowedWhenSomethingIsTypedThoughNobodySaidThatItWentAway) {
  ASSERT_TRUE(recorder.pane->resize({90, 24}));  // theirs, so that no layout changes
  ASSERT_TRUE(recorder.until([&] {
    return recorder.server.ask({"display-message", "-p", "-t", "%0", "#{pane_width}x#{pane_height}"}) == "90x24\n";
  }));
  recorder.server.run({"swap-window", "-d", "-s", "=relay-Alice:", "-t", "=person:"});
  EXPECT_TRUE(repeats("over here"));
  EXPECT_TRUE(repeats("and here"));
}

TEST(PaneKilled, EndsThoughTheProgramDoesNotHearItAndTheSessionStays) {
  for (const auto* other : {"new-window", "split-window"}) {
    PaneRecorder recorder{shell("trap '' HUP; echo go; while :; do sleep 1000; done")};
    ASSERT_TRUE(recorder.shows("go"));
    recorder.server.run({other, "-d", "-t", "=relay-Alice:", "sleep", "1000"});
    recorder.server.run({"kill-pane", "-t", "%0"});
    EXPECT_TRUE(recorder.exits()) << other;
    EXPECT_EQ(recorder.status, (ExitStatus{ExitStatus::Kind::Signalled, SIGTERM})) << other;
    EXPECT_EQ(recorder.server.ask({"list-panes", "-a", "-F", "#{pane_id}"}), "%1\n") << "the other is left alone";
  }
}

}  // namespace
}  // namespace relay::tmux
