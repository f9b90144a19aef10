#include "tmux/pane_input.h"

#include <gtest/gtest.h>

#include "net/asio_loop.h"
#include "pty/child.h"

namespace relay::tmux {
namespace {

/// A terminal that always has room, and a tmux that answers when it is told to.
struct Typing : ::testing::Test {
  void say(std::string_view line, ControlClient::OnResponse on_answer) {
    pastes += line.starts_with("paste-buffer") ? 1 : 0;
    if (on_answer) answers.push_back(std::move(on_answer));
  }
  void answer() {
    const auto on_answer = std::move(answers.front());
    answers.pop_front();
    on_answer(CommandResult{.number = 1, .asked = true, .ok = true, .text = {}});
  }

  net::AsioLoop loop;
  int pastes = 0, typed = 0;
  std::deque<ControlClient::OnResponse> answers;
  PaneInput typist{loop, -1, PasteTarget{.pane = 3, .buffer = "b", .pastes_by_request = false},
                   [this](std::string_view line, ControlClient::OnResponse then) { say(line, std::move(then)); },
                   [this] { ++typed; }};
};

TEST_F(Typing, PastesWhatWasWrittenAtOnceByOneCommand) {
  const std::string whole(kMaxPieceBytes, 'x');
  EXPECT_EQ(typist.write(whole), whole.size());
  EXPECT_EQ(pastes, 1);
  EXPECT_EQ(typist.waiting(), whole.size()) << "until tmux says so";
  answer();
  EXPECT_EQ(typist.waiting(), 0U);
  EXPECT_EQ(typed, 1);
}

TEST_F(Typing, GivesTmuxNoMoreThanAPieceAtATime) {
  const std::string much(3 * kMaxPieceBytes, 'x');
  EXPECT_EQ(typist.write(much), much.size());
  EXPECT_EQ(pastes, 1);
  answer();
  EXPECT_EQ(pastes, 2);
  answer();
  EXPECT_EQ(pastes, 3);
  EXPECT_EQ(typist.waiting(), kMaxPieceBytes);
}

TEST_F(Typing, TakesNoMoreThanItMayKeep) {
  const std::string much(pty::kMaxInputBytes, 'x');
  EXPECT_EQ(typist.write("a"), 1U);
  EXPECT_EQ(typist.write(much), much.size() - 1);
  EXPECT_EQ(typist.write("b"), 0U);
}

TEST_F(Typing, KeepsWhatComesWhileItMayNotAndTypesItTogether) {
  typist.forbid();
  EXPECT_EQ(typist.write("one"), 3U);
  EXPECT_EQ(typist.write("two"), 3U);
  EXPECT_EQ(pastes, 0);
  EXPECT_EQ(typist.waiting(), 6U);
  typist.allow();
  EXPECT_EQ(pastes, 1);
}

TEST_F(Typing, TypesNothingTwiceWhenTheAnswerNeverCame) {
  typist.write("one");
  typist.forbid();
  EXPECT_EQ(typist.waiting(), 0U);
  typist.allow();
  EXPECT_EQ(pastes, 1);
}

TEST_F(Typing, TakesEverythingAndTypesNothingOnceNobodyReads) {
  typist.forbid();
  typist.write("one");
  typist.stop();
  typist.allow();
  EXPECT_EQ(typist.write("two"), 3U);
  EXPECT_EQ(pastes, 0);
  EXPECT_EQ(typist.waiting(), 0U);
}

}  // namespace
}  // namespace relay::tmux
