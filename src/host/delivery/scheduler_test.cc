#include "host/delivery/scheduler.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/format.h"
#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;
using Lines = std::vector<std::string>;

struct SchedulerTest : ::testing::Test, InjectionQueue, adapters::DeliveryTarget, ReceiptReporter {
  client::testing::MemoryDirectory disk;
  IntentLog intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  DeliveryScheduler scheduler{intent, *this, this, *this};
  DeliveryScheduler::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  Lines done;
  std::optional<Delivery> gate;
  bool typing = false;   // the one at the gate has begun
  bool sending = false;  // and its Enter is due
  OnAccepted handed;
  protocol::Receipt last;

  void deliver(const adapters::NativeDelivery& native, OnAccepted on_accepted) override {
    done.push_back(format("hand {}", native.text));
    handed = std::move(on_accepted);
  }
  void add(Delivery delivery) override {
    done.push_back(format("type {}", delivery.text));
    gate = std::move(delivery);
  }
  bool can_accept() const override { return !gate; }
  std::optional<Delivery> take_back() override { return typing ? std::nullopt : std::exchange(gate, std::nullopt); }
  std::optional<SteadyTime> sending_until() const override {
    return sending ? std::optional{SteadyTime{2h}} : std::nullopt;
  }
  bool has_interrupted() const override { return gate && gate->injection.interrupted(); }
  /// As the injector does.
  void gate_interrupts() {
    rules.interrupt = "\x1b";
    gate->injection = Injection{rules, Injection::InterruptPolicy::Interrupts};
    ASSERT_EQ(gate->injection.decide({.now = view.now + 1h, .state = State::Working}).step, InjectionStep::Interrupt);
  }
  void report(const client::DeliveryRef& place, protocol::Receipt receipt) override {
    last = receipt;
    done.push_back(format("{} {}{}{}{}{}", place.id, name_of(receipt.status), receipt.proof.empty() ? "" : " ",
                          receipt.proof, receipt.reason.empty() ? "" : ": ", receipt.reason));
  }

  void come(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) {
    scheduler.add({.ref = {.id = id},
                   .from = "Alice",
                   .message = id,
                   .text = "text of " + id,
                   .mode = mode,
                   .injection = Injection{rules}});
  }
  /// Of somebody's, perhaps urgent.
  void come_from(const std::string& from, const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle,
                 protocol::Priority priority = protocol::Priority::Normal) {
    scheduler.add({.ref = {.id = id, .lane = {mode, priority}},
                   .from = from,
                   .message = id,
                   .text = "text of " + id,
                   .mode = mode,
                   .injection = Injection{rules}});
  }
  void come_from_user(const std::string& id) {
    scheduler.add({.ref = {.id = id},
                   .from = "human",
                   .message = id,
                   .text = "text of " + id,
                   .as_user = true,
                   .injection = Injection{rules}});
  }
  void come_quietly(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) {
    scheduler.add({.ref = {.id = id},
                   .from = "Alice",
                   .message = id,
                   .text = "text of " + id,
                   .mode = mode,
                   .silent = true,
                   .injection = Injection{rules}});
  }
  void can(DeliveryMode mode, DeliveryTiming moment, std::string_view way) {
    view.can.output = "transcript";
    view.can.by(mode) = {moment, way};
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = state;
    (void)scheduler.deliver(view);
  }
  void given(std::string_view text, std::string_view way, std::string_view id) {
    EvidenceMatcher shown{text};
    scheduler.on_model_input(shown, way, id);
  }
  void fetch(const Lines& ids) {
    (void)scheduler.fetch(ids);
    scheduler.on_fetched();
  }
  Lines received() { return std::exchange(done, {}); }
};

TEST_F(SchedulerTest, DeliveryWithoutNativeInterfaceIsTyped) {
  come("a");
  come("b");
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"a accepted", "b accepted", "type text of a"}));
  after(1s, State::Idle);
  EXPECT_TRUE(received().empty());
  gate.reset();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of b"});
}

TEST_F(SchedulerTest, UrgentOnesBehindOneThatHasNotBegunAreNeitherLostNorMixedUp) {
  for (const auto* id : {"a", "b", "c"}) come(id, DeliveryMode::Immediate);
  (void)received();
  for (int look = 0; look < 3; ++look) after(1s, State::Typing);
  EXPECT_EQ(received(), Lines{"type text of a"}) << "a person has a draft";
  for (const auto* next : {"type text of b", "type text of c"}) {
    gate.reset();
    after(1s, State::Idle);
    EXPECT_EQ(received(), Lines{next});
  }
}

TEST_F(SchedulerTest, UrgentOnesComeBeforeTheOthersAndSendersTakeTurns) {
  for (const auto* id : {"a1", "a2", "a3"}) come_from("Alice", id);
  come_from("Carol", "c1");
  after(1s, State::Working);
  come_from("Dave", "d1", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  (void)received();
  Lines typed;
  for (int i = 0; i < 5; ++i) {
    after(1s, State::Working);
    typed.push_back(gate->ref.id);
    gate.reset();
  }
  EXPECT_EQ(typed, (Lines{"d1", "a1", "c1", "a2", "a3"})) << "also before what stood at the gate and had not begun";
}

TEST_F(SchedulerTest, InterruptingModeGoesBeforeUrgentOnIdle) {
  come_from("Alice", "a", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  come_from("Carol", "c", DeliveryMode::Immediate);
  after(1s, State::Working);
  EXPECT_EQ(gate->ref.id, "c");
  after(1s, State::Idle);
  EXPECT_EQ(gate->ref.id, "a") << "now both could go";
}

TEST_F(SchedulerTest, NothingPrecedesInterruptingDelivery) {
  come_from("Carol", "c", DeliveryMode::Immediate);
  after(1s, State::Working);
  gate_interrupts();
  come_from("Alice", "a", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  after(1s, State::Idle);
  EXPECT_EQ(gate->ref.id, "c") << "it could not interrupt again";
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  (void)received();
  after(1s, State::Idle);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->ref.id, "c");
  EXPECT_EQ(received(), Lines{"a deferred: another message comes first: the agent's turn was interrupted for it"});
  after(1s, State::Typing);
  EXPECT_EQ(received(), Lines{"hand text of a"}) << "a draft may stand there for long";
  EXPECT_TRUE(scheduler.cancel("c")) << "it has not begun";
}

TEST_F(SchedulerTest, UrgentNativeDeliveryGoesFirst) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (const auto* id : {"a1", "a2"}) come_from("Alice", id);
  come_from("Carol", "c1");
  come_from("Carol", "c2", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  (void)received();
  for (int i = 0; i < 4; ++i) after(1ms, State::Idle);
  EXPECT_EQ(received(), (Lines{"hand text of c2", "hand text of a1", "hand text of c1", "hand text of a2"}));
}

TEST_F(SchedulerTest, DeliveryTooLargeForHookDelaysItsSenderAlone) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  come_from("Alice", "a-long-one", DeliveryMode::NextMessage);
  come_from("Alice", "a2", DeliveryMode::NextMessage);
  come_from("Carol", "c1", DeliveryMode::NextMessage);
  come_from("Carol", "c2", DeliveryMode::NextMessage);
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 17, view), "text of c1");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 29, view), "text of a-long-one\ntext of c2");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 29, view), "text of a2");
}

TEST_F(SchedulerTest, RequeuedDeliveryIsLaterInStream) {
  come_from("Alice", "a1");
  come_from("Alice", "a2");
  scheduler.move({.id = "a1", .seq = 9}, DeliveryMode::OnIdle, Injection{rules});
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of a2"});
}

TEST_F(SchedulerTest, FarDeadlineIsRecheckedLater) {
  for (const WallMs end :
       {WallMs{253'402'300'799'000}, WallMs{8'640'000'000'000'000}, std::numeric_limits<WallMs>::max()}) {
    scheduler.add({.ref = {.id = "a"},
                   .text = "x",
                   .mode = DeliveryMode::Manual,
                   .expires_at = end,
                   .injection = Injection{rules}});
    EXPECT_EQ(scheduler.deliver(view), view.now + kFarAway) << end;
    ASSERT_TRUE(scheduler.cancel("a"));
  }
}

TEST_F(SchedulerTest, UserIsNotPresentedAsAPeer) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  come_from_user("u");
  come("a");
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of u"});
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"a deferred: a message of the user comes first"});
  after(1s, State::Typing);
  after(1s, State::Typing);
  EXPECT_EQ(received(), Lines{"hand text of a"}) << "a draft holds back what is typed alone";
  ASSERT_TRUE(gate) << "the user's message stays where it is typed";
  EXPECT_EQ(gate->text, "text of u");
}

TEST_F(SchedulerTest, NamesInterfaceOfEachDelivery) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  come_from_user("u");
  come("a");
  come("m", DeliveryMode::Manual);
  const auto via_of = [&](std::string_view id) -> std::string {
    for (const auto* delivery : scheduler.pending())
      if (delivery->ref.id == id) return std::string{scheduler.via_of(*delivery, view.can).value_or("typed")};
    return "not here";
  };
  EXPECT_EQ(via_of("u"), "typed") << "the inbox would call it a peer's";
  EXPECT_EQ(via_of("a"), "inbox");
  EXPECT_EQ(via_of("m"), "mcp");
  view.can.by(DeliveryMode::OnIdle).as_peer = false;
  EXPECT_EQ(via_of("u"), "inbox");
  view.can = {};
  EXPECT_EQ(via_of("a"), "typed");
}

TEST_F(SchedulerTest, UnknownScreenIsNotReportedAsDialog) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.blocker = profiles::Blocker::UnknownScreen;
  come("a");
  (void)received();
  after(1s, State::Blocked);
  EXPECT_EQ(received(), Lines{"a deferred: the screen is not understood"});
}

TEST_F(SchedulerTest, PeerWaitsWhileATypedMessageIsBeingSent) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate}) {
    can(mode, DeliveryTiming::AnyTime, "inbox");
    view.can.by(mode).as_peer = true;
  }
  come_from_user("u");
  after(1s, State::Idle);
  typing = sending = true;
  come("a");
  come_from("Carol", "c", DeliveryMode::Immediate);
  (void)received();
  after(20ms, State::Idle);
  after(20ms, State::Typing);
  after(300ms, State::Working);
  EXPECT_EQ(received(), Lines{}) << "a turn of another message would keep it unsent";
  typing = sending = false;
  gate.reset();
  after(1s, State::Working);
  EXPECT_EQ(received(), (Lines{"hand text of c", "hand text of a"}));
}

TEST_F(SchedulerTest, UrgentPeerDoesNotWaitForAUsersMessageThatWaitsForTheTurnToEnd) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate}) {
    can(mode, DeliveryTiming::AnyTime, "inbox");
    view.can.by(mode).as_peer = true;
  }
  come_from_user("u");
  after(1s, State::Working);
  come_from("Carol", "c", DeliveryMode::Immediate);
  come("a");
  (void)received();
  after(1s, State::Working);
  EXPECT_EQ(received(), (Lines{"hand text of c", "a deferred: a message of the user comes first"}));
}

TEST_F(SchedulerTest, UserIsNotTypedWhileAPeersTurnIsAboutToBegin) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  come("a");
  after(1s, State::Idle);
  handed({});
  come_from_user("u");
  (void)received();
  after(10ms, State::Idle);
  given("text of a", "transcript", "t-1");
  after(100ms, State::Idle);
  EXPECT_EQ(received(), Lines{"a delivered seen: via inbox; its transcript shows it"}) << "it would stand unsent";
  after(kTurnSettle, State::Working);
  EXPECT_EQ(received(), Lines{"type text of u"});
}

TEST_F(SchedulerTest, SilentMessageOfTheUserDoesNotGoAlongWithAPeers) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  scheduler.add({.ref = {.id = "u"},
                 .from = "human",
                 .message = "u",
                 .text = "text of u",
                 .as_user = true,
                 .silent = true,
                 .injection = Injection{rules}});
  come_quietly("q");
  come("a");
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"hand text of q\ntext of a",
                               "u deferred: it does not wake the agent; it goes with the next message"}));
  const auto typed_with = scheduler.take_silent(1'000);
  ASSERT_EQ(typed_with.size(), 1u) << "it goes with what is typed";
  EXPECT_EQ(typed_with.front().text, "text of u");
}

TEST_F(SchedulerTest, MessageForAProgramWithoutAProfileNamesItsInbox) {
  view.typed_into = false;
  come("a");
  come("b", DeliveryMode::Immediate);
  (void)received();
  after(1s, State::Unknown);
  constexpr auto kWhy =
      "no profile knows the program, so nothing is typed into it; it is in inbox.md ($AGENT_RELAY_INBOX)";
  EXPECT_EQ(received(), (Lines{format("b deferred: {}", kWhy), format("a deferred: {}", kWhy)}));
  EXPECT_FALSE(gate);
}

TEST_F(SchedulerTest, UserMessageAvoidsPeerInterface) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  come_from_user("u");
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of u"});
}

TEST_F(SchedulerTest, NativeDeliveryIsDeliveredWhenTranscriptShowsIt) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  come("b");
  (void)received();
  after(1s, State::Idle);
  EXPECT_TRUE(intent.contains("a")) << "noted before it is handed over";
  EXPECT_EQ(received(), Lines{"hand text of a"});
  handed({});
  EXPECT_EQ(received(), Lines{"a accepted written: accepted via inbox"});
  after(1s, State::Idle);
  EXPECT_TRUE(received().empty()) << "one turn after the other";
  given("a preamble\ntext of a\nand a postscript", "transcript", "u-1");
  EXPECT_EQ(received(), Lines{"a delivered seen: via inbox; its transcript shows it"});
  after(100ms, State::Idle);
  EXPECT_TRUE(received().empty()) << "its turn has not shown yet";
  after(100ms, State::Working);
  EXPECT_EQ(received(), Lines{"b deferred: the agent is working"});
  after(1s, State::Idle);
  after(150ms, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of b"});
}

TEST_F(SchedulerTest, DialogBlocksNativeDeliveryAndDraftDoesNot) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  can(DeliveryMode::Immediate, DeliveryTiming::AnyTime, "inbox");
  come("a");
  come("b", DeliveryMode::Immediate);
  (void)received();
  after(1s, State::Blocked);
  EXPECT_EQ(received(), (Lines{"b deferred: a dialog is open", "a deferred: a dialog is open"}));
  after(1s, State::Typing);
  EXPECT_EQ(received(), Lines{"hand text of b"});
  after(150ms, State::Typing);
  EXPECT_EQ(received(), Lines{"hand text of a"});
  come("c", DeliveryMode::Immediate);
  (void)received();
  after(1s, State::Working);
  EXPECT_TRUE(received().empty()) << "the turn of what is just being taken is not cut short";
  given("text of a text of b", "transcript", "u-1");
  (void)received();
  after(1ms, State::Working);
  EXPECT_EQ(received(), Lines{"hand text of c"});
}

TEST_F(SchedulerTest, WithoutARecordItIsDeliveredWhenTheAgentBeginsToWork) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.output = {};
  come("a");
  after(1s, State::Idle);
  handed({});
  EXPECT_EQ(received(), (Lines{"a accepted", "hand text of a", "a accepted written: accepted via inbox"}));
  after(1s, State::Working);
  EXPECT_EQ(received(), Lines{"a delivered submitted: via inbox; the agent began to work"});
}

TEST_F(SchedulerTest, RefusedNativeDeliveryIsTyped) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  (void)received();
  handed(fail("nobody listens there"));
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"a deferred: its inbox took nothing: nobody listens there", "type text of a"}));
}

TEST_F(SchedulerTest, MessageThatIsGivenBackUnreadIsTypedOnce) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  come("a");
  after(1s, State::Idle);
  handed({});
  (void)received();
  can(DeliveryMode::OnIdle, DeliveryTiming::Never, {});
  scheduler.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(received(), Lines{"a deferred: its queue returned it unread: its turn was interrupted"});
  scheduler.on_returned({"a"}, "its turn was interrupted");
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of a"});
  after(120s, State::Idle);
  EXPECT_EQ(received(), Lines{}) << "it is not in doubt: it is before the gate";
}

TEST_F(SchedulerTest, MessagesThatAreGivenBackKeepTheirOrder) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (const auto* id : {"a", "b", "c"}) come(id);
  after(1s, State::Working);
  come("d");
  can(DeliveryMode::OnIdle, DeliveryTiming::Never, {});
  scheduler.on_returned({"a", "b", "c"}, "its turn was interrupted");
  (void)received();
  Lines typed;
  for (int i = 0; i < 4; ++i) {
    after(60s, State::Idle);
    for (const auto& line : received())
      if (line.starts_with("type")) typed.push_back(line);
    gate.reset();
  }
  EXPECT_EQ(typed, (Lines{"type text of a", "type text of b", "type text of c", "type text of d"}));
}

TEST_F(SchedulerTest, MessageThatIsGivenBackAfterItWasInDoubtHasFailed) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  come("a");
  after(1s, State::Idle);
  handed({});
  for (int i = 0; i < 3; ++i) after(kProofLimit, State::Idle);
  (void)received();
  scheduler.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(received(), Lines{"a failed: its queue returned it unread: its turn was interrupted"});
}

TEST_F(SchedulerTest, SilentMessageInTheSameTextFailsWithTheOneThatIsGivenBack) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  come_quietly("q");
  come("a");
  after(1s, State::Idle);
  handed({});
  for (int i = 0; i < 3; ++i) after(kProofLimit, State::Idle);
  (void)received();
  scheduler.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(received().size(), 2U);
}

TEST_F(SchedulerTest, HookTakesPendingTogether) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  for (const auto* id : {"a", "b", "c"}) come(id, DeliveryMode::NextMessage);
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received().size(), 3u) << "each knows what it waits for";
  EXPECT_EQ(scheduler.take(DeliveryMode::NextToolCall, 1'000, view), "");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 20, view), "text of a\ntext of b");
  EXPECT_EQ(received(), (Lines{"a accepted written: accepted via hook", "b accepted written: accepted via hook"}));
  given("text of a\ntext of b", "transcript", "u-1");
  EXPECT_EQ(received().front(), "a delivered seen: via hook; its transcript shows it");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 20, view), "text of c");
}

TEST_F(SchedulerTest, DeliveryWithoutTurnIsImmediate) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Idle, "server");
  come("a", DeliveryMode::NextMessage);
  come("b", DeliveryMode::NextMessage);
  (void)received();
  after(1s, State::Idle);
  after(1ms, State::Idle);
  EXPECT_EQ(received(), (Lines{"hand text of a", "hand text of b"}));
}

TEST_F(SchedulerTest, DeliveryWithoutTurnIsInDoubtAfterNextTurn) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Idle, "server");
  come("a", DeliveryMode::NextMessage);
  after(1s, State::Idle);
  handed({});
  come_quietly("q");
  after(1s, State::Idle);
  handed({});
  (void)received();
  after(kProofTimeout, State::Idle);
  EXPECT_EQ(received(), (Lines{"a deferred: the agent has it for its next turn",
                               "q deferred: the agent has it for its next turn"}));
  EXPECT_EQ(scheduler.deliver(view), std::nullopt) << "nothing happens before somebody speaks to the agent";
  after(24h, State::Idle);
  EXPECT_TRUE(received().empty());
  after(1s, State::Working);
  (void)received();
  given("text of a\nsomething new", "server", "msg_1");
  EXPECT_EQ(received(), Lines{"a delivered seen: via server; its server shows it"});
  after(1s, State::Idle);
  after(kProofLimit, State::Idle);
  EXPECT_EQ(received(), Lines{"q in_doubt: accepted via server; no evidence that the model received it"});
}

TEST_F(SchedulerTest, UnsupportedModeStaysPending) {
  come("a", DeliveryMode::NextToolCall);
  come("b", DeliveryMode::Manual);
  come("c");
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"a deferred: the agent takes no messages with its next tool call", "type text of c",
                               "b deferred: it is held until the agent fetches it or `agent-relay flush` lets it go"}));
}

TEST_F(SchedulerTest, UrgentDeliveryReplacesOneAtGate) {
  come("a");
  after(1s, State::Working);
  come("b", DeliveryMode::Immediate);
  (void)received();
  after(1s, State::Working);
  EXPECT_EQ(received(), Lines{"type text of b"});
  typing = true;
  come("c", DeliveryMode::Immediate);
  after(1s, State::Working);
  EXPECT_EQ(received(), Lines{"c accepted"}) << "what has begun goes on";
}

TEST_F(SchedulerTest, SeveralGoInOneTextWhereTheInterfaceRunsLow) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  for (const auto* id : {"a", "b", "c"}) come(id);
  view.can.by(DeliveryMode::OnIdle).together_bytes = 20;
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"a accepted", "b accepted", "c accepted", "hand text of a\ntext of b"}))
      << "c has no room";
  handed({});
  given("text of a\ntext of b", "transcript", "u-1");
  EXPECT_EQ(received(), (Lines{"a accepted written: accepted via inbox", "b accepted written: accepted via inbox",
                               "a delivered seen: via inbox; its transcript shows it",
                               "b delivered seen: via inbox; its transcript shows it"}));
  after(10ms, State::Working);
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_EQ(received().back(), "hand text of c");
}

TEST_F(SchedulerTest, SeveralThatWereNotTakenComeBackInTheirOrder) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  for (const auto* id : {"a", "b"}) come(id);
  view.can.by(DeliveryMode::OnIdle).together_bytes = 1'000;
  after(1s, State::Idle);
  (void)received();
  handed(fail("nobody listens there"));
  view.can.by(DeliveryMode::OnIdle) = {};
  after(1s, State::Idle);
  EXPECT_EQ(received().back(), "type text of a");
}

TEST_F(SchedulerTest, FlickeringScreenDoesNotFillHistory) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  (void)received();
  for (int i = 0; i < 100; ++i) after(50ms, i % 2 == 0 ? State::Blocked : State::Working);
  EXPECT_EQ(received(), Lines{"a deferred: a dialog is open"});
  after(50ms, State::Working);
  after(kReasonSettle, State::Working);
  EXPECT_EQ(received(), Lines{"a deferred: the agent is working"});
}

TEST_F(SchedulerTest, NativeInterfaceIsNotFlooded) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (std::size_t i = 0; i < 2 * kMaxUnproven; ++i) come(format("m{}", i));
  for (std::size_t i = 0; i < 3 * kMaxUnproven; ++i) after(1ms, State::Idle);
  EXPECT_EQ(std::ranges::count_if(received(), [](const auto& line) { return line.starts_with("hand "); }),
            static_cast<std::ptrdiff_t>(kMaxUnproven));
  given("text of m0", "transcript", "u-1");
  view.can.by(DeliveryMode::OnIdle).not_before = view.now + 2s;
  (void)received();
  after(1ms, State::Idle);
  EXPECT_EQ(received(), Lines{"m32 deferred: its queue limits how many messages it takes"});
  after(2s, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of m32"});
}

TEST_F(SchedulerTest, LateNativeInterfaceTakesUntypedDelivery) {
  come("a");
  after(1s, State::Working);
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  (void)received();
  after(1s, State::Idle);
  after(150ms, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of a"});
  EXPECT_FALSE(gate);
}

TEST_F(SchedulerTest, FetchedDeliveryIsNeverTyped) {
  come("a", DeliveryMode::Manual);
  come("b");
  after(1s, State::Working);
  (void)received();
  fetch({"a", "b", "unknown"});
  EXPECT_EQ(received(), (Lines{"b delivered seen: fetched by the agent", "a delivered seen: fetched by the agent"}));
  after(1s, State::Idle);
  EXPECT_TRUE(received().empty());
}

TEST_F(SchedulerTest, LoggedIntentWithoutOutcomeIsInDoubt) {
  ASSERT_TRUE(intent.add("a"));
  come("a");
  EXPECT_EQ(received(), Lines{"a in_doubt: the host ended during the delivery"});
  after(1s, State::Idle);
  EXPECT_TRUE(received().empty());
}

TEST_F(SchedulerTest, LoggedOutcomeIsReportedAgain) {
  ASSERT_TRUE(intent.add("a"));
  intent.add_outcome("a", {.status = protocol::ReceiptStatus::Delivered, .proof = "submitted", .reason = "it began"});
  come("a");
  EXPECT_EQ(received(), Lines{"a delivered submitted: it began"});
  after(1s, State::Idle);
  EXPECT_TRUE(received().empty());
}

TEST_F(SchedulerTest, LateEvidenceEndsDoubt) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  handed({});
  after(kProofLimit, State::Idle);
  EXPECT_EQ(received().back(), "a in_doubt: accepted via inbox; no evidence that the model received it");
  after(1h, State::Working);
  given("text of a", "transcript", "u1");
  EXPECT_EQ(received(), Lines{"a delivered seen: via inbox; its transcript shows it"});
  given("text of a", "transcript", "u1");
  EXPECT_TRUE(received().empty());
}

TEST_F(SchedulerTest, UnshownDeliveryIsReportedThenInDoubt) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  handed({});
  (void)received();
  after(kProofTimeout, State::Idle);
  EXPECT_EQ(received(), Lines{"a deferred: the agent accepted it; its transcript does not show it yet"});
  after(kProofLimit, State::Working);
  EXPECT_TRUE(received().empty()) << "a long turn may still take it";
  after(1s, State::Idle);
  after(kProofLimit, State::Idle);
  EXPECT_EQ(received(), Lines{"a in_doubt: accepted via inbox; no evidence that the model received it"});
  come("b");
  after(1s, State::Idle);
  (void)received();
  scheduler.on_agent_exit();
  EXPECT_EQ(received(), Lines{"b in_doubt: accepted via inbox; the agent ended before its transcript showed it"});
}

TEST_F(SchedulerTest, HandsThatBecomeFreeAreFilledAtOnce) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (std::size_t i = 0; i <= kMaxUnproven; ++i) come(format("m{}", i));
  for (std::size_t i = 0; i <= kMaxUnproven; ++i) after(1ms, State::Idle);
  ASSERT_FALSE(scheduler.fetchable().empty());
  view.now += kProofLimit;
  ASSERT_EQ(scheduler.deliver(view), view.now) << "nothing else may happen for a long time";
  (void)received();
  (void)scheduler.deliver(view);
  EXPECT_EQ(received(), Lines{format("hand text of m{}", kMaxUnproven)});
}

TEST_F(SchedulerTest, DeliveryWithoutIntentIsNotDelivered) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  (void)received();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"a deferred: the intent log cannot be written"});
  after(kNativeRetry, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of a"});
}

TEST_F(SchedulerTest, ExpiredDeliveryIsNotDelivered) {
  scheduler.add({.ref = {.id = "a"}, .text = "text of a", .expires_at = 5'000, .injection = Injection{rules}});
  view.wall = 5'000;
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"a failed: its ttl ran out"});
  scheduler.add(
      {.ref = {.id = "b"}, .text = "text of b", .expires_at = 7'000, .deadline = 7'000, .injection = Injection{rules}});
  view.wall = 7'000;
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"b failed: its deadline passed"});
}

TEST_F(SchedulerTest, ReceiptNamesInterfaceAndEvidence) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  EXPECT_EQ(last.proof, "") << "accepted: it is here";
  handed({});
  EXPECT_EQ(last.via, "inbox");
  EXPECT_EQ(last.proof, "written");
  given("text of a", "transcript", "u-1");
  EXPECT_EQ(last.via, "inbox");
  EXPECT_EQ(last.evidence, "transcript u-1");
  come("b");
  fetch({"b"});
  EXPECT_EQ(last.via, "mcp");
  EXPECT_EQ(last.proof, "seen");
  view.can = {};
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  view.can.output = {};
  come("c");
  after(10s, State::Idle);
  handed({});
  after(1s, State::Working);
  EXPECT_EQ(last.evidence, "status working");
}

TEST_F(SchedulerTest, PauseHoldsNewDeliveries) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  come("a");
  after(1s, State::Idle);
  handed({});
  scheduler.pause("paused by a person: lunch");
  come("b");
  come("c", DeliveryMode::NextMessage);
  come("d", DeliveryMode::Manual);
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"c deferred: paused by a person: lunch", "b deferred: paused by a person: lunch"}));
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 1'000, view), "") << "not with a person's prompt either";
  given("text of a", "transcript", "u-1");
  EXPECT_EQ(received(), Lines{"a delivered seen: via inbox; its transcript shows it"}) << "what has begun is finished";
  fetch({"c"});
  EXPECT_EQ(received(), Lines{"c delivered seen: fetched by the agent"}) << "the agent itself asks";
  scheduler.pause(std::nullopt);
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"hand text of b",
                               "d deferred: it is held until the agent fetches it or `agent-relay flush` lets it go"}));
}

TEST_F(SchedulerTest, PauseTakesBackPendingInjection) {
  come("a");
  after(1s, State::Working);
  (void)received();
  scheduler.pause("paused by a person");
  after(1s, State::Idle);
  EXPECT_FALSE(gate);
  EXPECT_EQ(received(), Lines{"a deferred: paused by a person"});
  scheduler.pause(std::nullopt);
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of a"});
  typing = true;
  scheduler.pause("paused by a person");
  after(1s, State::Idle);
  EXPECT_TRUE(gate) << "it stands in the composer";
}

TEST_F(SchedulerTest, FlushedDeliveryChangesLane) {
  come("a", DeliveryMode::Manual);
  come("b");
  (void)received();
  scheduler.move({.id = "a", .seq = 9}, DeliveryMode::Immediate,
                 Injection{rules, Injection::InterruptPolicy::Interrupts});
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of a"});
  EXPECT_EQ(gate->ref.seq, 9U);
  EXPECT_EQ(gate->mode, DeliveryMode::Immediate);
  scheduler.move({.id = "a", .seq = 10}, DeliveryMode::Manual, Injection{rules});
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"type text of b",
                               "a deferred: it is held until the agent fetches it or `agent-relay flush` lets it go"}))
      << "from the gate too, as long as it has not begun";
}

TEST_F(SchedulerTest, CancelledDeliveryIsDroppedUnlessBegun) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  come("b");
  after(1s, State::Idle);
  (void)received();
  EXPECT_FALSE(scheduler.cancel("a"));
  EXPECT_TRUE(scheduler.cancel("b"));
  EXPECT_TRUE(received().empty());
  handed({});
  given("text of a", "transcript", "u-1");
  EXPECT_EQ(received(),
            (Lines{"a accepted written: accepted via inbox", "a delivered seen: via inbox; its transcript shows it"}));
  after(10s, State::Idle);
  EXPECT_TRUE(received().empty());
  EXPECT_TRUE(scheduler.pending().empty());
}

TEST_F(SchedulerTest, SilentDeliveryWaitsForAnother) {
  come_quietly("q");
  come_quietly("r", DeliveryMode::Immediate);
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"q deferred: it does not wake the agent; it goes with the next message",
                               "r deferred: it does not wake the agent; it goes with the next message"}));
  after(1min, State::Working);
  after(1min, State::Idle);
  EXPECT_TRUE(received().empty()) << "neither typed alone nor interrupting";
  const auto company = scheduler.take_silent(1'000);
  ASSERT_EQ(company.size(), 2U);
  EXPECT_TRUE(intent.contains("q") && intent.contains("r"));
  EXPECT_TRUE(scheduler.pending().empty());
}

TEST_F(SchedulerTest, OnlyAsManyAsFitGoAlong) {
  come_quietly("q");
  come_quietly("r");
  EXPECT_EQ(scheduler.take_silent(9).size(), 0U) << "nine letters, and a line break";
  EXPECT_EQ(scheduler.take_silent(10).size(), 1U);
  disk.fail_appends = 1;
  EXPECT_EQ(scheduler.take_silent(100).size(), 0U) << "what cannot be noted stays";
  EXPECT_EQ(scheduler.take_silent(100).size(), 1U);
}

TEST_F(SchedulerTest, SilentDeliveryGoesWithNativeDelivery) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  come_quietly("q");
  come("a");
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of q\ntext of a"});
  handed(fail("it is full"));
  EXPECT_EQ(received(), (Lines{"q deferred: its queue took nothing: it is full",
                               "a deferred: its queue took nothing: it is full"}));
  after(1s, State::Idle);
  EXPECT_EQ(received(),
            (Lines{"type text of a", "q deferred: it does not wake the agent; it goes with the next message"}));
  EXPECT_EQ(scheduler.take_silent(100).size(), 1U) << "it can go along with that";
}

TEST_F(SchedulerTest, HookTakesSilentDeliveries) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  come_quietly("q");
  come("a", DeliveryMode::NextMessage);
  after(1s, State::Idle);
  EXPECT_TRUE(scheduler.take_silent(100).empty()) << "the prompt that is typed calls the hook";
  EXPECT_EQ(scheduler.take(DeliveryMode::NextToolCall, 100, view), "");
  EXPECT_EQ(scheduler.take(DeliveryMode::NextMessage, 100, view), "text of a\ntext of q");
}

TEST_F(SchedulerTest, SilentDeliveryGoesAloneWithoutTurn) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Idle, "server");
  come_quietly("q");
  (void)received();
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"hand text of q"});
}

TEST_F(SchedulerTest, SecondAttemptIsNotInDoubt) {
  ASSERT_TRUE(intent.add("a"));
  scheduler.add({.ref = {.id = "a", .attempt = 2}, .text = "text of a", .injection = Injection{rules}});
  EXPECT_EQ(received(), Lines{"a accepted"});
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"type text of a"});
}

TEST_F(SchedulerTest, TypesNothingWithoutATerminal) {
  view.can.terminal = false;
  come("d1");
  scheduler.deliver(view);
  EXPECT_FALSE(gate);
  EXPECT_EQ(last.reason, "it runs without a terminal, so nothing can be typed to it");
}

}  // namespace
}  // namespace relay::host
