#include "host/injection.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct InjectionTest : testing::Test {
  Situation now{.now = SteadyTime{1h}, .state = State::Idle, .since = SteadyTime{}};
  Injection injection{profiles::TypingRules{}};

  Step after(Millis time, State state) {
    now.now += time;
    if (state != now.state) now.since = now.now;
    now.state = state;
    return injection.decide(now).step;
  }
  void person_types() { now.typing.any = now.typing.edit = now.now; }
  void person_enters() { now.typing.any = now.typing.enter = now.now; }
};

TEST_F(InjectionTest, WritesWaitsTheGapPressesEnterAndSeesItWork) {
  EXPECT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(20ms, State::Typing), Step::Wait);
  EXPECT_EQ(after(279ms, State::Typing), Step::Wait);
  EXPECT_EQ(after(1ms, State::Typing), Step::Enter);
  EXPECT_EQ(after(30ms, State::Working), Step::Delivered);
}

TEST_F(InjectionTest, WaitsWhileAnythingElseGoesOn) {
  for (const auto state : {State::Unknown, State::Working, State::Blocked, State::Typing})
    EXPECT_EQ(after(10s, state), Step::Wait) << name_of(state);
  EXPECT_EQ(after(0ms, State::Idle), Step::Wait) << "it may only seem idle";
  EXPECT_EQ(after(kIdleSettle, State::Idle), Step::Paste);
}

TEST_F(InjectionTest, AScreenThatIsNotUnderstoodIsNotToldAsADialog) {
  const auto reason = [&] { return injection.decide(now).reason; };
  ASSERT_EQ(after(1s, State::Blocked), Step::Wait);
  EXPECT_EQ(reason(), "a dialog is open");
  now.blocker = profiles::Blocker::UnknownScreen;
  EXPECT_EQ(reason(), "the screen is not understood");
  ASSERT_EQ(after(1s, State::Idle), Step::Wait);
  ASSERT_EQ(after(kIdleSettle, State::Idle), Step::Paste);
  ASSERT_EQ(after(10ms, State::Blocked), Step::Wait);
  EXPECT_EQ(reason(), "the screen is not understood");
  now.blocker = profiles::Blocker::Known;
  EXPECT_EQ(reason(), "a dialog opened before Enter");
}

TEST_F(InjectionTest, LeavesAPersonWhoJustTypedAlone) {
  person_types();
  EXPECT_EQ(after(1s, State::Idle), Step::Wait);
  EXPECT_EQ(injection.decide(now).look_again, now.typing.any + kPersonQuiet);
  EXPECT_EQ(after(500ms, State::Idle), Step::Paste);
}

TEST_F(InjectionTest, CutsOneTurnShortAndNeverAnother) {
  injection = Injection{profiles::TypingRules{.interrupt = "\x1b"}, Injection::Haste::Interrupts};
  now.composer_free = true;
  EXPECT_EQ(after(0ms, State::Working), Step::Wait);
  EXPECT_EQ(after(kTurnBegun, State::Working), Step::Interrupt);
  EXPECT_EQ(after(1s, State::Working), Step::Wait);
  EXPECT_TRUE(injection.interrupted());
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait);
  EXPECT_EQ(after(10ms, State::Working), Step::Wait);  // a person was faster
  EXPECT_FALSE(injection.interrupted()) << "others may go first now";
  EXPECT_EQ(after(10 * kTurnBegun, State::Working), Step::Wait);
}

TEST_F(InjectionTest, NeverPressesEnterIntoADialogThatOpenedMeanwhile) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after(100ms, State::Blocked), Step::Wait);
  EXPECT_EQ(after(100ms, State::Typing), Step::Wait) << "another may follow";
  EXPECT_EQ(after(kIdleSettle, State::Typing), Step::Enter) << "it closed, and our text is still there";
}

TEST_F(InjectionTest, PressesEnterAfterAPersonAnsweredTheDialog) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(100ms, State::Blocked), Step::Wait);
  now.now += 5s;
  person_types();
  EXPECT_EQ(after(0ms, State::Blocked), Step::Wait) << "the key is on its way to the dialog";
  EXPECT_EQ(after(20ms, State::Typing), Step::Wait);
  EXPECT_EQ(after(kPersonQuiet - 21ms, State::Typing), Step::Wait) << "the person may go on typing";
  EXPECT_EQ(after(1ms, State::Typing), Step::Enter);
}

TEST_F(InjectionTest, LeavesTheTextToAPersonWhoGoesOnTypingAfterTheDialog) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(100ms, State::Blocked), Step::Wait);
  EXPECT_EQ(after(100ms, State::Typing), Step::Wait);
  now.now += 1ms;
  person_types();
  EXPECT_EQ(after(1min, State::Typing), Step::Wait);
}

TEST_F(InjectionTest, KnowsTheTextIsGoneThoughADialogWasAnsweredAfterEnter) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  EXPECT_EQ(after(10ms, State::Blocked), Step::Wait);
  now.now += 1s;
  person_types();
  EXPECT_EQ(after(0ms, State::Blocked), Step::Wait);
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait);
  EXPECT_EQ(after(kIdleSettle, State::Idle), Step::Delivered);
}

TEST_F(InjectionTest, DoesNotCutARunningReplyShort) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(400ms, State::Working), Step::Wait);
  EXPECT_EQ(after(5s, State::Typing), Step::Enter);
}

TEST_F(InjectionTest, PressesEnterOnceMoreAndThenDoubts) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  EXPECT_EQ(after(999ms, State::Typing), Step::Wait);
  EXPECT_EQ(after(1ms, State::Typing), Step::Enter);
  EXPECT_EQ(after(1s, State::Typing), Step::InDoubt);
}

TEST_F(InjectionTest, AnotherTurnDoesNotSubmitTextThatStandsInTheComposer) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.text_stands = true;
  EXPECT_EQ(after(50ms, State::Working), Step::Wait) << "the turn of a prompt that was queued before";
  EXPECT_TRUE(injection.decide(now).look_again) << "the frame may be older than Enter";
  EXPECT_EQ(after(kEnterPatience, State::Working), Step::Wait);
  EXPECT_EQ(injection.decide(now).reason, "the agent is working and the text stands unsent");
  EXPECT_FALSE(injection.decide(now).look_again);
  EXPECT_EQ(after(5s, State::Typing), Step::Enter) << "that turn is over";
  now.text_stands = false;
  EXPECT_EQ(after(50ms, State::Working), Step::Delivered);
}

TEST_F(InjectionTest, AFrameWithoutAComposerDoesNotShowASubmission) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.composer_seen = false;
  EXPECT_EQ(after(50ms, State::Working), Step::Wait) << "it may be half drawn";
  now.composer_seen = now.text_stands = true;
  EXPECT_EQ(after(50ms, State::Working), Step::Wait);
  now.composer_seen = now.text_stands = false;
  EXPECT_EQ(after(50ms, State::Working), Step::Wait);
  EXPECT_EQ(after(kUnseen, State::Working), Step::Delivered) << "a program without a composer while it works";
}

TEST_F(InjectionTest, TextThatEnterDoesNotSendIsErased) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.text_stands = true;
  ASSERT_EQ(after(1s, State::Typing), Step::Enter);
  EXPECT_EQ(after(1s, State::Typing), Step::Erase);
  EXPECT_EQ(after(50ms, State::Typing), Step::Wait);
  now.text_stands = false;
  EXPECT_EQ(after(50ms, State::Idle), Step::Wait);
  EXPECT_EQ(after(kIdleSettle, State::Idle), Step::InDoubt) << "a slow program may have taken Enter after all";
}

TEST_F(InjectionTest, TextThatCannotBeErasedIsInDoubt) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.text_stands = true;
  ASSERT_EQ(after(1s, State::Typing), Step::Enter);
  ASSERT_EQ(after(1s, State::Typing), Step::Erase);
  EXPECT_EQ(after(kErasePatience, State::Typing), Step::InDoubt);
}

TEST_F(InjectionTest, TextWithAPersonsOwnIsNotErased) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.text_stands = true;
  now.draft_is_ours = false;
  EXPECT_EQ(after(10s, State::Typing), Step::Wait);
}

TEST_F(InjectionTest, KeysAreHeldFromThePasteUntilTheTextIsTaken) {
  EXPECT_FALSE(injection.holds_keys());
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_TRUE(injection.holds_keys());
  now.text_stands = true;
  now.keys.since = now.now;
  ASSERT_EQ(after(50ms, State::Typing), Step::Wait);
  ASSERT_EQ(after(250ms, State::Typing), Step::Enter) << "they did not touch it";
  EXPECT_TRUE(injection.holds_keys());
  now.text_stands = false;
  EXPECT_EQ(after(30ms, State::Working), Step::Delivered);
}

TEST_F(InjectionTest, KeysDoNotWaitForAnEnterThatIsFar) {
  injection = Injection{profiles::TypingRules{.submit_gap = 4s}};
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.keys.since = now.now;
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait) << "it is not drawn yet";
  now.text_stands = true;
  EXPECT_EQ(after(10ms, State::Typing), Step::Erase);
  now.text_stands = false;
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait);
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, HeldKeysAreDueWhenTheirTimeIsOver) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_FALSE(injection.keys_due());
  now.keys.since = now.now;
  ASSERT_EQ(after(10ms, State::Unknown), Step::Wait);
  EXPECT_EQ(injection.keys_due(), *now.keys.since + kSlowPatience);
  now.text_stands = true;
  ASSERT_EQ(after(10ms, State::Typing), Step::Wait);
  EXPECT_EQ(injection.keys_due(), *now.keys.since + kKeysPatience);
}

TEST_F(InjectionTest, KeysOfTheUserDoNotWaitForAnotherTurn) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.text_stands = true;
  ASSERT_EQ(after(50ms, State::Working), Step::Wait);
  EXPECT_TRUE(injection.holds_keys());
  now.keys.since = now.now;
  EXPECT_EQ(after(1ms, State::Working), Step::Erase);
  now.text_stands = false;
  EXPECT_EQ(after(50ms, State::Working), Step::Wait);
  EXPECT_FALSE(injection.begun()) << "it was not sent: it waits for its moment";
  EXPECT_FALSE(injection.holds_keys());
  now.keys = {};
  EXPECT_EQ(after(5s, State::Idle), Step::Wait);
  EXPECT_EQ(after(kIdleSettle, State::Idle), Step::Paste);
}

TEST_F(InjectionTest, EscapeBeforeEnterTakesTheTextOut) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.keys = {.since = now.now, .cancel = true};
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait) << "it is not drawn yet";
  now.text_stands = true;
  EXPECT_EQ(after(10ms, State::Typing), Step::Erase);
  now.text_stands = false;
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait);
  EXPECT_FALSE(injection.begun());
}

TEST_F(InjectionTest, EnterThatIsNotTakenInAMomentGivesWayToKeys) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.text_stands = true;
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.keys.since = now.now;
  ASSERT_EQ(after(1s, State::Typing), Step::Enter);
  EXPECT_EQ(after(kSlowPatience - 1s, State::Typing), Step::Erase);
  now.text_stands = false;
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait);
  EXPECT_EQ(after(kIdleSettle, State::Idle), Step::InDoubt) << "Enter may have been taken";
}

TEST_F(InjectionTest, KeysGoToADialogAtOnce) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.keys.since = now.now;
  EXPECT_EQ(after(10ms, State::Blocked), Step::Wait);
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, TextBehindADialogIsErasedBeforeHeldKeysFollow) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.text_stands = true;
  now.keys.since = now.now;
  ASSERT_EQ(after(10ms, State::Blocked), Step::Wait);
  ASSERT_EQ(after(60s, State::Blocked), Step::Wait);
  person_types();  // the answer
  now.keys.since = now.now;
  ASSERT_EQ(after(1ms, State::Typing), Step::Wait);
  EXPECT_TRUE(injection.holds_keys()) << "they do not go to the text";
  EXPECT_EQ(injection.keys_due(), now.since + kIdleSettle);
  EXPECT_EQ(after(kIdleSettle, State::Typing), Step::Erase);
  now.text_stands = false;
  EXPECT_EQ(after(10ms, State::Idle), Step::Wait);
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, KeysGoOnWhereTheTextCannotBeErased) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.keys.since = now.now;
  EXPECT_EQ(after(kSlowPatience - 1ms, State::Unknown), Step::Wait);
  EXPECT_TRUE(injection.holds_keys());
  EXPECT_EQ(after(1ms, State::Unknown), Step::Wait);
  EXPECT_FALSE(injection.holds_keys());
  person_types();
  now.keys = {};
  now.text_stands = true;
  now.draft_is_ours = false;
  EXPECT_EQ(after(1s, State::Typing), Step::Wait) << "never Enter";
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, NothingIsTypedWhileKeysWait) {
  now.keys.since = now.now;
  EXPECT_EQ(after(10s, State::Idle), Step::Wait);
}

TEST_F(InjectionTest, HandsTheMessageToAPersonWhoEditsIt) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(100ms, State::Typing), Step::Wait);
  now.now += 1ms;
  person_types();
  for (int i = 0; i < 50; ++i) EXPECT_EQ(after(1s, State::Typing), Step::Wait);
  person_enters();
  EXPECT_EQ(after(1s, State::Working), Step::Wait) << "the agent's record may show what was sent";
  EXPECT_TRUE(injection.doubted());
  EXPECT_EQ(after(1s, State::Idle), Step::Wait);
  EXPECT_EQ(after(kShownPatience, State::Idle), Step::InDoubt) << "nobody knows what is left of our text";
}

TEST_F(InjectionTest, APersonsEnterAloneSendsWhatWeWrote) {
  for (const auto state : {State::Idle, State::Working}) {
    injection = Injection{profiles::TypingRules{}};
    now.typing = {};
    ASSERT_EQ(after(10s, State::Idle), Step::Paste);
    EXPECT_EQ(after(100ms, State::Typing), Step::Wait);
    now.now += 1ms;
    person_enters();
    if (state == State::Idle) { EXPECT_EQ(after(100ms, state), Step::Wait) << "a frame may be half drawn"; }
    EXPECT_EQ(after(kGonePatience, state), Step::Delivered);
  }
}

TEST_F(InjectionTest, WhatStandsUnsentWhileTheAgentWorksIsNotInDoubt) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(50ms, State::Typing), Step::Wait);
  now.now += 1ms;
  person_types();
  now.composer_free = false;
  EXPECT_EQ(after(10ms, State::Working), Step::Wait) << "a turn of its own";
  EXPECT_EQ(after(kShownPatience + 1s, State::Working), Step::Wait);
  EXPECT_EQ(injection.decide(now).reason, "the agent began to work before Enter");
  EXPECT_EQ(after(1s, State::Typing), Step::Wait) << "the person has it in hand";
  person_enters();
  EXPECT_EQ(after(10ms, State::Working), Step::Wait) << "sent, but edited: the record may tell";
  EXPECT_EQ(after(kShownPatience, State::Working), Step::InDoubt);
}

TEST_F(InjectionTest, WhatAPersonTypedBeforeItIsNotOurs) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.draft_is_ours = false;
  EXPECT_EQ(after(100ms, State::Typing), Step::Wait);
  now.now += 1ms;
  person_enters();
  EXPECT_EQ(after(10ms, State::Working), Step::Wait);
  EXPECT_EQ(after(kShownPatience, State::Working), Step::InDoubt);
}

TEST_F(InjectionTest, WhatAPersonReplacedAfterOurEnterIsInDoubt) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  EXPECT_EQ(after(10ms, State::Typing), Step::Wait) << "it was not taken";
  person_types();
  EXPECT_EQ(after(10ms, State::Typing), Step::Wait);
  person_enters();
  EXPECT_EQ(after(10ms, State::Working), Step::Wait);
  EXPECT_EQ(after(kShownPatience, State::Working), Step::InDoubt);
}

TEST_F(InjectionTest, WhoTypesOnAfterOurEnterHasNotSentAnything) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  ASSERT_EQ(after(300ms, State::Typing), Step::Enter);
  now.now += 1ms;
  person_types();
  EXPECT_EQ(after(10ms, State::Working), Step::Delivered);
}

TEST_F(InjectionTest, SaysThatAPersonRemovedIt) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(100ms, State::Typing), Step::Wait);
  now.now += 1ms;
  person_types();
  EXPECT_EQ(after(100ms, State::Idle), Step::Wait) << "a frame may be half drawn";
  EXPECT_EQ(after(kGonePatience, State::Idle), Step::Failed);
}

TEST_F(InjectionTest, DoesNotSubmitWhatIsNotItsOwn) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  now.draft_is_ours = false;  // a person's keys were in the composer before our text, unseen
  EXPECT_EQ(after(10s, State::Typing), Step::Wait);
}

TEST_F(InjectionTest, NeverWritesTheTextTwice) {
  ASSERT_EQ(after(0ms, State::Idle), Step::Paste);
  EXPECT_EQ(after(1s, State::Idle), Step::Wait);
  EXPECT_EQ(after(1s, State::Idle), Step::InDoubt) << "swallowed: nobody knows";
}

}  // namespace
}  // namespace relay::host
