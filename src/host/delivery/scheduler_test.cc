#include "host/delivery/scheduler.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/format.h"
#include "host/testing/scheduler_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;

struct SchedulerTest : testing::SchedulerFixture {};

TEST_F(SchedulerTest, DeliveryWithoutNativeInterfaceIsTyped) {
  receive("a");
  receive("b");
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a accepted", "b accepted", "type text of a"}));
  after(1s, State::Idle);
  EXPECT_TRUE(take_steps().empty());
  gate.reset();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of b"});
}

TEST_F(SchedulerTest, ImmediateDeliveriesKeepTheirOrder) {
  for (const auto* id : {"a", "b", "c"}) receive(id, DeliveryMode::Immediate);
  (void)take_steps();
  for (int i = 0; i < 3; ++i) after(1s, State::Typing);
  EXPECT_EQ(take_steps(), Lines{"type text of a"}) << "the user has a draft";
  for (const auto* next : {"type text of b", "type text of c"}) {
    gate.reset();
    after(1s, State::Idle);
    EXPECT_EQ(take_steps(), Lines{next});
  }
}

TEST_F(SchedulerTest, UrgentDeliveryIsFirstAndSendersTakeTurns) {
  for (const auto* id : {"a1", "a2", "a3"}) receive_from("Alice", id);
  receive_from("Carol", "c1");
  after(1s, State::Working);
  receive_from("Dave", "d1", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  (void)take_steps();
  Lines typed;
  for (int i = 0; i < 5; ++i) {
    after(1s, State::Working);
    typed.push_back(gate->ref.id);
    gate.reset();
  }
  EXPECT_EQ(typed, (Lines{"d1", "a1", "c1", "a2", "a3"})) << "also before the one at the gate that has not started";
}

TEST_F(SchedulerTest, InterruptingModePrecedesUrgentOnIdle) {
  receive_from("Alice", "a", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  receive_from("Carol", "c", DeliveryMode::Immediate);
  after(1s, State::Working);
  EXPECT_EQ(gate->ref.id, "c");
  after(1s, State::Idle);
  EXPECT_EQ(gate->ref.id, "a") << "now both can be typed";
}

TEST_F(SchedulerTest, NothingPrecedesInterruptingDelivery) {
  receive_from("Carol", "c", DeliveryMode::Immediate);
  after(1s, State::Working);
  gate_interrupts();
  receive_from("Alice", "a", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  after(1s, State::Idle);
  EXPECT_EQ(gate->ref.id, "c") << "it cannot interrupt again";
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  (void)take_steps();
  after(1s, State::Idle);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->ref.id, "c");
  EXPECT_EQ(take_steps(), Lines{"a deferred: another message is first: the agent's turn was interrupted for it"});
  after(1s, State::Typing);
  EXPECT_EQ(take_steps(), Lines{"native text of a"}) << "a draft may stay";
  EXPECT_TRUE(scheduler.cancel("c")) << "it has not started";
}

TEST_F(SchedulerTest, RequeuedDeliveryIsLaterInStream) {
  receive_from("Alice", "a1");
  receive_from("Alice", "a2");
  scheduler.move({.id = "a1", .seq = 9}, DeliveryMode::OnIdle, Injection{rules});
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of a2"});
}

TEST_F(SchedulerTest, FarDeadlineIsRecheckedLater) {
  for (const WallMs end :
       {WallMs{253'402'300'799'000}, WallMs{8'640'000'000'000'000}, std::numeric_limits<WallMs>::max()}) {
    scheduler.add({.ref = {.id = "a"},
                   .text = "x",
                   .mode = DeliveryMode::Manual,
                   .expires_at = end,
                   .injection = Injection{rules}});
    EXPECT_EQ(scheduler.deliver(view), view.now + kMaxRecheckDelay) << end;
    ASSERT_TRUE(scheduler.cancel("a"));
  }
}

TEST_F(SchedulerTest, NamesInterfaceOfEachDelivery) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  receive_from_user("u");
  receive("a");
  receive("m", DeliveryMode::Manual);
  const auto via_of = [&](std::string_view id) -> std::string {
    for (const auto* delivery : scheduler.pending())
      if (delivery->ref.id == id) {
        const auto route = scheduler.route_of(*delivery, view.can);
        return route.kind == DeliveryRoute::Kind::Typed ? "typed" : std::string{route.via};
      }
    return "none";
  };
  EXPECT_EQ(via_of("u"), "typed") << "the inbox presents it as a peer's";
  EXPECT_EQ(via_of("a"), "inbox");
  EXPECT_EQ(via_of("m"), "fetch");
  view.can.by(DeliveryMode::OnIdle).as_peer = false;
  EXPECT_EQ(via_of("u"), "inbox");
  view.can = {};
  EXPECT_EQ(via_of("a"), "typed");
}

TEST_F(SchedulerTest, UnknownScreenIsNotReportedAsDialog) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  view.blocker = profiles::Blocker::UnknownScreen;
  receive("a");
  (void)take_steps();
  after(1s, State::Blocked);
  EXPECT_EQ(take_steps(), Lines{"a deferred: the screen is not recognized"});
}

TEST_F(SchedulerTest, DeliveryWithoutProfileNamesInboxFile) {
  view.typed_into = false;
  receive("a");
  receive("b", DeliveryMode::Immediate);
  (void)take_steps();
  after(1s, State::Unknown);
  constexpr auto kReason =
      "the program has no profile, so nothing is typed into it; it is in inbox.md ($AGENT_RELAY_INBOX)";
  EXPECT_EQ(take_steps(), (Lines{format("b deferred: {}", kReason), format("a deferred: {}", kReason)}));
  EXPECT_FALSE(gate);
}

TEST_F(SchedulerTest, UnsupportedModeStaysPending) {
  receive("a", DeliveryMode::NextToolCall);
  receive("b", DeliveryMode::Manual);
  receive("c");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(),
            (Lines{"a deferred: the agent cannot receive messages with its next tool call", "type text of c",
                   "b deferred: it is pending until the agent fetches it or `agent-relay flush` releases it"}));
}

TEST_F(SchedulerTest, UrgentDeliveryReplacesOneAtGate) {
  receive("a");
  after(1s, State::Working);
  receive("b", DeliveryMode::Immediate);
  (void)take_steps();
  after(1s, State::Working);
  EXPECT_EQ(take_steps(), Lines{"type text of b"});
  typing = true;
  receive("c", DeliveryMode::Immediate);
  after(1s, State::Working);
  EXPECT_EQ(take_steps(), Lines{"c accepted"}) << "a started injection continues";
}

TEST_F(SchedulerTest, FlickeringScreenDoesNotFillHistory) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  receive("a");
  (void)take_steps();
  for (int i = 0; i < 100; ++i) after(50ms, i % 2 == 0 ? State::Blocked : State::Working);
  EXPECT_EQ(take_steps(), Lines{"a deferred: a dialog is open"});
  after(50ms, State::Working);
  after(kReasonReportDelay, State::Working);
  EXPECT_EQ(take_steps(), Lines{"a deferred: the agent is working"});
}

TEST_F(SchedulerTest, LateNativeInterfaceTakesUntypedDelivery) {
  receive("a");
  after(1s, State::Working);
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "queue");
  (void)take_steps();
  after(1s, State::Idle);
  after(150ms, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of a"});
  EXPECT_FALSE(gate);
}

TEST_F(SchedulerTest, FetchedDeliveryIsNeverTyped) {
  receive("a", DeliveryMode::Manual);
  receive("b");
  after(1s, State::Working);
  (void)take_steps();
  fetch({"a", "b", "unknown"});
  EXPECT_EQ(take_steps(), (Lines{"b delivered seen: fetched by the agent", "a delivered seen: fetched by the agent"}));
  after(1s, State::Idle);
  EXPECT_TRUE(take_steps().empty());
}

TEST_F(SchedulerTest, LoggedIntentWithoutOutcomeIsInDoubt) {
  ASSERT_TRUE(intent.add("a"));
  receive("a");
  EXPECT_EQ(take_steps(), Lines{"a in_doubt: the host ended during the delivery"});
  after(1s, State::Idle);
  EXPECT_TRUE(take_steps().empty());
}

TEST_F(SchedulerTest, LoggedOutcomeIsReportedAgain) {
  ASSERT_TRUE(intent.add("a"));
  intent.add_outcome("a", {.status = protocol::ReceiptStatus::Delivered, .proof = "submitted", .reason = "it worked"});
  receive("a");
  EXPECT_EQ(take_steps(), Lines{"a delivered submitted: it worked"});
  after(1s, State::Idle);
  EXPECT_TRUE(take_steps().empty());
}

TEST_F(SchedulerTest, ExpiredDeliveryIsNotDelivered) {
  scheduler.add({.ref = {.id = "a"}, .text = "text of a", .expires_at = 5'000, .injection = Injection{rules}});
  view.wall = 5'000;
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"a failed: its ttl ran out"});
  scheduler.add(
      {.ref = {.id = "b"}, .text = "text of b", .expires_at = 7'000, .deadline = 7'000, .injection = Injection{rules}});
  view.wall = 7'000;
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"b failed: its deadline passed"});
}

TEST_F(SchedulerTest, PauseHoldsNewDeliveries) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  support(DeliveryMode::NextMessage, DeliveryTiming::OnHook, "hook");
  deliver_natively("a");
  scheduler.pause("paused by the user: lunch");
  receive("b");
  receive("c", DeliveryMode::NextMessage);
  receive("d", DeliveryMode::Manual);
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"c deferred: paused by the user: lunch", "b deferred: paused by the user: lunch"}));
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 1'000, view), "") << "not with a prompt of the user either";
  report_input("text of a", "transcript", "u-1");
  EXPECT_EQ(take_steps(), Lines{"a delivered seen: via inbox; its transcript shows it"})
      << "a started delivery finishes";
  fetch({"c"});
  EXPECT_EQ(take_steps(), Lines{"c delivered seen: fetched by the agent"}) << "the agent fetches it";
  scheduler.pause(std::nullopt);
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(),
            (Lines{"native text of b",
                   "d deferred: it is pending until the agent fetches it or `agent-relay flush` releases it"}));
}

TEST_F(SchedulerTest, PauseReclaimsPendingInjection) {
  receive("a");
  after(1s, State::Working);
  (void)take_steps();
  scheduler.pause("paused by the user");
  after(1s, State::Idle);
  EXPECT_FALSE(gate);
  EXPECT_EQ(take_steps(), Lines{"a deferred: paused by the user"});
  scheduler.pause(std::nullopt);
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of a"});
  typing = true;
  scheduler.pause("paused by the user");
  after(1s, State::Idle);
  EXPECT_TRUE(gate) << "it is in the composer";
}

TEST_F(SchedulerTest, FlushedDeliveryChangesLane) {
  receive("a", DeliveryMode::Manual);
  receive("b");
  (void)take_steps();
  scheduler.move({.id = "a", .seq = 9}, DeliveryMode::Immediate,
                 Injection{rules, Injection::InterruptPolicy::Interrupt});
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of a"});
  EXPECT_EQ(gate->ref.seq, 9U);
  EXPECT_EQ(gate->mode, DeliveryMode::Immediate);
  scheduler.move({.id = "a", .seq = 10}, DeliveryMode::Manual, Injection{rules});
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(),
            (Lines{"type text of b",
                   "a deferred: it is pending until the agent fetches it or `agent-relay flush` releases it"}))
      << "also at the gate, unless it has started";
}

TEST_F(SchedulerTest, CancelledDeliveryIsDroppedUnlessStarted) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  receive("a");
  receive("b");
  after(1s, State::Idle);
  (void)take_steps();
  EXPECT_FALSE(scheduler.cancel("a"));
  EXPECT_TRUE(scheduler.cancel("b"));
  EXPECT_TRUE(take_steps().empty());
  on_accepted({});
  report_input("text of a", "transcript", "u-1");
  EXPECT_EQ(take_steps(),
            (Lines{"a accepted written: accepted via inbox", "a delivered seen: via inbox; its transcript shows it"}));
  after(10s, State::Idle);
  EXPECT_TRUE(take_steps().empty());
  EXPECT_TRUE(scheduler.pending().empty());
}

TEST_F(SchedulerTest, SecondAttemptIsNotInDoubt) {
  ASSERT_TRUE(intent.add("a"));
  scheduler.add({.ref = {.id = "a", .attempt = 2}, .text = "text of a", .injection = Injection{rules}});
  EXPECT_EQ(take_steps(), Lines{"a accepted"});
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of a"});
}

TEST_F(SchedulerTest, NothingIsTypedWithoutTerminal) {
  view.can.terminal = false;
  receive("d1");
  scheduler.deliver(view);
  EXPECT_FALSE(gate);
  EXPECT_EQ(last.reason, "it runs without a terminal, so nothing can be typed to it");
}

}  // namespace
}  // namespace relay::host
