#include "host/delivery/scheduler.h"

#include <gtest/gtest.h>

#include "host/testing/scheduler_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;

struct UserMessageTest : testing::SchedulerFixture {};

TEST_F(UserMessageTest, UserMessageIsNotPresentedAsPeer) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  receive_from_user("u");
  receive("a");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of u"});
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"a deferred: a message of the user is first"});
  after(1s, State::Typing);
  after(1s, State::Typing);
  EXPECT_EQ(take_steps(), Lines{"native text of a"}) << "a draft holds back typed messages only";
  ASSERT_TRUE(gate) << "the user's message stays at the gate";
  EXPECT_EQ(gate->text, "text of u");
}

TEST_F(UserMessageTest, PeerMessageIsHeldWhileTypedMessageIsUnsent) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate}) {
    support(mode, DeliveryTiming::Anytime, "inbox");
    view.can.by(mode).as_peer = true;
  }
  receive_from_user("u");
  after(1s, State::Idle);
  typing = sending = true;
  receive("a");
  receive_from("Carol", "c", DeliveryMode::Immediate);
  (void)take_steps();
  after(20ms, State::Idle);
  after(20ms, State::Typing);
  after(300ms, State::Working);
  EXPECT_EQ(take_steps(), Lines{}) << "another turn would keep it unsent";
  typing = sending = false;
  gate.reset();
  after(1s, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"native text of c", "native text of a"}));
}

TEST_F(UserMessageTest, UrgentPeerMessagePrecedesPendingUserMessage) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate}) {
    support(mode, DeliveryTiming::Anytime, "inbox");
    view.can.by(mode).as_peer = true;
  }
  receive_from_user("u");
  after(1s, State::Working);
  receive_from("Carol", "c", DeliveryMode::Immediate);
  receive("a");
  (void)take_steps();
  after(1s, State::Working);
  EXPECT_EQ(take_steps(), (Lines{"native text of c", "a deferred: a message of the user is first"}));
}

TEST_F(UserMessageTest, UserMessageIsHeldWhilePeerTurnStarts) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  deliver_natively("a");
  receive_from_user("u");
  (void)take_steps();
  after(10ms, State::Idle);
  report_input("text of a", "transcript", "t-1");
  after(100ms, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"a delivered seen: via inbox; its transcript shows it"}) << "it would stay unsent";
  after(kTurnStartTimeout, State::Working);
  EXPECT_EQ(take_steps(), Lines{"type text of u"});
}

TEST_F(UserMessageTest, UserMessageUsesInterfaceWithUserAuthority) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "queue");
  receive_from_user("u");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of u"});
}

}  // namespace
}  // namespace relay::host
