#include "host/prompts/dialog_answer.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using profiles::DialogKeys;

constexpr SteadyTime kStart{std::chrono::seconds{100}};

Dialog dialog_marked(std::size_t marked, std::string full_text = "run make?") {
  Dialog made{.full_text = std::move(full_text),
              .choices = {{"1", "Yes", "y"}, {"2", "Always", "a"}, {"3", "No", "n"}}};
  if (marked < made.choices.size()) made.choices[marked].marked = true;
  return made;
}
constexpr std::size_t kNoMark = 9;
constexpr Millis kGap{300};

struct DialogAnswerTest : ::testing::Test {
  SteadyTime now = kStart;
  SteadyTime typed{};
  bool is_open = true;

  DialogAnswer::Step step(DialogAnswer& answer, const std::optional<Dialog>& dialog) {
    return answer.decide({.now = now, .dialog = dialog ? &*dialog : nullptr, .is_open = is_open, .typed = typed}).step;
  }
};

TEST_F(DialogAnswerTest, MarkedChoiceIsEnteredOnce) {
  DialogAnswer answer{dialog_marked(0), 0, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Enter);
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Wait);
  is_open = false;
  EXPECT_EQ(step(answer, {}), DialogAnswer::Step::Accepted);
}

TEST_F(DialogAnswerTest, ClosedDialogIsTakenWhileRequestIsOpen) {
  DialogAnswer answer{dialog_marked(0), 0, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Enter);
  EXPECT_EQ(step(answer, {}), DialogAnswer::Step::Wait);
  now += kClosedTime / 2;
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Wait) << "it was only redrawn";
  now += kClosedTime / 2;
  EXPECT_EQ(step(answer, {}), DialogAnswer::Step::Wait);
  now += kClosedTime;
  EXPECT_EQ(step(answer, {}), DialogAnswer::Step::Accepted);
}

TEST_F(DialogAnswerTest, MarkMovesOneStepAtATime) {
  DialogAnswer answer{dialog_marked(0), 2, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Wait) << "not drawn yet";
  EXPECT_EQ(step(answer, dialog_marked(kNoMark)), DialogAnswer::Step::Wait);
  EXPECT_EQ(step(answer, dialog_marked(1)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(answer, dialog_marked(2)), DialogAnswer::Step::Wait) << "too soon after another key";
  now += kGap;
  EXPECT_EQ(step(answer, dialog_marked(2)), DialogAnswer::Step::Enter);
  DialogAnswer up{dialog_marked(2), 0, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(up, dialog_marked(2)), DialogAnswer::Step::Up);
}

TEST_F(DialogAnswerTest, OtherDialogIsNeverAnswered) {
  DialogAnswer changed{dialog_marked(0), 0, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(changed, dialog_marked(0, "run rm?")), DialogAnswer::Step::Failed);
  DialogAnswer vanished{dialog_marked(0), 0, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(vanished, {}), DialogAnswer::Step::Failed);
  DialogAnswer moving{dialog_marked(0), 2, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(moving, dialog_marked(0)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(moving, dialog_marked(2, "run rm?")), DialogAnswer::Step::Wait) << "perhaps half drawn";
  now += kRedrawTimeout;
  EXPECT_EQ(step(moving, dialog_marked(2, "run rm?")), DialogAnswer::Step::Failed);
  DialogAnswer resolved{dialog_marked(0), 0, DialogKeys::Cursor, kGap, kStart};
  is_open = false;
  EXPECT_EQ(step(resolved, dialog_marked(0)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, TypingUserWins) {
  DialogAnswer answer{dialog_marked(0), 2, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Down);
  typed = kStart + Millis{1};
  EXPECT_EQ(step(answer, dialog_marked(2)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, StuckMarkFailsAnswer) {
  DialogAnswer still{dialog_marked(0), 2, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(still, dialog_marked(0)), DialogAnswer::Step::Down);
  now += kChoosingTimeout;
  EXPECT_EQ(step(still, dialog_marked(0)), DialogAnswer::Step::Failed);
  now = kStart;
  DialogAnswer wrong_way{dialog_marked(1), 2, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(wrong_way, dialog_marked(1)), DialogAnswer::Step::Down);
  EXPECT_EQ(step(wrong_way, dialog_marked(0)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, StayingDialogIsNotPressedAgain) {
  DialogAnswer answer{dialog_marked(0), 0, DialogKeys::Cursor, kGap, kStart};
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Enter);
  now += kCloseTimeout;
  EXPECT_EQ(step(answer, dialog_marked(0)), DialogAnswer::Step::Failed);
}

TEST_F(DialogAnswerTest, LetterIsPressedWithEnter) {
  DialogAnswer answer{dialog_marked(kNoMark), 2, DialogKeys::Letter, kGap, kStart};
  EXPECT_EQ(answer.letter(), "n");
  EXPECT_EQ(step(answer, dialog_marked(kNoMark)), DialogAnswer::Step::LetterAndEnter);
  EXPECT_EQ(step(answer, dialog_marked(kNoMark)), DialogAnswer::Step::Wait);
}

}  // namespace
}  // namespace relay::host
