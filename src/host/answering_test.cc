#include "host/answering.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using profiles::Press;

constexpr SteadyTime kBegun{std::chrono::seconds{100}};

Dialog offered(std::size_t marked, std::string whole = "run make?") {
  Dialog made{.whole = std::move(whole), .choices = {{"1", "Yes", "y"}, {"2", "Always", "a"}, {"3", "No", "n"}}};
  if (marked < made.choices.size()) made.choices[marked].marked = true;
  return made;
}
constexpr std::size_t kNowhere = 9;
constexpr Millis kGap{300};

struct AnsweringTest : ::testing::Test {
  SteadyTime now = kBegun;
  SteadyTime typed{};
  bool asked = true;

  Answering::Step step(Answering& answering, const std::optional<Dialog>& seen) {
    return answering.decide({.now = now, .dialog = seen ? &*seen : nullptr, .asked = asked, .typed = typed}).step;
  }
};

TEST_F(AnsweringTest, WhatIsMarkedIsTakenByEnterOnce) {
  Answering answering{offered(0), 0, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Enter);
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Wait);
  asked = false;
  EXPECT_EQ(step(answering, {}), Answering::Step::Taken);
}

TEST_F(AnsweringTest, DialogThatHasGoneIsTakenThoughItsRequestIsOpenStill) {
  Answering answering{offered(0), 0, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Enter);
  EXPECT_EQ(step(answering, {}), Answering::Step::Wait);
  now += kGone / 2;
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Wait) << "it was only drawn anew";
  now += kGone / 2;
  EXPECT_EQ(step(answering, {}), Answering::Step::Wait);
  now += kGone;
  EXPECT_EQ(step(answering, {}), Answering::Step::Taken);
}

TEST_F(AnsweringTest, TheMarkIsMovedOneStepAtATimeAndSeenToMove) {
  Answering answering{offered(0), 2, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Down);
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Wait) << "not drawn yet";
  EXPECT_EQ(step(answering, offered(kNowhere)), Answering::Step::Wait);
  EXPECT_EQ(step(answering, offered(1)), Answering::Step::Down);
  EXPECT_EQ(step(answering, offered(2)), Answering::Step::Wait) << "too soon behind another key";
  now += kGap;
  EXPECT_EQ(step(answering, offered(2)), Answering::Step::Enter);
  Answering up{offered(2), 0, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(up, offered(2)), Answering::Step::Up);
}

TEST_F(AnsweringTest, AnotherDialogOrNoneIsNeverAnswered) {
  Answering changed{offered(0), 0, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(changed, offered(0, "run rm?")), Answering::Step::Failed);
  Answering vanished{offered(0), 0, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(vanished, {}), Answering::Step::Failed);
  Answering on_the_way{offered(0), 2, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(on_the_way, offered(0)), Answering::Step::Down);
  EXPECT_EQ(step(on_the_way, offered(2, "run rm?")), Answering::Step::Wait) << "half drawn, perhaps";
  now += kRedraw;
  EXPECT_EQ(step(on_the_way, offered(2, "run rm?")), Answering::Step::Failed);
  Answering resolved{offered(0), 0, Press::Mark, kGap, kBegun};
  asked = false;
  EXPECT_EQ(step(resolved, offered(0)), Answering::Step::Failed);
}

TEST_F(AnsweringTest, ThePersonAtTheKeyboardWins) {
  Answering answering{offered(0), 2, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Down);
  typed = kBegun + Millis{1};
  EXPECT_EQ(step(answering, offered(2)), Answering::Step::Failed);
}

TEST_F(AnsweringTest, AMarkThatDoesNotMoveOrMovesAwayIsGivenUp) {
  Answering still{offered(0), 2, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(still, offered(0)), Answering::Step::Down);
  now += kChoosing;
  EXPECT_EQ(step(still, offered(0)), Answering::Step::Failed);
  now = kBegun;
  Answering away{offered(1), 2, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(away, offered(1)), Answering::Step::Down);
  EXPECT_EQ(step(away, offered(0)), Answering::Step::Failed);
}

TEST_F(AnsweringTest, ADialogThatStaysIsNotPressedAgain) {
  Answering answering{offered(0), 0, Press::Mark, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Enter);
  now += kTakenPatience;
  EXPECT_EQ(step(answering, offered(0)), Answering::Step::Failed);
}

TEST_F(AnsweringTest, ALetterIsPressedWithItsEnter) {
  Answering answering{offered(kNowhere), 2, Press::Letter, kGap, kBegun};
  EXPECT_EQ(answering.letter(), "n");
  EXPECT_EQ(step(answering, offered(kNowhere)), Answering::Step::LetterAndEnter);
  EXPECT_EQ(step(answering, offered(kNowhere)), Answering::Step::Wait);
}

}  // namespace
}  // namespace relay::host
