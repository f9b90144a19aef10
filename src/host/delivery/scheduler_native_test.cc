#include "host/delivery/scheduler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/format.h"
#include "host/testing/scheduler_fixture.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;

struct NativeDeliveryTest : testing::SchedulerFixture {};

TEST_F(NativeDeliveryTest, UrgentDeliveryGoesFirst) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  for (const auto* id : {"a1", "a2"}) receive_from("Alice", id);
  receive_from("Carol", "c1");
  receive_from("Carol", "c2", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  (void)take_steps();
  for (int i = 0; i < 4; ++i) after(1ms, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"native text of c2", "native text of a1", "native text of c1", "native text of a2"}));
}

TEST_F(NativeDeliveryTest, DeliveryTooLargeForHookDelaysOnlyItsSender) {
  support(DeliveryMode::NextMessage, DeliveryTiming::OnHook, "hook");
  receive_from("Alice", "a-long-one", DeliveryMode::NextMessage);
  receive_from("Alice", "a2", DeliveryMode::NextMessage);
  receive_from("Carol", "c1", DeliveryMode::NextMessage);
  receive_from("Carol", "c2", DeliveryMode::NextMessage);
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 17, view), "text of c1");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 29, view), "text of a-long-one\ntext of c2");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 29, view), "text of a2");
}

TEST_F(NativeDeliveryTest, NativeDeliveryIsDeliveredWhenTranscriptShowsIt) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  receive("a");
  receive("b");
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_TRUE(intent.contains("a")) << "logged before the delivery";
  EXPECT_EQ(take_steps(), Lines{"native text of a"});
  on_accepted({});
  EXPECT_EQ(take_steps(), Lines{"a accepted written: accepted via inbox"});
  after(1s, State::Idle);
  EXPECT_TRUE(take_steps().empty()) << "one turn at a time";
  report_input("a preamble\ntext of a\nand a postscript", "transcript", "u-1");
  EXPECT_EQ(take_steps(), Lines{"a delivered seen: via inbox; its transcript shows it"});
  after(100ms, State::Idle);
  EXPECT_TRUE(take_steps().empty()) << "its turn is not visible yet";
  after(100ms, State::Working);
  EXPECT_EQ(take_steps(), Lines{"b deferred: the agent is working"});
  after(1s, State::Idle);
  after(150ms, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of b"});
}

TEST_F(NativeDeliveryTest, DialogBlocksNativeDeliveryAndDraftDoesNot) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  support(DeliveryMode::Immediate, DeliveryTiming::Anytime, "inbox");
  receive("a");
  receive("b", DeliveryMode::Immediate);
  (void)take_steps();
  after(1s, State::Blocked);
  EXPECT_EQ(take_steps(), (Lines{"b deferred: a dialog is open", "a deferred: a dialog is open"}));
  after(1s, State::Typing);
  EXPECT_EQ(take_steps(), Lines{"native text of b"});
  after(150ms, State::Typing);
  EXPECT_EQ(take_steps(), Lines{"native text of a"});
  receive("c", DeliveryMode::Immediate);
  (void)take_steps();
  after(1s, State::Working);
  EXPECT_TRUE(take_steps().empty()) << "the turn of an accepted message is not interrupted";
  report_input("text of a text of b", "transcript", "u-1");
  (void)take_steps();
  after(1ms, State::Working);
  EXPECT_EQ(take_steps(), Lines{"native text of c"});
}

TEST_F(NativeDeliveryTest, WithoutTranscriptStartOfWorkIsProof) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  view.can.output = {};
  deliver_natively("a");
  EXPECT_EQ(take_steps(), (Lines{"a accepted", "native text of a", "a accepted written: accepted via inbox"}));
  after(1s, State::Working);
  EXPECT_EQ(take_steps(), Lines{"a delivered submitted: via inbox; the agent started to work"});
}

TEST_F(NativeDeliveryTest, RefusedNativeDeliveryIsTyped) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  receive("a");
  after(1s, State::Idle);
  (void)take_steps();
  on_accepted(fail("connection refused"));
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: its inbox rejected it: connection refused", "type text of a"}));
}

TEST_F(NativeDeliveryTest, ReturnedDeliveryIsTypedOnce) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  deliver_natively("a");
  (void)take_steps();
  support(DeliveryMode::OnIdle, DeliveryTiming::Never, {});
  scheduler.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(take_steps(), Lines{"a deferred: its queue returned it unread: its turn was interrupted"});
  scheduler.on_returned({"a"}, "its turn was interrupted");
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"type text of a"});
  after(120s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{}) << "it is pending at the gate, not in doubt";
}

TEST_F(NativeDeliveryTest, ReturnedDeliveriesKeepTheirOrder) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  for (const auto* id : {"a", "b", "c"}) receive(id);
  after(1s, State::Working);
  receive("d");
  support(DeliveryMode::OnIdle, DeliveryTiming::Never, {});
  scheduler.on_returned({"a", "b", "c"}, "its turn was interrupted");
  (void)take_steps();
  Lines typed;
  for (int i = 0; i < 4; ++i) {
    after(60s, State::Idle);
    for (const auto& line : take_steps())
      if (line.starts_with("type")) typed.push_back(line);
    gate.reset();
  }
  EXPECT_EQ(typed, (Lines{"type text of a", "type text of b", "type text of c", "type text of d"}));
}

TEST_F(NativeDeliveryTest, DoubtfulDeliveryFailsWhenReturned) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  deliver_natively("a");
  for (int i = 0; i < 3; ++i) after(kInDoubtAfter, State::Idle);
  (void)take_steps();
  scheduler.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(take_steps(), Lines{"a failed: its queue returned it unread: its turn was interrupted"});
}

TEST_F(NativeDeliveryTest, HookTakesPendingDeliveriesTogether) {
  support(DeliveryMode::NextMessage, DeliveryTiming::OnHook, "hook");
  for (const auto* id : {"a", "b", "c"}) receive(id, DeliveryMode::NextMessage);
  (void)take_steps();
  after(1s, State::Idle);
  EXPECT_EQ(take_steps().size(), 3u) << "each has a reason";
  EXPECT_EQ(scheduler.take(DeliveryMode::NextToolCall, 1'000, view), "");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 20, view), "text of a\ntext of b");
  EXPECT_EQ(take_steps(), (Lines{"a accepted written: accepted via hook", "b accepted written: accepted via hook"}));
  report_input("text of a\ntext of b", "transcript", "u-1");
  EXPECT_EQ(take_steps().front(), "a delivered seen: via hook; its transcript shows it");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 20, view), "text of c");
}

TEST_F(NativeDeliveryTest, DeliveryWithoutTurnIsImmediate) {
  support(DeliveryMode::NextMessage, DeliveryTiming::WhenIdle, "server");
  receive("a", DeliveryMode::NextMessage);
  receive("b", DeliveryMode::NextMessage);
  (void)take_steps();
  after(1s, State::Idle);
  after(1ms, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"native text of a", "native text of b"}));
}

TEST_F(NativeDeliveryTest, DeliveryWithoutTurnIsInDoubtAfterNextTurn) {
  support(DeliveryMode::NextMessage, DeliveryTiming::WhenIdle, "server");
  receive("a", DeliveryMode::NextMessage);
  after(1s, State::Idle);
  on_accepted({});
  receive_silent("q");
  after(1s, State::Idle);
  on_accepted({});
  (void)take_steps();
  after(kReportUnprovenAfter, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: the agent has it for its next turn",
                                 "q deferred: the agent has it for its next turn"}));
  EXPECT_EQ(scheduler.deliver(view), std::nullopt) << "nothing changes before the next turn";
  after(24h, State::Idle);
  EXPECT_TRUE(take_steps().empty());
  after(1s, State::Working);
  (void)take_steps();
  report_input("text of a\nsomething new", "server", "msg_1");
  EXPECT_EQ(take_steps(), Lines{"a delivered seen: via server; its server shows it"});
  after(1s, State::Idle);
  after(kInDoubtAfter, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"q in_doubt: accepted via server; no evidence that the model received it"});
}

TEST_F(NativeDeliveryTest, LimitedInterfaceGetsBundledText) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  for (const auto* id : {"a", "b", "c"}) receive(id);
  view.can.by(DeliveryMode::OnIdle).max_bundle_bytes = 20;
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a accepted", "b accepted", "c accepted", "native text of a\ntext of b"}))
      << "c does not fit";
  on_accepted({});
  report_input("text of a\ntext of b", "transcript", "u-1");
  EXPECT_EQ(take_steps(), (Lines{"a accepted written: accepted via inbox", "b accepted written: accepted via inbox",
                                 "a delivered seen: via inbox; its transcript shows it",
                                 "b delivered seen: via inbox; its transcript shows it"}));
  after(10ms, State::Working);
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_EQ(take_steps().back(), "native text of c");
}

TEST_F(NativeDeliveryTest, RefusedBundleKeepsItsOrder) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  for (const auto* id : {"a", "b"}) receive(id);
  view.can.by(DeliveryMode::OnIdle).max_bundle_bytes = 1'000;
  after(1s, State::Idle);
  (void)take_steps();
  on_accepted(fail("connection refused"));
  view.can.by(DeliveryMode::OnIdle) = {};
  after(1s, State::Idle);
  EXPECT_EQ(take_steps().back(), "type text of a");
}

TEST_F(NativeDeliveryTest, NativeInterfaceIsNotFlooded) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  for (std::size_t i = 0; i < 2 * kMaxUnproven; ++i) receive(format("m{}", i));
  for (std::size_t i = 0; i < 3 * kMaxUnproven; ++i) after(1ms, State::Idle);
  EXPECT_EQ(std::ranges::count_if(take_steps(), [](const auto& line) { return line.starts_with("native "); }),
            static_cast<std::ptrdiff_t>(kMaxUnproven));
  report_input("text of m0", "transcript", "u-1");
  view.can.by(DeliveryMode::OnIdle).not_before = view.now + 2s;
  (void)take_steps();
  after(1ms, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"m32 deferred: its queue is rate-limited"});
  after(2s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of m32"});
}

TEST_F(NativeDeliveryTest, LateEvidenceEndsDoubt) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  deliver_natively("a");
  after(kInDoubtAfter, State::Idle);
  EXPECT_EQ(take_steps().back(), "a in_doubt: accepted via inbox; no evidence that the model received it");
  after(1h, State::Working);
  report_input("text of a", "transcript", "u1");
  EXPECT_EQ(take_steps(), Lines{"a delivered seen: via inbox; its transcript shows it"});
  report_input("text of a", "transcript", "u1");
  EXPECT_TRUE(take_steps().empty());
}

TEST_F(NativeDeliveryTest, UnshownDeliveryIsReportedThenInDoubt) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  deliver_natively("a");
  (void)take_steps();
  after(kReportUnprovenAfter, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"a deferred: the agent accepted it; its transcript does not show it yet"});
  after(kInDoubtAfter, State::Working);
  EXPECT_TRUE(take_steps().empty()) << "a long turn may still show it";
  after(1s, State::Idle);
  after(kInDoubtAfter, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"a in_doubt: accepted via inbox; no evidence that the model received it"});
  receive("b");
  after(1s, State::Idle);
  (void)take_steps();
  scheduler.on_agent_exit();
  EXPECT_EQ(take_steps(), Lines{"b in_doubt: accepted via inbox; the agent ended before its transcript showed it"});
}

TEST_F(NativeDeliveryTest, FreedCapacityIsUsedAtOnce) {
  support(DeliveryMode::OnIdle, DeliveryTiming::Anytime, "queue");
  for (std::size_t i = 0; i <= kMaxUnproven; ++i) receive(format("m{}", i));
  for (std::size_t i = 0; i <= kMaxUnproven; ++i) after(1ms, State::Idle);
  ASSERT_FALSE(scheduler.fetchable().empty());
  view.now += kInDoubtAfter;
  ASSERT_EQ(scheduler.deliver(view), view.now) << "without another event";
  (void)take_steps();
  (void)scheduler.deliver(view);
  EXPECT_EQ(take_steps(), Lines{format("native text of m{}", kMaxUnproven)});
}

TEST_F(NativeDeliveryTest, DeliveryWithoutIntentIsNotDelivered) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  receive("a");
  (void)take_steps();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"a deferred: the intent log cannot be written"});
  after(kNativeRetry, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"native text of a"});
}

TEST_F(NativeDeliveryTest, ReceiptNamesInterfaceAndEvidence) {
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "inbox");
  receive("a");
  after(1s, State::Idle);
  EXPECT_EQ(last.proof, "") << "accepted by the host";
  on_accepted({});
  EXPECT_EQ(last.via, "inbox");
  EXPECT_EQ(last.proof, "written");
  report_input("text of a", "transcript", "u-1");
  EXPECT_EQ(last.via, "inbox");
  EXPECT_EQ(last.evidence, "transcript u-1");
  receive("b");
  fetch({"b"});
  EXPECT_EQ(last.via, "mcp");
  EXPECT_EQ(last.proof, "seen");
  view.can = {};
  support(DeliveryMode::OnIdle, DeliveryTiming::WhenIdle, "queue");
  view.can.output = {};
  receive("c");
  after(10s, State::Idle);
  on_accepted({});
  after(1s, State::Working);
  EXPECT_EQ(last.evidence, "status working");
}

}  // namespace
}  // namespace relay::host
