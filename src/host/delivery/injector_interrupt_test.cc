#include "host/delivery/injector.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "host/testing/injector_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using profiles::State;

struct InterruptTest : testing::InjectorFixture {};

TEST_F(InterruptTest, DeliveryInterruptsOnce) {
  injector.add(interrupting("a"));
  auto& composer = show_composer();
  after(0ms, State::Blocked);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: a dialog is open"})) << "the user answers it";
  after(0ms, State::Working);
  composer.draft = "a draft";
  after(1s, State::Working);
  after(kReasonReportDelay, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: the agent is working"})) << "the user is typing";
  composer.draft = "";
  after(1s, State::Working);
  after(1s, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"interrupt"}));
  view.composer = nullptr;
  deliver_one();
  EXPECT_EQ(take_steps(),
            (Lines{"paste text of a", "a accepted written", "enter", "a delivered: the agent started to work"}));
}

TEST_F(InterruptTest, NewTurnIsNotInterrupted) {
  injector.add(interrupting("a"));
  show_composer();
  after(10ms, State::Working);
  after(kMinTurnBeforeInterrupt - 1ms, State::Working);
  EXPECT_TRUE(take_steps().empty()) << "the model may not have the input that started it";
  after(1ms, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"interrupt"}));
}

TEST_F(InterruptTest, ReplyIsNotInterruptedForNext) {
  for (const auto* id : {"a", "b"}) injector.add(interrupting(id));
  deliver_one();
  (void)take_steps();
  show_composer();
  for (int i = 0; i < 5; ++i) after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(take_steps(), "interrupt"), 0);
  after(1s, State::Idle);
  after(1s, State::Working);  // a turn of the user
  after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(take_steps(), "interrupt"), 1);
}

TEST_F(InterruptTest, UserMessageInterruptsReplyToSeenMessage) {
  injector.add(delivery("a"));
  auto stop = interrupting("stop");
  stop.as_user = true;
  injector.add(std::move(stop));
  deliver_one();
  show_composer();
  for (int i = 0; i < 5; ++i) after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(take_steps(), "interrupt"), 0) << "the program may drop unsent input";
  report_input("text of a", "transcript", "r1");
  after(1s, State::Working);
  EXPECT_EQ(std::ranges::count(take_steps(), "interrupt"), 1);
}

TEST_F(InterruptTest, UserMessageInterruptsTurnOfSeenInput) {
  injector.inject_user_text("do it", view.now, [](const Result<void>&) {});
  deliver_one();
  auto stop = interrupting("stop");
  stop.as_user = true;
  injector.add(std::move(stop));
  show_composer();
  for (int i = 0; i < 5; ++i) after(5s, State::Working);
  EXPECT_EQ(std::ranges::count(take_steps(), "interrupt"), 0) << "the model may not have that input";
  report_input("do it", "transcript", "r1");
  after(1s, State::Working);
  EXPECT_EQ(std::ranges::count(take_steps(), "interrupt"), 1);
}

TEST_F(InterruptTest, FailedIntentKeepsInterruptPolicy) {
  injector.add(interrupting("a"));
  disk.fail_appends = 1;
  after(1s, State::Idle);
  show_composer();
  (void)take_steps();
  after(1s, State::Working);
  after(kMinTurnBeforeInterrupt, State::Working);
  EXPECT_EQ(take_steps(), Lines{"interrupt"});
}

}  // namespace
}  // namespace relay::host
