#include "host/delivery/injector.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "host/testing/injector_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct InjectorTest : testing::InjectorFixture {};

TEST_F(InjectorTest, DeliveriesAreTypedInOrderWithReceipts) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  deliver_one();
  EXPECT_EQ(take_steps(), (Lines{"paste text of a", "a accepted written", "enter",
                                 "a delivered: the agent started to work", "b deferred: the agent is working"}));
  deliver_one();
  EXPECT_EQ(take_steps(),
            (Lines{"paste text of b", "b accepted written", "enter", "b delivered: the agent started to work"}));
  EXPECT_TRUE(injector.pending().empty());
}

TEST_F(InjectorTest, FreeGateIsReportedWithoutScreenChange) {
  EXPECT_FALSE(injector.deliver(view, *this));
  injector.add(delivery("a"));
  type_next();
  after(50ms, State::Idle);  // a turn too short to be seen
  view.now += kIdleStableTime;
  EXPECT_EQ(injector.deliver(view, *this), view.now);
  EXPECT_EQ(take_steps(),
            (Lines{"paste text of a", "a accepted written", "enter", "a delivered: the composer emptied"}));
  EXPECT_FALSE(injector.deliver(view, *this));
}

TEST_F(InjectorTest, NextWaitsForTurnOfPrevious) {
  for (const bool seen : {false, true}) {
    const std::string first = seen ? "c" : "a", second = seen ? "d" : "b";
    injector.add(delivery(first));
    injector.add(delivery(second));
    view.has_transcript = true;
    after(1s, State::Idle);
    after(kIdleStableTime, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Idle);  // the program queues it
    after(kIdleStableTime, State::Idle);
    EXPECT_EQ(take_steps().back(), first + " delivered: the composer emptied");
    after(1s, State::Idle);
    EXPECT_TRUE(take_steps().empty());
    EXPECT_EQ(injector.pending().front().reason, "the turn of the message before it has not started");
    if (seen) {
      report_input("text of " + first, "transcript", "u-1");
    } else {
      after(1s, State::Working);
      after(1s, State::Idle);
    }
    (void)take_steps();
    after(kIdleStableTime, State::Idle);
    EXPECT_EQ(take_steps(), (Lines{"paste text of " + second}));
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
    (void)take_steps();
    view.typing = {};
  }
}

TEST_F(InjectorTest, UnseenTurnDelaysNextBriefly) {
  for (const bool has_transcript : {false, true}) {
    view.has_transcript = has_transcript;
    injector.add(delivery(has_transcript ? "c" : "a"));
    injector.add(delivery(has_transcript ? "d" : "b"));
    after(1s, State::Idle);
    after(kIdleStableTime, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Idle);
    view.now += kIdleStableTime;
    EXPECT_EQ(injector.deliver(view, *this), view.now + (has_transcript ? kSeenTimeout : kTurnTimeout));
    (void)take_steps();
    after(has_transcript ? kSeenTimeout : kTurnTimeout, State::Idle);
    EXPECT_EQ(take_steps(), (Lines{format("paste text of {}", has_transcript ? "d" : "b")}));
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
  }
}

TEST_F(InjectorTest, KeysAreReleasedWithoutScreenChange) {
  injector.add(delivery("a"));
  after(1s, State::Idle);
  after(50ms, State::Unknown);
  view.keys.since = view.now;
  EXPECT_EQ(injector.deliver(view, *this), view.now + kSlowTimeout);
  after(kSlowTimeout, State::Unknown);
  EXPECT_FALSE(injector.holds_keys());
}

TEST_F(InjectorTest, TypingDoesNotFillHistory) {
  injector.add(delivery("a"));
  show_composer("the user's own");
  after(1s, State::Idle);
  (void)take_steps();
  for (int i = 0; i < 100; ++i) after(50ms, i % 2 == 0 ? State::Typing : State::Unknown);
  EXPECT_EQ(take_steps(), (Lines{"a accepted written", "a deferred: the user is editing it"}));
  view.now += 50ms;
  view.state = State::Unknown;
  EXPECT_EQ(injector.deliver(view, *this), view.now - 50ms + kReasonReportDelay) << "reported once it has lasted";
  after(kReasonReportDelay, State::Unknown);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: the screen is not recognized"}));
}

TEST_F(InjectorTest, ChangingReasonIsReportedEverMoreRarely) {
  injector.add(delivery("a"));
  for (int second = 0; second < 24 * 3'600; second += 30)
    for (int i = 0; i < 2; ++i) after(15s, second / 30 % 2 == 0 ? State::Blocked : State::Working);
  EXPECT_LE(take_steps().size(), 8U);
}

TEST_F(InjectorTest, LastingReasonIsReportedOnce) {
  injector.add(delivery("a"));
  (void)take_steps();
  after(0ms, State::Blocked);
  after(1s, State::Blocked);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: a dialog is open"}));
  after(10ms, State::Idle);
  EXPECT_TRUE(take_steps().empty()) << "the agent has just become idle: a transient reason";
  EXPECT_EQ(injector.pending().front().reason, "the agent has just become idle");
}

TEST_F(InjectorTest, IntentIsOnDiskBeforeFirstByte) {
  injector.add(delivery("a"));
  after(1s, State::Idle);
  EXPECT_TRUE(intent.contains("a"));
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_TRUE(intent.contains("a")) << "the daemon may not have stored the outcome";
  ASSERT_TRUE(intent.outcome_of("a"));
  EXPECT_EQ(intent.outcome_of("a")->status, protocol::ReceiptStatus::Delivered);
}

TEST_F(InjectorTest, UnresponsiveAgentGetsNothingMore) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  after(1s, State::Idle);
  (void)take_steps();
  for (int i = 0; i < 10; ++i) after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a accepted written", "a in_doubt: the text never appeared",
                                 "b deferred: the screen does not react to what is typed"}));
  ++view.revision;
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"paste text of b"}));
}

TEST_F(InjectorTest, UserTextGoesFirstOrFails) {
  injector.add(delivery("a"));
  (void)take_steps();
  Lines outcomes;
  const auto record = [&](Result<void> outcome) { outcomes.push_back(outcome ? "done" : outcome.error().message()); };
  injector.inject_user_text("proceed", view.now, record);
  EXPECT_TRUE(injector.has_user_text()) << "no second one is accepted";
  deliver_one();
  EXPECT_FALSE(injector.has_user_text());
  EXPECT_EQ(outcomes, Lines{"done"});
  EXPECT_EQ(take_steps(), (Lines{"paste proceed", "enter", "a deferred: the agent is working"}));
  injector.inject_user_text("more", view.now, record);
  after(0ms, State::Working);
  after(kUserTextTimeout, State::Working);
  EXPECT_EQ(outcomes.back(), "it was not typed: the agent is working");
}

TEST_F(InjectorTest, DeliveryWithoutIntentIsNotTyped) {
  injector.add(delivery("a"));
  (void)take_steps();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: the intent log cannot be written"}));
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"paste text of a"}));
}

TEST_F(InjectorTest, ExpiredDeliveryIsNotTyped) {
  auto stale = delivery("a");
  stale.expires_at = 5'000;
  injector.add(std::move(stale));
  view.state = State::Blocked;
  EXPECT_EQ(injector.deliver(view, *this), view.now + 4s) << "without a change";
  (void)take_steps();
  view.wall = 5'000;
  after(10s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a failed: its ttl ran out"}));
}

TEST_F(InjectorTest, NoticesInRowAreBounded) {
  EXPECT_EQ(injector.make_notice("no such\nagent")->text, "Relay: no such agent");
  int made = 1;
  for (int i = 0; i < 10; ++i) made += injector.make_notice("no such agent") ? 1 : 0;
  EXPECT_EQ(made, kMaxTypedNotices);
  injector.reset_notices();
  EXPECT_TRUE(injector.make_notice("again"));
}

TEST_F(InjectorTest, PendingDeliveryCanBeReclaimed) {
  injector.add(delivery("a"));
  after(0ms, State::Blocked);
  EXPECT_EQ(injector.reclaim()->message, "a");
  injector.add(delivery("b"));
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_FALSE(injector.reclaim()) << "it is in the composer";
}

TEST_F(InjectorTest, AgentExitLeavesDeliveryInDoubt) {
  injector.add(delivery("a"));
  injector.add(delivery("b"));
  after(1s, State::Idle);
  (void)take_steps();
  injector.on_agent_exit();
  EXPECT_EQ(take_steps(), (Lines{"a in_doubt: the agent ended while it was being typed"}));
  injector.on_agent_exit();
  EXPECT_TRUE(take_steps().empty()) << "the next one was not typed and stays at the daemon";
}

TEST_F(InjectorTest, DeliveryBehindUserTextCanBeReclaimed) {
  injector.add(delivery("a"));
  injector.inject_user_text("proceed", view.now, [](const Result<void>&) {});
  after(1s, State::Idle);
  EXPECT_EQ(injector.reclaim()->message, "a");
  EXPECT_FALSE(injector.reclaim()) << "the user's text is being typed";
}

TEST_F(InjectorTest, UserTextIsTypedAlone) {
  silent.push_back(delivery("q"));
  injector.inject_user_text("go\non", view.now, [](const Result<void>&) {});
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"paste go\non"});
  EXPECT_EQ(silent.size(), 1U);
}

TEST_F(InjectorTest, SecondAttemptHasItsOwnIntent) {
  ASSERT_TRUE(intent.add("a"));
  auto again = delivery("a");
  again.ref.attempt = 2;
  injector.add(std::move(again));
  deliver_one();
  EXPECT_TRUE(intent.contains("a#2"));
  EXPECT_EQ(take_steps().back(), "a delivered: the agent started to work");
}

}  // namespace
}  // namespace relay::host
