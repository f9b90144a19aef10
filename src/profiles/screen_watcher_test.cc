#include "profiles/screen_watcher.h"

#include <gtest/gtest.h>

#include "profiles/registry.h"

namespace relay::profiles {
namespace {

using namespace std::chrono_literals;

/// A program that draws its whole screen each time.
struct WatcherTest : testing::Test {
  void draw(Millis at, const std::string& bytes) {
    screen.feed("\x1b[H\x1b[2J" + bytes);
    (void)watcher.update(screen, SteadyTime{at});
  }
  std::vector<std::string> final_commands() {
    std::vector<std::string> bodies;
    for (const auto& observation : watcher.finish())
      if (const auto* seen_command = std::get_if<CommandSeen>(&observation))
        bodies.push_back(std::get<commands::SendCommand>(seen_command->command).body);
    return bodies;
  }

  const std::string composer = "\r\n\r\n────────────────────\r\n❯ \r\n────────────────────\x1b[A\x1b[3G";
  CompiledProfile compiled = CompiledProfile::open(*find_profile("claude")).value();
  terminal::Screen screen{{60, 10}};
  ScreenWatcher watcher{compiled};
};

TEST_F(WatcherTest, ReadsTheLastOutputOfAProgramThatRemovedItsComposer) {
  draw(1s, "\x1b]0;◐ busy\x07● Sen" + composer);
  draw(2s, "\x1b]0;✳ idle\x07● Sending.\r\n\r\n  @relay:Bob goodbye" + composer);
  draw(2100ms, "See you.\r\n");
  EXPECT_EQ(final_commands(), std::vector<std::string>{"goodbye"});
}

TEST_F(WatcherTest, ReportsTheProgramsOwnStatus) {
  const auto status = [&](const std::string& state) {
    draw(1s, "\x1b]7501;state=" + state + ":app=x\a● Hello." + composer);
    const auto& first = watcher.estimate().evidence.at(0);
    return std::string{first.source} + " " + first.detail;
  };
  EXPECT_EQ(status("done"), "status idle");
  EXPECT_EQ(status("error"), "status idle, after an error");
  EXPECT_EQ(status("working"), "status working");
}

TEST_F(WatcherTest, IgnoresAnOpenTurnAtTheEnd) {
  draw(1s, "\x1b]0;◐ busy\x07● Sending.\r\n\r\n  @relay:Bob good" + composer);
  draw(1100ms, "Killed\r\n");
  EXPECT_TRUE(final_commands().empty());
}

TEST_F(WatcherTest, IsNotBlockedWhileTheAgentEnds) {
  draw(1s, "\x1b]0;✳ idle\x07● Hello." + composer);
  ASSERT_EQ(watcher.estimate().state, State::Idle);
  draw(2s, "\x1b]0;\x07● Hello.\r\nSee you.\r\n");
  EXPECT_EQ(watcher.estimate().state, State::Idle);
  EXPECT_TRUE(watcher.mid_frame()) << "nothing may be typed";
  draw(2s + kVanished / 2, "● Hello.\r\nSee you.\r\nResume with claude -r\r\n");
  EXPECT_EQ(watcher.estimate().state, State::Idle);
}

TEST_F(WatcherTest, IgnoresAMomentaryCursorMove) {
  draw(1s, "\x1b]0;✳ idle\x07● Hello." + composer);
  ASSERT_EQ(watcher.estimate().state, State::Idle);
  draw(2s, "● Hello." + composer + "\x1b[H");
  EXPECT_EQ(watcher.estimate().state, State::Idle) << "a frame is being drawn";
  EXPECT_TRUE(watcher.mid_frame());
  draw(2010ms, "● Hello." + composer);
  EXPECT_EQ(watcher.estimate().state, State::Idle);
  EXPECT_FALSE(watcher.mid_frame());
  draw(3s, "● Hello." + composer + "\x1b[H");
  (void)watcher.update(screen, SteadyTime{3s + kVanished});
  EXPECT_EQ(watcher.estimate().state, State::Unknown);
}

TEST_F(WatcherTest, BlocksOnAScreenThatHidesTheComposer) {
  draw(1s, "\x1b]0;✳ idle\x07● Hello." + composer);
  draw(2s, "\x1b]0;\x07Some help that was opened");
  ASSERT_EQ(watcher.next_update_at(), SteadyTime{2s + kVanished});
  (void)watcher.update(screen, SteadyTime{2s + kVanished});
  EXPECT_EQ(watcher.estimate().state, State::Blocked);
  EXPECT_FALSE(watcher.mid_frame());
}

TEST_F(WatcherTest, ReportsWhenAnUnknownScreenAppeared) {
  draw(1s, "\x1b]0;✳ idle\x07● Hello." + composer);
  draw(2s, "● Hello." + composer + "\x1b[H");
  EXPECT_FALSE(watcher.covered_since()) << "it is drawn, without its cursor";
  draw(2100ms, "\x1b]0;\x07Some help that was opened");
  EXPECT_EQ(watcher.covered_since(), SteadyTime{2100ms});
  (void)watcher.update(screen, SteadyTime{2s + kVanished});
  ASSERT_EQ(watcher.estimate().state, State::Blocked);
  EXPECT_EQ(watcher.estimate().blocker, Blocker::UnknownScreen);
  EXPECT_EQ(watcher.covered_since(), SteadyTime{2100ms});
  draw(4s, "\x1b]0;✳ idle\x07● Hello." + composer);
  EXPECT_FALSE(watcher.covered_since());
}

TEST(Blockers, NameOnlyRecognizedDialogs) {
  EXPECT_EQ(reason_of(Blocker::Dialog), "a dialog is open");
  EXPECT_EQ(reason_of(Blocker::UnknownScreen), "the screen is not recognized");
  EXPECT_EQ(reason_of(Blocker::Silent), "it has had no output and shows no prompt");
}

/// Gemini CLI draws its composer before it is initialized, its header afterwards.
struct StartingTest : testing::Test {
  State draw_at(Millis at, const std::string& header) {
    const std::string composer = "▄▄▄▄▄▄▄▄▄▄\r\n >   Type your message or @path/to/file\r\n▀▀▀▀▀▀▀▀▀▀\x1b[A\x1b[5G";
    screen.feed("\x1b[H\x1b[2J" + header + composer);
    (void)watcher.update(screen, SteadyTime{at});
    return watcher.estimate().state;
  }

  CompiledProfile compiled = CompiledProfile::open(*find_profile("gemini")).value();
  terminal::Screen screen{{60, 10}};
  ScreenWatcher watcher{compiled};
};

TEST_F(StartingTest, IsNotIdleBeforeItTakesPrompts) {
  EXPECT_EQ(draw_at(1s, ""), State::Unknown);
  EXPECT_EQ(draw_at(3s, ""), State::Unknown);
  EXPECT_EQ(draw_at(4s, " ▝▜▄     Gemini CLI v0.61.0\r\n\r\n"), State::Idle);
  EXPECT_EQ(draw_at(5s, ""), State::Idle) << "it scrolls away";
}

TEST_F(StartingTest, IsNotStartingOnAnUnknownScreenAfterReady) {
  const std::string header = " ▝▜▄     Gemini CLI v0.61.0\r\n\r\n";
  EXPECT_EQ(draw_at(1s, ""), State::Unknown);
  EXPECT_TRUE(watcher.is_starting());
  ASSERT_EQ(draw_at(2s, header), State::Idle);
  EXPECT_FALSE(watcher.is_starting());
  screen.feed("\x1b[1;1H");  // the cursor leaves the composer
  (void)watcher.update(screen, SteadyTime{3s});
  (void)watcher.update(screen, SteadyTime{3s + kVanished});
  ASSERT_EQ(watcher.estimate().state, State::Unknown);
  EXPECT_FALSE(watcher.is_starting());
}

TEST_F(StartingTest, HiddenHeaderOnlyDelaysTheStart) {
  EXPECT_EQ(draw_at(1s, ""), State::Unknown);
  ASSERT_EQ(watcher.next_update_at(), SteadyTime{1s + kReadyTimeout});
  (void)watcher.update(screen, SteadyTime{1s + kReadyTimeout});
  EXPECT_EQ(watcher.estimate().state, State::Idle);
}

TEST_F(StartingTest, IgnoresDialogTextInAFrameWithoutComposer) {
  const std::string header = " ▝▜▄     Gemini CLI v0.61.0\r\n\r\n",
                    words = "✦ It then asks: Apply this change?\r\n\r\n";
  ASSERT_EQ(draw_at(1s, header + words), State::Idle);
  screen.feed("\x1b[H\x1b[2J" + header + words);
  (void)watcher.update(screen, SteadyTime{2s});
  EXPECT_EQ(watcher.estimate().state, State::Idle);
  EXPECT_TRUE(watcher.mid_frame());
  EXPECT_EQ(draw_at(2010ms, header + words), State::Idle);
  screen.feed("\x1b[H\x1b[2J" + header + words + "╭────────────────────╮\r\n│ Apply this change? │\r\n");
  (void)watcher.update(screen, SteadyTime{3s});
  EXPECT_EQ(watcher.estimate().state, State::Blocked) << "this is one";
  EXPECT_EQ(watcher.estimate().blocker, Blocker::Dialog);
}

TEST_F(StartingTest, MessageAboveAnOpenDialogIsNoDraft) {
  const std::string header = " ▝▜▄     Gemini CLI v0.61.0\r\n\r\n";
  ASSERT_EQ(draw_at(1s, header), State::Idle);
  screen.feed("\x1b]0;✋  Action Required (proj)                                   \a\x1b[H\x1b[2J" + header +
              "▄▄▄▄▄▄▄▄▄▄\r\n > Message from your user human: write a file\r\n▀▀▀▀▀▀▀▀▀▀\r\n✦ Writing.\r\n"
              "╭────────────────────╮\r\n│ Apply this change? │\r\n│ ● 1. Allow once │\r\n");
  (void)watcher.update(screen, SteadyTime{2s});
  EXPECT_EQ(watcher.estimate().state, State::Blocked);
  EXPECT_FALSE(watcher.analysis().composer) << "it is drawn like the composer, which is not drawn";
  ASSERT_FALSE(watcher.estimate().evidence.empty());
  EXPECT_EQ(watcher.estimate().evidence.front().detail, "blocked (\"✋  Action Required (proj)\")")
      << "trailing blanks are removed";
}

TEST_F(StartingTest, QueuedPromptsCountAsWork) {
  ASSERT_EQ(draw_at(1s, " ▝▜▄     Gemini CLI v0.61.0\r\n\r\n"), State::Idle);
  EXPECT_EQ(draw_at(2s, "  Queued (press ↑ to edit):\r\n    Relay message from Bob\r\n"), State::Working);
}

TEST_F(WatcherTest, BlocksOnAnUndescribedScreen) {
  draw(1s, "A question of a release to come\r\n\r\n > Accept   Refuse");
  EXPECT_EQ(watcher.estimate().state, State::Unknown);
  ASSERT_EQ(watcher.next_update_at(), SteadyTime{1s + kUnknownScreenDelay});
  const auto observations = watcher.update(screen, SteadyTime{1s + kUnknownScreenDelay});
  EXPECT_EQ(watcher.estimate().state, State::Blocked);
  EXPECT_EQ(watcher.estimate().evidence.back().detail, kUnrecognizedScreen);
  ASSERT_EQ(observations.size(), 2u);
  const auto* dialog = std::get_if<profiles::QuestionDialog>(&observations[1]);
  ASSERT_NE(dialog, nullptr);
  EXPECT_EQ(dialog->body, "A question of a release to come\n> Accept   Refuse");
  EXPECT_FALSE(dialog->is_complete) << "it must not be answered by keys";
  draw(20s, "Another question\r\n");
  EXPECT_EQ(watcher.estimate().state, State::Blocked);
  draw(21s, "\x1b]0;✳ idle\x07● Hello." + composer);
  EXPECT_EQ(watcher.estimate().state, State::Idle);
}

TEST_F(WatcherTest, BlocksOnAnAnimatedScreen) {
  for (auto at = Millis{1'000}; at < 1s + kMaxUnknownScreen; at += 500ms) {
    draw(at, "Waiting for your browser" + std::string(static_cast<std::size_t>(at.count() / 500 % 4), '.'));
    ASSERT_EQ(watcher.estimate().state, State::Unknown);
  }
  draw(1s + kMaxUnknownScreen, "Waiting for your browser");
  EXPECT_EQ(watcher.estimate().state, State::Blocked);
}

TEST_F(WatcherTest, ReportsAnUndescribedScreenInPlaceOfTheComposer) {
  const std::string menu = "\x1b]0;\x07Where should it run?\r\n\r\n > Here   Elsewhere";
  draw(1s, "\x1b]0;✳ idle\x07● Hello." + composer);
  draw(2s, menu);
  (void)watcher.update(screen, SteadyTime{2s + kVanished});
  ASSERT_EQ(watcher.estimate().state, State::Blocked);
  EXPECT_FALSE(watcher.analysis().findings.question) << "it may close soon";
  ASSERT_EQ(watcher.next_update_at(), SteadyTime{2s + kVanished + kUnknownScreenDelay});
  (void)watcher.update(screen, SteadyTime{2s + kVanished + kUnknownScreenDelay});
  EXPECT_EQ(watcher.estimate().state, State::Blocked);
  EXPECT_EQ(watcher.estimate().blocker, Blocker::UnknownScreen);
  ASSERT_TRUE(watcher.analysis().findings.question);
  EXPECT_EQ(watcher.analysis().findings.question->body, "Where should it run?\n> Here   Elsewhere");
  EXPECT_FALSE(watcher.next_update_at());
  draw(20s, "\x1b]0;✳ idle\x07● Hello." + composer);
  EXPECT_EQ(watcher.estimate().state, State::Idle);
  EXPECT_FALSE(watcher.analysis().findings.question);
}

TEST_F(WatcherTest, ReportsADialogWithOnlyAMark) {
  draw(1s, "\x1b]0;✳ idle\x07● Hello." + composer);
  draw(2s, "\x1b]0;\x07Something new\r\n Esc to cancel");
  ASSERT_EQ(watcher.estimate().state, State::Blocked);
  (void)watcher.update(screen, SteadyTime{2s + kUnknownScreenDelay});
  EXPECT_EQ(watcher.estimate().blocker, Blocker::Dialog);
  ASSERT_TRUE(watcher.analysis().findings.question);
  EXPECT_EQ(watcher.analysis().findings.question->body, "Something new\nEsc to cancel");
}

TEST_F(WatcherTest, ReportsAChangedUnknownScreenAgain) {
  draw(1s, "The first");
  (void)watcher.update(screen, SteadyTime{1s + kUnknownScreenDelay});
  draw(20s, "The second");
  ASSERT_TRUE(watcher.analysis().findings.question);
  EXPECT_EQ(watcher.analysis().findings.question->body, "The first") << "it may still be drawn";
  ASSERT_EQ(watcher.next_update_at(), SteadyTime{20s + kUnknownScreenDelay});
  (void)watcher.update(screen, SteadyTime{20s + kUnknownScreenDelay});
  EXPECT_EQ(watcher.analysis().findings.question->body, "The second");
  EXPECT_FALSE(watcher.next_update_at());
}

TEST_F(WatcherTest, TreatsAnEmptyScreenAsStarting) {
  draw(1s, "");
  EXPECT_FALSE(watcher.next_update_at());
  draw(60s, "");
  EXPECT_EQ(watcher.estimate().state, State::Unknown);
}

}  // namespace
}  // namespace relay::profiles
