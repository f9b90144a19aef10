#include "host/delivery/scheduler.h"

#include <gtest/gtest.h>

#include "host/testing/scheduler_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;

struct SilentDeliveryTest : testing::SchedulerFixture {};

TEST_F(SilentDeliveryTest, UserMessageIsNotBundledWithPeerMessage) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  receive_from_user("u", true);
  receive_silent("q");
  receive("a");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"native text of q\ntext of a",
                                 "u deferred: it does not wake the agent; it is delivered with the next message"}));
  const auto taken = scheduler.take_silent(1'000);
  ASSERT_EQ(taken.size(), 1u) << "it is typed with another message";
  EXPECT_EQ(taken.front().text, "text of u");
}

TEST_F(SilentDeliveryTest, SilentDeliveryFailsWithReturnedText) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  receive_silent("q");
  deliver_natively("a");
  for (int i = 0; i < 3; ++i) after(kInDoubtAfter, State::Idle);
  (void)take_steps();
  scheduler.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(take_steps().size(), 2U);
}

TEST_F(SilentDeliveryTest, SilentDeliveryAloneStaysPending) {
  receive_silent("q");
  receive_silent("r", DeliveryMode::Immediate);
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"q deferred: it does not wake the agent; it is delivered with the next message",
                                 "r deferred: it does not wake the agent; it is delivered with the next message"}));
  after(1min, State::Working);
  after(1min, State::Idle);
  EXPECT_TRUE(take_steps().empty()) << "neither typed alone nor interrupting";
  const auto taken = scheduler.take_silent(1'000);
  ASSERT_EQ(taken.size(), 2U);
  EXPECT_TRUE(intent.contains("q") && intent.contains("r"));
  EXPECT_TRUE(scheduler.pending().empty());
}

TEST_F(SilentDeliveryTest, DeliveriesAreTakenUpToTheLimit) {
  receive_silent("q");
  receive_silent("r");
  EXPECT_EQ(scheduler.take_silent(9).size(), 0U) << "nine characters and a line break";
  EXPECT_EQ(scheduler.take_silent(10).size(), 1U);
  disk.fail_appends = 1;
  EXPECT_EQ(scheduler.take_silent(100).size(), 0U) << "without an intent it stays";
  EXPECT_EQ(scheduler.take_silent(100).size(), 1U);
}

TEST_F(SilentDeliveryTest, SilentDeliveryGoesWithNativeDelivery) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "queue");
  receive_silent("q");
  receive("a");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of q\ntext of a"});
  on_accepted(fail("it is full"));
  EXPECT_EQ(take_steps(),
            (Lines{"q deferred: its queue rejected it: it is full", "a deferred: its queue rejected it: it is full"}));
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(),
            (Lines{"type text of a", "q deferred: it does not wake the agent; it is delivered with the next message"}));
  EXPECT_EQ(scheduler.take_silent(100).size(), 1U) << "it is typed with that";
}

TEST_F(SilentDeliveryTest, HookTakesSilentDeliveries) {
  support(DeliveryMode::NextMessage, DeliveryTiming::OnHook, "hook");
  receive_silent("q");
  receive("a", DeliveryMode::NextMessage);
  after(1s, State::Idle);
  EXPECT_TRUE(scheduler.take_silent(100).empty()) << "the typed prompt calls the hook";
  EXPECT_EQ(scheduler.take(DeliveryMode::NextToolCall, 100, view), "");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 100, view), "text of a\ntext of q");
}

TEST_F(SilentDeliveryTest, SilentDeliveryGoesAloneWithoutTurn) {
  support(DeliveryMode::NextMessage, DeliveryTiming::WhenIdle, "server");
  receive_silent("q");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of q"});
}

}  // namespace
}  // namespace relay::host
