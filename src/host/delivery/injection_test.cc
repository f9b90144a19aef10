#include "host/delivery/injection.h"

#include <gtest/gtest.h>

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct InjectionTest : ::testing::Test {
  InjectionInput now{.now = SteadyTime{1h}, .state = State::Idle, .since = SteadyTime{}};
  Injection injection{profiles::TypingRules{}};

  InjectionStep after(Millis time, State state) {
    now.now += time;
    if (state != now.state) now.since = now.now;
    now.state = state;
    return injection.decide(now).step;
  }
  /// Pastes the text.
  void paste() { ASSERT_EQ(after(0ms, State::Idle), InjectionStep::Paste); }
  void paste_and_enter() {
    paste();
    ASSERT_EQ(after(300ms, State::Typing), InjectionStep::Enter);
  }
  void user_types_after(Millis time) {
    now.now += time;
    user_types();
  }
  void user_types() { now.typing.any = now.typing.edit = now.now; }
  void user_enters() { now.typing.any = now.typing.enter = now.now; }
};

TEST_F(InjectionTest, TextIsPastedEnteredAfterGapAndDelivered) {
  EXPECT_EQ(after(0ms, State::Idle), InjectionStep::Paste);
  EXPECT_EQ(after(20ms, State::Typing), InjectionStep::Wait);
  EXPECT_EQ(after(279ms, State::Typing), InjectionStep::Wait);
  EXPECT_EQ(after(1ms, State::Typing), InjectionStep::Enter);
  EXPECT_EQ(after(30ms, State::Working), InjectionStep::Delivered);
}

TEST_F(InjectionTest, NothingIsPastedUnlessIdle) {
  for (const auto state : {State::Unknown, State::Working, State::Blocked, State::Typing})
    EXPECT_EQ(after(10s, state), InjectionStep::Wait) << name_of(state);
  EXPECT_EQ(after(0ms, State::Idle), InjectionStep::Wait) << "it may only look idle";
  EXPECT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::Paste);
}

TEST_F(InjectionTest, UnknownScreenIsNotReportedAsDialog) {
  const auto reason = [&] { return injection.decide(now).reason; };
  ASSERT_EQ(after(1s, State::Blocked), InjectionStep::Wait);
  EXPECT_EQ(reason(), "a dialog is open");
  now.blocker = profiles::Blocker::UnknownScreen;
  EXPECT_EQ(reason(), "the screen is not recognized");
  ASSERT_EQ(after(1s, State::Idle), InjectionStep::Wait);
  ASSERT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::Paste);
  ASSERT_EQ(after(10ms, State::Blocked), InjectionStep::Wait);
  EXPECT_EQ(reason(), "the screen is not recognized");
  now.blocker = profiles::Blocker::Dialog;
  EXPECT_EQ(reason(), "a dialog opened before Enter");
}

TEST_F(InjectionTest, WaitsAfterKeyOfUser) {
  user_types();
  EXPECT_EQ(after(1s, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(injection.decide(now).recheck_at, now.typing.any + kUserIdleTime);
  EXPECT_EQ(after(500ms, State::Idle), InjectionStep::Paste);
}

TEST_F(InjectionTest, OneTurnIsInterrupted) {
  injection = Injection{profiles::TypingRules{.interrupt = "\x1b"}, Injection::InterruptPolicy::Interrupt};
  now.composer_free = true;
  EXPECT_EQ(after(0ms, State::Working), InjectionStep::Wait);
  EXPECT_EQ(after(kMinTurnBeforeInterrupt, State::Working), InjectionStep::Interrupt);
  EXPECT_EQ(after(1s, State::Working), InjectionStep::Wait);
  EXPECT_TRUE(injection.has_interrupted());
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(10ms, State::Working), InjectionStep::Wait);  // the user was faster
  EXPECT_FALSE(injection.has_interrupted()) << "other deliveries may precede it now";
  EXPECT_EQ(after(10 * kMinTurnBeforeInterrupt, State::Working), InjectionStep::Wait);
}

TEST_F(InjectionTest, EnterIsNotPressedIntoDialog) {
  paste();
  for (int i = 0; i < 100; ++i) EXPECT_EQ(after(100ms, State::Blocked), InjectionStep::Wait);
  EXPECT_EQ(after(100ms, State::Typing), InjectionStep::Wait) << "another dialog may follow";
  EXPECT_EQ(after(kIdleStableTime, State::Typing), InjectionStep::Enter)
      << "it closed, and the composer still holds the text";
}

TEST_F(InjectionTest, PressesEnterAfterUserAnsweredDialog) {
  paste();
  EXPECT_EQ(after(100ms, State::Blocked), InjectionStep::Wait);
  user_types_after(5s);
  EXPECT_EQ(after(0ms, State::Blocked), InjectionStep::Wait) << "the key goes to the dialog";
  EXPECT_EQ(after(20ms, State::Typing), InjectionStep::Wait);
  EXPECT_EQ(after(kUserIdleTime - 21ms, State::Typing), InjectionStep::Wait) << "the user may continue to type";
  EXPECT_EQ(after(1ms, State::Typing), InjectionStep::Enter);
}

TEST_F(InjectionTest, TextIsLeftToUserWhoTypesAfterDialog) {
  paste();
  EXPECT_EQ(after(100ms, State::Blocked), InjectionStep::Wait);
  EXPECT_EQ(after(100ms, State::Typing), InjectionStep::Wait);
  user_types_after(1ms);
  EXPECT_EQ(after(1min, State::Typing), InjectionStep::Wait);
}

TEST_F(InjectionTest, TextIsDeliveredAlthoughDialogWasAnsweredAfterEnter) {
  paste_and_enter();
  EXPECT_EQ(after(10ms, State::Blocked), InjectionStep::Wait);
  user_types_after(1s);
  EXPECT_EQ(after(0ms, State::Blocked), InjectionStep::Wait);
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::Delivered);
}

TEST_F(InjectionTest, KeyInDialogMayHaveRemovedUnsentText) {
  paste_and_enter();
  now.now += 10ms;
  user_enters();
  now.text_visible = true;
  EXPECT_EQ(after(kEnterTimeout, State::Typing), InjectionStep::Wait) << "Enter was lost";
  EXPECT_EQ(after(10ms, State::Blocked), InjectionStep::Wait);
  user_types_after(1s);
  EXPECT_EQ(after(0ms, State::Blocked), InjectionStep::Wait);
  now.text_visible = false;
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kEvidenceTimeout, State::Idle), InjectionStep::InDoubt);
}

TEST_F(InjectionTest, RunningReplyIsNotInterrupted) {
  paste();
  EXPECT_EQ(after(400ms, State::Working), InjectionStep::Wait);
  EXPECT_EQ(after(5s, State::Typing), InjectionStep::Enter);
}

TEST_F(InjectionTest, EnterIsRepeatedOnceThenInDoubt) {
  paste_and_enter();
  EXPECT_EQ(after(999ms, State::Typing), InjectionStep::Wait);
  EXPECT_EQ(after(1ms, State::Typing), InjectionStep::Enter);
  EXPECT_EQ(after(1s, State::Typing), InjectionStep::InDoubt);
}

TEST_F(InjectionTest, AnotherTurnDoesNotSubmitTextInComposer) {
  paste_and_enter();
  now.text_visible = true;
  EXPECT_EQ(after(50ms, State::Working), InjectionStep::Wait) << "the turn of a prompt that was queued before";
  EXPECT_TRUE(injection.decide(now).recheck_at) << "the frame may be older than Enter";
  EXPECT_EQ(after(kEnterTimeout, State::Working), InjectionStep::Wait);
  EXPECT_EQ(injection.decide(now).reason, "the agent is working and the text is unsent");
  EXPECT_FALSE(injection.decide(now).recheck_at);
  EXPECT_EQ(after(5s, State::Typing), InjectionStep::Enter) << "that turn is over";
  now.text_visible = false;
  EXPECT_EQ(after(50ms, State::Working), InjectionStep::Delivered);
}

TEST_F(InjectionTest, FrameWithoutComposerIsNoEvidence) {
  paste_and_enter();
  now.composer_seen = false;
  EXPECT_EQ(after(50ms, State::Working), InjectionStep::Wait) << "it may be half drawn";
  now.composer_seen = now.text_visible = true;
  EXPECT_EQ(after(50ms, State::Working), InjectionStep::Wait);
  now.composer_seen = now.text_visible = false;
  EXPECT_EQ(after(50ms, State::Working), InjectionStep::Wait);
  EXPECT_EQ(after(kComposerClosedTime, State::Working), InjectionStep::Delivered)
      << "a program without a composer while it works";
}

TEST_F(InjectionTest, TextThatEnterDoesNotSendIsErased) {
  paste_and_enter();
  now.text_visible = true;
  ASSERT_EQ(after(1s, State::Typing), InjectionStep::Enter);
  EXPECT_EQ(after(1s, State::Typing), InjectionStep::Erase);
  EXPECT_EQ(after(50ms, State::Typing), InjectionStep::Wait);
  now.text_visible = false;
  EXPECT_EQ(after(50ms, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::InDoubt)
      << "a slow program may have read Enter after all";
}

TEST_F(InjectionTest, TextThatCannotBeErasedIsInDoubt) {
  paste_and_enter();
  now.text_visible = true;
  ASSERT_EQ(after(1s, State::Typing), InjectionStep::Enter);
  ASSERT_EQ(after(1s, State::Typing), InjectionStep::Erase);
  EXPECT_EQ(after(kEraseTimeout, State::Typing), InjectionStep::InDoubt);
}

TEST_F(InjectionTest, TextMixedWithDraftIsNotErased) {
  paste_and_enter();
  now.text_visible = true;
  now.only_pasted_text = false;
  EXPECT_EQ(after(10s, State::Typing), InjectionStep::Wait);
}

TEST_F(InjectionTest, KeysAreHeldFromPasteUntilTextIsTaken) {
  EXPECT_FALSE(injection.holds_keys());
  paste();
  EXPECT_TRUE(injection.holds_keys());
  now.text_visible = true;
  now.keys.since = now.now;
  ASSERT_EQ(after(50ms, State::Typing), InjectionStep::Wait);
  ASSERT_EQ(after(250ms, State::Typing), InjectionStep::Enter) << "they did not touch it";
  EXPECT_TRUE(injection.holds_keys());
  now.text_visible = false;
  EXPECT_EQ(after(30ms, State::Working), InjectionStep::Delivered);
}

TEST_F(InjectionTest, TextIsErasedForKeysWhenEnterIsNotDueSoon) {
  injection = Injection{profiles::TypingRules{.submit_gap = 4s}};
  paste();
  now.keys.since = now.now;
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait) << "it is not drawn yet";
  now.text_visible = true;
  EXPECT_EQ(after(10ms, State::Typing), InjectionStep::Erase);
  now.text_visible = false;
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, HeldKeysAreDueAfterTimeout) {
  paste();
  EXPECT_FALSE(injection.keys_due());
  now.keys.since = now.now;
  ASSERT_EQ(after(10ms, State::Unknown), InjectionStep::Wait);
  EXPECT_EQ(injection.keys_due(), *now.keys.since + kSlowTimeout);
  now.text_visible = true;
  ASSERT_EQ(after(10ms, State::Typing), InjectionStep::Wait);
  EXPECT_EQ(injection.keys_due(), *now.keys.since + kKeysTimeout);
}

TEST_F(InjectionTest, TextIsErasedForKeysDuringAnotherTurn) {
  paste();
  now.text_visible = true;
  ASSERT_EQ(after(50ms, State::Working), InjectionStep::Wait);
  EXPECT_TRUE(injection.holds_keys());
  now.keys.since = now.now;
  EXPECT_EQ(after(1ms, State::Working), InjectionStep::Erase);
  now.text_visible = false;
  EXPECT_EQ(after(50ms, State::Working), InjectionStep::Wait);
  EXPECT_FALSE(injection.has_started()) << "it was not sent and starts again";
  EXPECT_FALSE(injection.holds_keys());
  now.keys = {};
  EXPECT_EQ(after(5s, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::Paste);
}

TEST_F(InjectionTest, EscapeBeforeEnterErasesText) {
  paste();
  now.keys = {.since = now.now, .cancel = true};
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait) << "it is not drawn yet";
  now.text_visible = true;
  EXPECT_EQ(after(10ms, State::Typing), InjectionStep::Erase);
  now.text_visible = false;
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_FALSE(injection.has_started());
}

TEST_F(InjectionTest, SlowEnterYieldsToKeys) {
  paste();
  now.text_visible = true;
  ASSERT_EQ(after(300ms, State::Typing), InjectionStep::Enter);
  now.keys.since = now.now;
  ASSERT_EQ(after(1s, State::Typing), InjectionStep::Enter);
  EXPECT_EQ(after(kSlowTimeout - 1s, State::Typing), InjectionStep::Erase);
  now.text_visible = false;
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kIdleStableTime, State::Idle), InjectionStep::InDoubt) << "the program may have read Enter";
}

TEST_F(InjectionTest, KeysGoToDialogAtOnce) {
  paste();
  now.keys.since = now.now;
  EXPECT_EQ(after(10ms, State::Blocked), InjectionStep::Wait);
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, OverdueKeysAreRecheckedOnceScreenIsStableAfterDialog) {
  paste();
  now.keys.since = now.now;
  ASSERT_EQ(after(60s, State::Blocked), InjectionStep::Wait);
  ASSERT_EQ(after(1ms, State::Typing), InjectionStep::Wait);
  EXPECT_EQ(injection.keys_due(), now.since + kIdleStableTime)
      << "not in the past: the host would check without a pause";
}

TEST_F(InjectionTest, TextBehindDialogIsErasedBeforeHeldKeysFollow) {
  paste();
  now.text_visible = true;
  now.keys.since = now.now;
  ASSERT_EQ(after(10ms, State::Blocked), InjectionStep::Wait);
  ASSERT_EQ(after(60s, State::Blocked), InjectionStep::Wait);
  user_types();  // the answer
  now.keys.since = now.now;
  ASSERT_EQ(after(1ms, State::Typing), InjectionStep::Wait);
  EXPECT_TRUE(injection.holds_keys()) << "they do not go to the text";
  EXPECT_EQ(injection.keys_due(), now.since + kIdleStableTime);
  EXPECT_EQ(after(kIdleStableTime, State::Typing), InjectionStep::Erase);
  now.text_visible = false;
  EXPECT_EQ(after(10ms, State::Idle), InjectionStep::Wait);
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, KeysFollowTextThatCannotBeErased) {
  paste();
  now.keys.since = now.now;
  EXPECT_EQ(after(kSlowTimeout - 1ms, State::Unknown), InjectionStep::Wait);
  EXPECT_TRUE(injection.holds_keys());
  EXPECT_EQ(after(1ms, State::Unknown), InjectionStep::Wait);
  EXPECT_FALSE(injection.holds_keys());
  user_types();
  now.keys = {};
  now.text_visible = true;
  now.only_pasted_text = false;
  EXPECT_EQ(after(1s, State::Typing), InjectionStep::Wait) << "never Enter";
  EXPECT_FALSE(injection.holds_keys());
}

TEST_F(InjectionTest, NothingIsPastedWhileKeysAreHeld) {
  now.keys.since = now.now;
  EXPECT_EQ(after(10s, State::Idle), InjectionStep::Wait);
}

TEST_F(InjectionTest, EditedTextIsLeftToUser) {
  paste();
  EXPECT_EQ(after(100ms, State::Typing), InjectionStep::Wait);
  user_types_after(1ms);
  for (int i = 0; i < 50; ++i) EXPECT_EQ(after(1s, State::Typing), InjectionStep::Wait);
  user_enters();
  EXPECT_EQ(after(1s, State::Working), InjectionStep::Wait) << "the agent's record may show what was sent";
  EXPECT_TRUE(injection.is_doubted());
  EXPECT_EQ(after(1s, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(kEvidenceTimeout, State::Idle), InjectionStep::InDoubt) << "it is unknown what is left of the text";
}

TEST_F(InjectionTest, EnterOfUserSendsTextUnchanged) {
  for (const auto state : {State::Idle, State::Working}) {
    injection = Injection{profiles::TypingRules{}};
    now.typing = {};
    ASSERT_EQ(after(10s, State::Idle), InjectionStep::Paste);
    EXPECT_EQ(after(100ms, State::Typing), InjectionStep::Wait);
    now.now += 1ms;
    user_enters();
    if (state == State::Idle) { EXPECT_EQ(after(100ms, state), InjectionStep::Wait) << "a frame may be half drawn"; }
    EXPECT_EQ(after(kGoneTimeout, state), InjectionStep::Delivered);
  }
}

TEST_F(InjectionTest, UnsentTextOfWorkingAgentIsNotInDoubt) {
  paste();
  EXPECT_EQ(after(50ms, State::Typing), InjectionStep::Wait);
  user_types_after(1ms);
  now.composer_free = false;
  EXPECT_EQ(after(10ms, State::Working), InjectionStep::Wait) << "another turn";
  EXPECT_EQ(after(kEvidenceTimeout + 1s, State::Working), InjectionStep::Wait);
  EXPECT_EQ(injection.decide(now).reason, "the agent started to work before Enter");
  EXPECT_EQ(after(1s, State::Typing), InjectionStep::Wait) << "the user is editing it";
  user_enters();
  EXPECT_EQ(after(10ms, State::Working), InjectionStep::Wait) << "sent, but edited: the transcript may show it";
  EXPECT_EQ(after(kEvidenceTimeout, State::Working), InjectionStep::InDoubt);
}

TEST_F(InjectionTest, EarlierDraftIsNotPastedText) {
  paste();
  now.only_pasted_text = false;
  EXPECT_EQ(after(100ms, State::Typing), InjectionStep::Wait);
  now.now += 1ms;
  user_enters();
  EXPECT_EQ(after(10ms, State::Working), InjectionStep::Wait);
  EXPECT_EQ(after(kEvidenceTimeout, State::Working), InjectionStep::InDoubt);
}

TEST_F(InjectionTest, TextReplacedAfterEnterIsInDoubt) {
  paste_and_enter();
  EXPECT_EQ(after(10ms, State::Typing), InjectionStep::Wait) << "Enter had no effect";
  user_types();
  EXPECT_EQ(after(10ms, State::Typing), InjectionStep::Wait);
  user_enters();
  EXPECT_EQ(after(10ms, State::Working), InjectionStep::Wait);
  EXPECT_EQ(after(kEvidenceTimeout, State::Working), InjectionStep::InDoubt);
}

TEST_F(InjectionTest, TypingAfterEnterSendsNothing) {
  paste_and_enter();
  user_types_after(1ms);
  EXPECT_EQ(after(10ms, State::Working), InjectionStep::Delivered);
}

TEST_F(InjectionTest, ReportsThatUserRemovedText) {
  paste();
  EXPECT_EQ(after(100ms, State::Typing), InjectionStep::Wait);
  user_types_after(1ms);
  EXPECT_EQ(after(100ms, State::Idle), InjectionStep::Wait) << "a frame may be half drawn";
  EXPECT_EQ(after(kGoneTimeout, State::Idle), InjectionStep::Failed);
}

TEST_F(InjectionTest, DoesNotSubmitOtherText) {
  paste();
  now.only_pasted_text = false;  // unseen keys of the user were in the composer before the text
  EXPECT_EQ(after(10s, State::Typing), InjectionStep::Wait);
}

TEST_F(InjectionTest, TextIsPastedOnce) {
  paste();
  EXPECT_EQ(after(1s, State::Idle), InjectionStep::Wait);
  EXPECT_EQ(after(1s, State::Idle), InjectionStep::InDoubt) << "it is unknown whether the program read it";
}

}  // namespace
}  // namespace relay::host
