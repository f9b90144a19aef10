#include "host/prompts/dialog_answer.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using profiles::DialogKeys;

constexpr SteadyTime kBegun{std::chrono::seconds{100}};

Dialog offered(std::size_t marked, std::string whole = "run make?") {
  Dialog made{.whole = std::move(whole), .choices = {{"1", "Yes", "y"}, {"2", "Always", "a"}, {"3", "No", "n"}}};
  if (marked < made.choices.size()) made.choices[marked].marked = true;
  return made;
}
constexpr std::size_t kNowhere = 9;
constexpr Millis kGap{300};

struct DialogAnswerTest : ::testing::Test {
  SteadyTime now = kBegun;
  SteadyTime typed{};
  bool asked = true;

  DialogAnswer::Step step(DialogAnswer& answering, const std::optional<Dialog>& seen) {
    return answering.decide({.now = now, .dialog = seen ? &*seen : nullptr, .asked = asked, .typed = typed}).step;
  }
};

TEST_F(DialogAnswerTest, MarkedChoiceIsEnteredOnce) {
  DialogAnswer answering{offered(0), 0, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Enter);
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Wait);
  asked = false;
  EXPECT_EQ(step(answering, {}), DialogAnswer::Step::Taken);
}

TEST_F(DialogAnswerTest, DialogThatHasGoneIsTakenThoughItsRequestIsOpenStill) {
  DialogAnswer answering{offered(0), 0, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Enter);
  EXPECT_EQ(step(answering, {}), DialogAnswer::Step::Wait);
  now += kGone / 2;
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Wait) << "it was only drawn anew";
  now += kGone / 2;
  EXPECT_EQ(step(answering, {}), DialogAnswer::Step::Wait);
  now += kGone;
  EXPECT_EQ(step(answering, {}), DialogAnswer::Step::Taken);
}

TEST_F(DialogAnswerTest, MarkMovesOneStepAtATime) {
  DialogAnswer answering{offered(0), 2, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Wait) << "not drawn yet";
  EXPECT_EQ(step(answering, offered(kNowhere)), DialogAnswer::Step::Wait);
  EXPECT_EQ(step(answering, offered(1)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(answering, offered(2)), DialogAnswer::Step::Wait) << "too soon behind another key";
  now += kGap;
  EXPECT_EQ(step(answering, offered(2)), DialogAnswer::Step::Enter);
  DialogAnswer up{offered(2), 0, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(up, offered(2)), DialogAnswer::Step::Up);
}

TEST_F(DialogAnswerTest, AnotherDialogOrNoneIsNeverAnswered) {
  DialogAnswer changed{offered(0), 0, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(changed, offered(0, "run rm?")), DialogAnswer::Step::Failed);
  DialogAnswer vanished{offered(0), 0, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(vanished, {}), DialogAnswer::Step::Failed);
  DialogAnswer on_the_way{offered(0), 2, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(on_the_way, offered(0)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(on_the_way, offered(2, "run rm?")), DialogAnswer::Step::Wait) << "half drawn, perhaps";
  now += kRedraw;
  EXPECT_EQ(step(on_the_way, offered(2, "run rm?")), DialogAnswer::Step::Failed);
  DialogAnswer resolved{offered(0), 0, DialogKeys::Cursor, kGap, kBegun};
  asked = false;
  EXPECT_EQ(step(resolved, offered(0)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, TypingUserWins) {
  DialogAnswer answering{offered(0), 2, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Down);
  typed = kBegun + Millis{1};
  EXPECT_EQ(step(answering, offered(2)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, StuckMarkFailsAnswer) {
  DialogAnswer still{offered(0), 2, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(still, offered(0)), DialogAnswer::Step::Down);
  now += kChoosing;
  EXPECT_EQ(step(still, offered(0)), DialogAnswer::Step::Failed);
  now = kBegun;
  DialogAnswer away{offered(1), 2, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(away, offered(1)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(away, offered(0)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, StayingDialogIsNotPressedAgain) {
  DialogAnswer answering{offered(0), 0, DialogKeys::Cursor, kGap, kBegun};
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Enter);
  now += kTakenTimeout;
  EXPECT_EQ(step(answering, offered(0)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, LetterIsPressedWithEnter) {
  DialogAnswer answering{offered(kNowhere), 2, DialogKeys::Letter, kGap, kBegun};
  EXPECT_EQ(answering.letter(), "n");
  EXPECT_EQ(step(answering, offered(kNowhere)), DialogAnswer::Step::LetterAndEnter);
  EXPECT_EQ(step(answering, offered(kNowhere)), DialogAnswer::Step::Wait);
}

}  // namespace
}  // namespace relay::host
