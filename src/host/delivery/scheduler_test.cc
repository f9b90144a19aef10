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

struct SorterTest : ::testing::Test, InjectionQueue, adapters::DeliveryTarget, ReceiptReporter {
  client::testing::MemoryDirectory disk;
  IntentLog intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  DeliveryScheduler sorter{intent, *this, this, *this};
  DeliveryScheduler::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  Lines done;
  std::optional<Delivery> gate;
  bool typing = false;   // the one at the gate has begun
  bool sending = false;  // and its Enter is due
  OnAccepted handed;
  protocol::Receipt last;

  void deliver(const adapters::NativeDelivery& words, OnAccepted on_handed) override {
    done.push_back(format("hand {}", words.text));
    handed = std::move(on_handed);
  }
  void add(Delivery letter) override {
    done.push_back(format("type {}", letter.text));
    gate = std::move(letter);
  }
  bool can_accept() const override { return !gate; }
  std::optional<Delivery> take_back() override { return typing ? std::nullopt : std::exchange(gate, std::nullopt); }
  std::optional<SteadyTime> sending_until() const override {
    return sending ? std::optional{SteadyTime{2h}} : std::nullopt;
  }
  bool has_interrupted() const override { return gate && gate->injection.interrupted(); }
  /// As the mailroom does.
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
    sorter.add({.ref = {.id = id},
                .from = "Alice",
                .message = id,
                .text = "text of " + id,
                .mode = mode,
                .injection = Injection{rules}});
  }
  /// Of somebody's, perhaps urgent.
  void come_from(const std::string& from, const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle,
                 protocol::Priority priority = protocol::Priority::Normal) {
    sorter.add({.ref = {.id = id, .lane = {mode, priority}},
                .from = from,
                .message = id,
                .text = "text of " + id,
                .mode = mode,
                .injection = Injection{rules}});
  }
  void come_from_user(const std::string& id) {
    sorter.add({.ref = {.id = id},
                .from = "human",
                .message = id,
                .text = "text of " + id,
                .as_user = true,
                .injection = Injection{rules}});
  }
  void come_quietly(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) {
    sorter.add({.ref = {.id = id},
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
    (void)sorter.deliver(view);
  }
  void given(std::string_view text, std::string_view way, std::string_view id) {
    EvidenceMatcher shown{text};
    sorter.on_given(shown, way, id);
  }
  void fetch(const Lines& ids) {
    (void)sorter.fetch(ids);
    sorter.on_fetched();
  }
  Lines heard() { return std::exchange(done, {}); }
};

TEST_F(SorterTest, WithoutADoorItIsTypedOneAtATime) {
  come("a");
  come("b");
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a accepted", "b accepted", "type text of a"}));
  after(1s, State::Idle);
  EXPECT_TRUE(heard().empty());
  gate.reset();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of b"});
}

TEST_F(SorterTest, UrgentOnesBehindOneThatHasNotBegunAreNeitherLostNorMixedUp) {
  for (const auto* id : {"a", "b", "c"}) come(id, DeliveryMode::Immediate);
  (void)heard();
  for (int look = 0; look < 3; ++look) after(1s, State::Typing);
  EXPECT_EQ(heard(), Lines{"type text of a"}) << "a person has a draft";
  for (const auto* next : {"type text of b", "type text of c"}) {
    gate.reset();
    after(1s, State::Idle);
    EXPECT_EQ(heard(), Lines{next});
  }
}

TEST_F(SorterTest, UrgentOnesComeBeforeTheOthersAndSendersTakeTurns) {
  for (const auto* id : {"a1", "a2", "a3"}) come_from("Alice", id);
  come_from("Carol", "c1");
  after(1s, State::Working);
  come_from("Dave", "d1", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  (void)heard();
  Lines typed;
  for (int i = 0; i < 5; ++i) {
    after(1s, State::Working);
    typed.push_back(gate->ref.id);
    gate.reset();
  }
  EXPECT_EQ(typed, (Lines{"d1", "a1", "c1", "a2", "a3"})) << "also before what stood at the gate and had not begun";
}

TEST_F(SorterTest, WhatInterruptsGoesBeforeWhatIsUrgentAndHasToWait) {
  come_from("Alice", "a", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  come_from("Carol", "c", DeliveryMode::Immediate);
  after(1s, State::Working);
  EXPECT_EQ(gate->ref.id, "c");
  after(1s, State::Idle);
  EXPECT_EQ(gate->ref.id, "a") << "now both could go";
}

TEST_F(SorterTest, NothingGoesBeforeWhatHasInterrupted) {
  come_from("Carol", "c", DeliveryMode::Immediate);
  after(1s, State::Working);
  gate_interrupts();
  come_from("Alice", "a", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  after(1s, State::Idle);
  EXPECT_EQ(gate->ref.id, "c") << "it could not interrupt again";
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  (void)heard();
  after(1s, State::Idle);
  ASSERT_TRUE(gate);
  EXPECT_EQ(gate->ref.id, "c");
  EXPECT_EQ(heard(), Lines{"a deferred: another message comes first: the agent's turn was interrupted for it"});
  after(1s, State::Typing);
  EXPECT_EQ(heard(), Lines{"hand text of a"}) << "a draft may stand there for long";
  EXPECT_TRUE(sorter.cancel("c")) << "it has not begun";
}

TEST_F(SorterTest, ByADoorUrgentOnesComeFirstToo) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (const auto* id : {"a1", "a2"}) come_from("Alice", id);
  come_from("Carol", "c1");
  come_from("Carol", "c2", DeliveryMode::OnIdle, protocol::Priority::Urgent);
  (void)heard();
  for (int i = 0; i < 4; ++i) after(1ms, State::Idle);
  EXPECT_EQ(heard(), (Lines{"hand text of c2", "hand text of a1", "hand text of c1", "hand text of a2"}));
}

TEST_F(SorterTest, WhatFindsNoRoomInAHookHoldsUpItsSenderAlone) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  come_from("Alice", "a-long-one", DeliveryMode::NextMessage);
  come_from("Alice", "a2", DeliveryMode::NextMessage);
  come_from("Carol", "c1", DeliveryMode::NextMessage);
  come_from("Carol", "c2", DeliveryMode::NextMessage);
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 17, view), "text of c1");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 29, view), "text of a-long-one\ntext of c2");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 29, view), "text of a2");
}

TEST_F(SorterTest, WhatIsPutBackIsALaterOneOfItsStream) {
  come_from("Alice", "a1");
  come_from("Alice", "a2");
  sorter.move({.id = "a1", .seq = 9}, DeliveryMode::OnIdle, Injection{rules});
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of a2"});
}

TEST_F(SorterTest, AFarDeadlineIsNoHurry) {
  for (const WallMs end :
       {WallMs{253'402'300'799'000}, WallMs{8'640'000'000'000'000}, std::numeric_limits<WallMs>::max()}) {
    sorter.add({.ref = {.id = "a"},
                .text = "x",
                .mode = DeliveryMode::Manual,
                .expires_at = end,
                .injection = Injection{rules}});
    EXPECT_EQ(sorter.deliver(view), view.now + kFarAway) << end;
    ASSERT_TRUE(sorter.cancel("a"));
  }
}

TEST_F(SorterTest, UserIsNotPresentedAsAPeer) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  come_from_user("u");
  come("a");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of u"});
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"a deferred: a message of the user comes first"});
  after(1s, State::Typing);
  after(1s, State::Typing);
  EXPECT_EQ(heard(), Lines{"hand text of a"}) << "a draft holds back what is typed alone";
  ASSERT_TRUE(gate) << "the user's message stays where it is typed";
  EXPECT_EQ(gate->text, "text of u");
}

TEST_F(SorterTest, TellsForEachMessageByWhichWayItWillGo) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  come_from_user("u");
  come("a");
  come("m", DeliveryMode::Manual);
  const auto way_of = [&](std::string_view id) -> std::string {
    for (const auto* letter : sorter.waiting())
      if (letter->ref.id == id) return std::string{sorter.way_of(*letter, view.can).value_or("typed")};
    return "not here";
  };
  EXPECT_EQ(way_of("u"), "typed") << "the inbox would call it a peer's";
  EXPECT_EQ(way_of("a"), "inbox");
  EXPECT_EQ(way_of("m"), "mcp");
  view.can.by(DeliveryMode::OnIdle).as_peer = false;
  EXPECT_EQ(way_of("u"), "inbox");
  view.can = {};
  EXPECT_EQ(way_of("a"), "typed");
}

TEST_F(SorterTest, AScreenThatIsNotUnderstoodIsNotToldAsADialog) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.blocker = profiles::Blocker::UnknownScreen;
  come("a");
  (void)heard();
  after(1s, State::Blocked);
  EXPECT_EQ(heard(), Lines{"a deferred: the screen is not understood"});
}

TEST_F(SorterTest, PeerWaitsWhileATypedMessageIsBeingSent) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate}) {
    can(mode, DeliveryTiming::AnyTime, "inbox");
    view.can.by(mode).as_peer = true;
  }
  come_from_user("u");
  after(1s, State::Idle);
  typing = sending = true;
  come("a");
  come_from("Carol", "c", DeliveryMode::Immediate);
  (void)heard();
  after(20ms, State::Idle);
  after(20ms, State::Typing);
  after(300ms, State::Working);
  EXPECT_EQ(heard(), Lines{}) << "a turn of another message would keep it unsent";
  typing = sending = false;
  gate.reset();
  after(1s, State::Working);
  EXPECT_EQ(heard(), (Lines{"hand text of c", "hand text of a"}));
}

TEST_F(SorterTest, UrgentPeerDoesNotWaitForAUsersMessageThatWaitsForTheTurnToEnd) {
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate}) {
    can(mode, DeliveryTiming::AnyTime, "inbox");
    view.can.by(mode).as_peer = true;
  }
  come_from_user("u");
  after(1s, State::Working);
  come_from("Carol", "c", DeliveryMode::Immediate);
  come("a");
  (void)heard();
  after(1s, State::Working);
  EXPECT_EQ(heard(), (Lines{"hand text of c", "a deferred: a message of the user comes first"}));
}

TEST_F(SorterTest, UserIsNotTypedWhileAPeersTurnIsAboutToBegin) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  come("a");
  after(1s, State::Idle);
  handed({});
  come_from_user("u");
  (void)heard();
  after(10ms, State::Idle);
  given("text of a", "transcript", "t-1");
  after(100ms, State::Idle);
  EXPECT_EQ(heard(), Lines{"a delivered seen: by inbox; its transcript shows it"}) << "it would stand unsent";
  after(kTurnSettle, State::Working);
  EXPECT_EQ(heard(), Lines{"type text of u"});
}

TEST_F(SorterTest, SilentMessageOfTheUserDoesNotGoAlongWithAPeers) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.by(DeliveryMode::OnIdle).as_peer = true;
  sorter.add({.ref = {.id = "u"},
              .from = "human",
              .message = "u",
              .text = "text of u",
              .as_user = true,
              .silent = true,
              .injection = Injection{rules}});
  come_quietly("q");
  come("a");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"hand text of q\ntext of a",
                            "u deferred: it does not wake the agent; it goes with the next message"}));
  const auto typed_with = sorter.take_silent(1'000);
  ASSERT_EQ(typed_with.size(), 1u) << "it goes with what is typed";
  EXPECT_EQ(typed_with.front().text, "text of u");
}

TEST_F(SorterTest, MessageForAProgramWithoutAProfileNamesItsInbox) {
  view.typed_into = false;
  come("a");
  come("b", DeliveryMode::Immediate);
  (void)heard();
  after(1s, State::Unknown);
  constexpr auto kWhy =
      "no profile knows the program, so nothing is typed into it; it stands in its inbox.md ($AGENT_RELAY_INBOX)";
  EXPECT_EQ(heard(), (Lines{format("b deferred: {}", kWhy), format("a deferred: {}", kWhy)}));
  EXPECT_FALSE(gate);
}

TEST_F(SorterTest, UserGoesByAWayThatSpeaksForTheUser) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  come_from_user("u");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of u"});
}

TEST_F(SorterTest, ByADoorItIsDeliveredWhenTheRecordShowsIt) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  come("b");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_TRUE(intent.contains("a")) << "noted before it is handed over";
  EXPECT_EQ(heard(), Lines{"hand text of a"});
  handed({});
  EXPECT_EQ(heard(), Lines{"a accepted written: handed over by inbox"});
  after(1s, State::Idle);
  EXPECT_TRUE(heard().empty()) << "one turn after the other";
  given("a preamble\ntext of a\nand a postscript", "transcript", "u-1");
  EXPECT_EQ(heard(), Lines{"a delivered seen: by inbox; its transcript shows it"});
  after(100ms, State::Idle);
  EXPECT_TRUE(heard().empty()) << "its turn has not shown yet";
  after(100ms, State::Working);
  EXPECT_EQ(heard(), Lines{"b deferred: the agent is working"});
  after(1s, State::Idle);
  after(150ms, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of b"});
}

TEST_F(SorterTest, ADraftDoesNotMatterToADoorButADialogDoes) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  can(DeliveryMode::Immediate, DeliveryTiming::AnyTime, "inbox");
  come("a");
  come("b", DeliveryMode::Immediate);
  (void)heard();
  after(1s, State::Blocked);
  EXPECT_EQ(heard(), (Lines{"b deferred: a dialog is open", "a deferred: a dialog is open"}));
  after(1s, State::Typing);
  EXPECT_EQ(heard(), Lines{"hand text of b"});
  after(150ms, State::Typing);
  EXPECT_EQ(heard(), Lines{"hand text of a"});
  come("c", DeliveryMode::Immediate);
  (void)heard();
  after(1s, State::Working);
  EXPECT_TRUE(heard().empty()) << "the turn of what is just being taken is not cut short";
  given("text of a text of b", "transcript", "u-1");
  (void)heard();
  after(1ms, State::Working);
  EXPECT_EQ(heard(), Lines{"hand text of c"});
}

TEST_F(SorterTest, WithoutARecordItIsDeliveredWhenTheAgentBeginsToWork) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  view.can.output = {};
  come("a");
  after(1s, State::Idle);
  handed({});
  EXPECT_EQ(heard(), (Lines{"a accepted", "hand text of a", "a accepted written: handed over by inbox"}));
  after(1s, State::Working);
  EXPECT_EQ(heard(), Lines{"a delivered submitted: by inbox; the agent began to work"});
}

TEST_F(SorterTest, WhatADoorDidNotTakeIsTypedWithTheReason) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  (void)heard();
  handed(fail("nobody listens there"));
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a deferred: its inbox took nothing: nobody listens there", "type text of a"}));
}

TEST_F(SorterTest, MessageThatIsGivenBackUnreadIsTypedOnce) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  come("a");
  after(1s, State::Idle);
  handed({});
  (void)heard();
  can(DeliveryMode::OnIdle, DeliveryTiming::Never, {});
  sorter.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(heard(), Lines{"a deferred: its queue gave it back unread: its turn was interrupted"});
  sorter.on_returned({"a"}, "its turn was interrupted");
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of a"});
  after(120s, State::Idle);
  EXPECT_EQ(heard(), Lines{}) << "it is not in doubt: it is before the gate";
}

TEST_F(SorterTest, MessagesThatAreGivenBackKeepTheirOrder) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (const auto* id : {"a", "b", "c"}) come(id);
  after(1s, State::Working);
  come("d");
  can(DeliveryMode::OnIdle, DeliveryTiming::Never, {});
  sorter.on_returned({"a", "b", "c"}, "its turn was interrupted");
  (void)heard();
  Lines typed;
  for (int i = 0; i < 4; ++i) {
    after(60s, State::Idle);
    for (const auto& line : heard())
      if (line.starts_with("type")) typed.push_back(line);
    gate.reset();
  }
  EXPECT_EQ(typed, (Lines{"type text of a", "type text of b", "type text of c", "type text of d"}));
}

TEST_F(SorterTest, MessageThatIsGivenBackAfterItWasInDoubtHasFailed) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  come("a");
  after(1s, State::Idle);
  handed({});
  for (int i = 0; i < 3; ++i) after(kProofLimit, State::Idle);
  (void)heard();
  sorter.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(heard(), Lines{"a failed: its queue gave it back unread: its turn was interrupted"});
}

TEST_F(SorterTest, SilentMessageInTheSameTextFailsWithTheOneThatIsGivenBack) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  come_quietly("q");
  come("a");
  after(1s, State::Idle);
  handed({});
  for (int i = 0; i < 3; ++i) after(kProofLimit, State::Idle);
  (void)heard();
  sorter.on_returned({"a"}, "its turn was interrupted");
  EXPECT_EQ(heard().size(), 2U);
}

TEST_F(SorterTest, WhatWaitsForAHookIsTakenTogether) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  for (const auto* id : {"a", "b", "c"}) come(id, DeliveryMode::NextMessage);
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard().size(), 3u) << "each knows what it waits for";
  EXPECT_EQ(sorter.take(DeliveryMode::NextToolCall, 1'000, view), "");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 20, view), "text of a\ntext of b");
  EXPECT_EQ(heard(), (Lines{"a accepted written: handed over by hook", "b accepted written: handed over by hook"}));
  given("text of a\ntext of b", "transcript", "u-1");
  EXPECT_EQ(heard().front(), "a delivered seen: by hook; its transcript shows it");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 20, view), "text of c");
}

TEST_F(SorterTest, WhatBeginsNoTurnIsHandedOverAtOnce) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Idle, "server");
  come("a", DeliveryMode::NextMessage);
  come("b", DeliveryMode::NextMessage);
  (void)heard();
  after(1s, State::Idle);
  after(1ms, State::Idle);
  EXPECT_EQ(heard(), (Lines{"hand text of a", "hand text of b"}));
}

TEST_F(SorterTest, WhatBeginsNoTurnIsInDoubtOnlyAfterATurnThatDidNotShowIt) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Idle, "server");
  come("a", DeliveryMode::NextMessage);
  after(1s, State::Idle);
  handed({});
  come_quietly("q");
  after(1s, State::Idle);
  handed({});
  (void)heard();
  after(kProofTimeout, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a deferred: the agent has it for its next turn",
                            "q deferred: the agent has it for its next turn"}));
  EXPECT_EQ(sorter.deliver(view), std::nullopt) << "nothing happens before somebody speaks to the agent";
  after(24h, State::Idle);
  EXPECT_TRUE(heard().empty());
  after(1s, State::Working);
  (void)heard();
  given("text of a\nsomething new", "server", "msg_1");
  EXPECT_EQ(heard(), Lines{"a delivered seen: by server; its server shows it"});
  after(1s, State::Idle);
  after(kProofLimit, State::Idle);
  EXPECT_EQ(heard(), Lines{"q in_doubt: it was handed over by server, and nothing shows that the model has it"});
}

TEST_F(SorterTest, AModeNobodyCanServeWaitsVisiblyAndBlocksNobody) {
  come("a", DeliveryMode::NextToolCall);
  come("b", DeliveryMode::Manual);
  come("c");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a deferred: this agent cannot be given words with its next tool call", "type text of c",
                            "b deferred: it is held until the agent fetches it or `agent-relay flush` lets it go"}));
}

TEST_F(SorterTest, WhatIsUrgentGoesBeforeWhatStandsAtTheGate) {
  come("a");
  after(1s, State::Working);
  come("b", DeliveryMode::Immediate);
  (void)heard();
  after(1s, State::Working);
  EXPECT_EQ(heard(), Lines{"type text of b"});
  typing = true;
  come("c", DeliveryMode::Immediate);
  after(1s, State::Working);
  EXPECT_EQ(heard(), Lines{"c accepted"}) << "what has begun goes on";
}

TEST_F(SorterTest, SeveralGoInOneTextWhereTheInterfaceRunsLow) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  for (const auto* id : {"a", "b", "c"}) come(id);
  view.can.by(DeliveryMode::OnIdle).together_bytes = 20;
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a accepted", "b accepted", "c accepted", "hand text of a\ntext of b"})) << "c has no room";
  handed({});
  given("text of a\ntext of b", "transcript", "u-1");
  EXPECT_EQ(heard(), (Lines{"a accepted written: handed over by inbox", "b accepted written: handed over by inbox",
                            "a delivered seen: by inbox; its transcript shows it",
                            "b delivered seen: by inbox; its transcript shows it"}));
  after(10ms, State::Working);
  after(1s, State::Idle);
  after(1s, State::Idle);
  EXPECT_EQ(heard().back(), "hand text of c");
}

TEST_F(SorterTest, SeveralThatWereNotTakenComeBackInTheirOrder) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  for (const auto* id : {"a", "b"}) come(id);
  view.can.by(DeliveryMode::OnIdle).together_bytes = 1'000;
  after(1s, State::Idle);
  (void)heard();
  handed(fail("nobody listens there"));
  view.can.by(DeliveryMode::OnIdle) = {};
  after(1s, State::Idle);
  EXPECT_EQ(heard().back(), "type text of a");
}

TEST_F(SorterTest, AScreenThatFlickersDoesNotFillTheHistory) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  (void)heard();
  for (int i = 0; i < 100; ++i) after(50ms, i % 2 == 0 ? State::Blocked : State::Working);
  EXPECT_EQ(heard(), Lines{"a deferred: a dialog is open"});
  after(50ms, State::Working);
  after(kReasonSettle, State::Working);
  EXPECT_EQ(heard(), Lines{"a deferred: the agent is working"});
}

TEST_F(SorterTest, ADoorThatTakesOnlySoManyIsNotFlooded) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (std::size_t i = 0; i < 2 * kMaxHanded; ++i) come(format("m{}", i));
  for (std::size_t i = 0; i < 3 * kMaxHanded; ++i) after(1ms, State::Idle);
  EXPECT_EQ(std::ranges::count_if(heard(), [](const auto& line) { return line.starts_with("hand "); }),
            static_cast<std::ptrdiff_t>(kMaxHanded));
  given("text of m0", "transcript", "u-1");
  view.can.by(DeliveryMode::OnIdle).not_before = view.now + 2s;
  (void)heard();
  after(1ms, State::Idle);
  EXPECT_EQ(heard(), Lines{"m32 deferred: its queue takes only so many messages in a while"});
  after(2s, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of m32"});
}

TEST_F(SorterTest, ADoorThatOpensLaterTakesWhatIsNotYetTyped) {
  come("a");
  after(1s, State::Working);
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  (void)heard();
  after(1s, State::Idle);
  after(150ms, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of a"});
  EXPECT_FALSE(gate);
}

TEST_F(SorterTest, FetchedMailIsDeliveredAndNeverTyped) {
  come("a", DeliveryMode::Manual);
  come("b");
  after(1s, State::Working);
  (void)heard();
  fetch({"a", "b", "unknown"});
  EXPECT_EQ(heard(), (Lines{"b delivered seen: fetched by the agent", "a delivered seen: fetched by the agent"}));
  after(1s, State::Idle);
  EXPECT_TRUE(heard().empty());
}

TEST_F(SorterTest, WhatAPredecessorMayHaveBroughtIsInDoubt) {
  ASSERT_TRUE(intent.add("a"));
  come("a");
  EXPECT_EQ(heard(), Lines{"a in_doubt: the host ended while it was being brought"});
  after(1s, State::Idle);
  EXPECT_TRUE(heard().empty());
}

TEST_F(SorterTest, WhatAPredecessorSawToItsEndIsToldAsItSawIt) {
  ASSERT_TRUE(intent.add("a"));
  intent.add_outcome("a", {.status = protocol::ReceiptStatus::Delivered, .proof = "submitted", .reason = "it began"});
  come("a");
  EXPECT_EQ(heard(), Lines{"a delivered submitted: it began"});
  after(1s, State::Idle);
  EXPECT_TRUE(heard().empty());
}

TEST_F(SorterTest, WhatIsShownAfterAllIsInDoubtNoMore) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  handed({});
  after(kProofLimit, State::Idle);
  EXPECT_EQ(heard().back(), "a in_doubt: it was handed over by inbox, and nothing shows that the model has it");
  after(1h, State::Working);
  given("text of a", "transcript", "u1");
  EXPECT_EQ(heard(), Lines{"a delivered seen: by inbox; its transcript shows it"});
  given("text of a", "transcript", "u1");
  EXPECT_TRUE(heard().empty());
}

TEST_F(SorterTest, WhatTheRecordNeverShowsIsSaidSoAndIsInDoubtAtTheEnd) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  handed({});
  (void)heard();
  after(kProofTimeout, State::Idle);
  EXPECT_EQ(heard(), Lines{"a deferred: the agent took it, and its record does not show it yet"});
  after(kProofLimit, State::Working);
  EXPECT_TRUE(heard().empty()) << "a long turn may still take it";
  after(1s, State::Idle);
  after(kProofLimit, State::Idle);
  EXPECT_EQ(heard(), Lines{"a in_doubt: it was handed over by inbox, and nothing shows that the model has it"});
  come("b");
  after(1s, State::Idle);
  (void)heard();
  sorter.on_agent_gone();
  EXPECT_EQ(heard(), Lines{"b in_doubt: the agent took it by inbox and ended before its record showed it"});
}

TEST_F(SorterTest, HandsThatBecomeFreeAreFilledAtOnce) {
  can(DeliveryMode::OnIdle, DeliveryTiming::AnyTime, "queue");
  for (std::size_t i = 0; i <= kMaxHanded; ++i) come(format("m{}", i));
  for (std::size_t i = 0; i <= kMaxHanded; ++i) after(1ms, State::Idle);
  ASSERT_FALSE(sorter.fetchable().empty());
  view.now += kProofLimit;
  ASSERT_EQ(sorter.deliver(view), view.now) << "nothing else may happen for a long time";
  (void)heard();
  (void)sorter.deliver(view);
  EXPECT_EQ(heard(), Lines{format("hand text of m{}", kMaxHanded)});
}

TEST_F(SorterTest, WhatCannotBeNotedIsNotHandedOver) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  (void)heard();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"a deferred: the note of what is brought cannot be written"});
  after(kNativeRetry, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of a"});
}

TEST_F(SorterTest, WhatExpiredGoesNowhere) {
  sorter.add({.ref = {.id = "a"}, .text = "text of a", .expires_at = 5'000, .injection = Injection{rules}});
  view.wall = 5'000;
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"a failed: its ttl ran out"});
  sorter.add(
      {.ref = {.id = "b"}, .text = "text of b", .expires_at = 7'000, .deadline = 7'000, .injection = Injection{rules}});
  view.wall = 7'000;
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"b failed: its deadline passed"});
}

TEST_F(SorterTest, TellsByWhichWayAndWhatShowsIt) {
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

TEST_F(SorterTest, WhilePausedNothingNewGoesAnyWay) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  come("a");
  after(1s, State::Idle);
  handed({});
  sorter.pause("paused by a person: lunch");
  come("b");
  come("c", DeliveryMode::NextMessage);
  come("d", DeliveryMode::Manual);
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"c deferred: paused by a person: lunch", "b deferred: paused by a person: lunch"}));
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 1'000, view), "") << "not with a person's prompt either";
  given("text of a", "transcript", "u-1");
  EXPECT_EQ(heard(), Lines{"a delivered seen: by inbox; its transcript shows it"}) << "what has begun is finished";
  fetch({"c"});
  EXPECT_EQ(heard(), Lines{"c delivered seen: fetched by the agent"}) << "the agent itself asks";
  sorter.pause(std::nullopt);
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"hand text of b",
                            "d deferred: it is held until the agent fetches it or `agent-relay flush` lets it go"}));
}

TEST_F(SorterTest, APauseTakesBackWhatStandsAtTheGateAndHasNotBegun) {
  come("a");
  after(1s, State::Working);
  (void)heard();
  sorter.pause("paused by a person");
  after(1s, State::Idle);
  EXPECT_FALSE(gate);
  EXPECT_EQ(heard(), Lines{"a deferred: paused by a person"});
  sorter.pause(std::nullopt);
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of a"});
  typing = true;
  sorter.pause("paused by a person");
  after(1s, State::Idle);
  EXPECT_TRUE(gate) << "it stands in the composer";
}

TEST_F(SorterTest, WhatIsFlushedChangesItsLaneAtOnce) {
  come("a", DeliveryMode::Manual);
  come("b");
  (void)heard();
  sorter.move({.id = "a", .seq = 9}, DeliveryMode::Immediate, Injection{rules, Injection::InterruptPolicy::Interrupts});
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of a"});
  EXPECT_EQ(gate->ref.seq, 9U);
  EXPECT_EQ(gate->mode, DeliveryMode::Immediate);
  sorter.move({.id = "a", .seq = 10}, DeliveryMode::Manual, Injection{rules});
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"type text of b",
                            "a deferred: it is held until the agent fetches it or `agent-relay flush` lets it go"}))
      << "from the gate too, as long as it has not begun";
}

TEST_F(SorterTest, WhatIsCancelledIsDroppedSilentlyUnlessItHasBegun) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "inbox");
  come("a");
  come("b");
  after(1s, State::Idle);
  (void)heard();
  EXPECT_FALSE(sorter.cancel("a"));
  EXPECT_TRUE(sorter.cancel("b"));
  EXPECT_TRUE(heard().empty());
  handed({});
  given("text of a", "transcript", "u-1");
  EXPECT_EQ(heard(),
            (Lines{"a accepted written: handed over by inbox", "a delivered seen: by inbox; its transcript shows it"}));
  after(10s, State::Idle);
  EXPECT_TRUE(heard().empty());
  EXPECT_TRUE(sorter.waiting().empty());
}

TEST_F(SorterTest, WhatWakesNobodyWaitsForCompany) {
  come_quietly("q");
  come_quietly("r", DeliveryMode::Immediate);
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"q deferred: it does not wake the agent; it goes with the next message",
                            "r deferred: it does not wake the agent; it goes with the next message"}));
  after(1min, State::Working);
  after(1min, State::Idle);
  EXPECT_TRUE(heard().empty()) << "neither typed alone nor interrupting";
  const auto company = sorter.take_silent(1'000);
  ASSERT_EQ(company.size(), 2U);
  EXPECT_TRUE(intent.contains("q") && intent.contains("r"));
  EXPECT_TRUE(sorter.waiting().empty());
}

TEST_F(SorterTest, OnlyAsManyAsFitGoAlong) {
  come_quietly("q");
  come_quietly("r");
  EXPECT_EQ(sorter.take_silent(9).size(), 0U) << "nine letters, and a line break";
  EXPECT_EQ(sorter.take_silent(10).size(), 1U);
  disk.fail_appends = 1;
  EXPECT_EQ(sorter.take_silent(100).size(), 0U) << "what cannot be noted stays";
  EXPECT_EQ(sorter.take_silent(100).size(), 1U);
}

TEST_F(SorterTest, WhatWakesNobodyGoesAlongThroughADoor) {
  can(DeliveryMode::OnIdle, DeliveryTiming::Idle, "queue");
  come_quietly("q");
  come("a");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of q\ntext of a"});
  handed(fail("it is full"));
  EXPECT_EQ(heard(), (Lines{"q deferred: its queue took nothing: it is full",
                            "a deferred: its queue took nothing: it is full"}));
  after(1s, State::Idle);
  EXPECT_EQ(heard(),
            (Lines{"type text of a", "q deferred: it does not wake the agent; it goes with the next message"}));
  EXPECT_EQ(sorter.take_silent(100).size(), 1U) << "it can go along with that";
}

TEST_F(SorterTest, AHookTakesWhatWakesNobodyWithTheNextPrompt) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Asked, "hook");
  come_quietly("q");
  come("a", DeliveryMode::NextMessage);
  after(1s, State::Idle);
  EXPECT_TRUE(sorter.take_silent(100).empty()) << "the prompt that is typed calls the hook";
  EXPECT_EQ(sorter.take(DeliveryMode::NextToolCall, 100, view), "");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 100, view), "text of a\ntext of q");
}

TEST_F(SorterTest, WhereWordsBeginNoTurnWhatWakesNobodyGoesAtOnce) {
  can(DeliveryMode::NextMessage, DeliveryTiming::Idle, "server");
  come_quietly("q");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of q"});
}

TEST_F(SorterTest, ADeliberateSecondAttemptIsNoDoubt) {
  ASSERT_TRUE(intent.add("a"));
  sorter.add({.ref = {.id = "a", .attempt = 2}, .text = "text of a", .injection = Injection{rules}});
  EXPECT_EQ(heard(), Lines{"a accepted"});
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"type text of a"});
}

TEST_F(SorterTest, TypesNothingWithoutATerminal) {
  view.can.terminal = false;
  come("d1");
  sorter.deliver(view);
  EXPECT_FALSE(gate);
  EXPECT_EQ(last.reason, "it runs without a terminal, so nothing can be typed to it");
}

}  // namespace
}  // namespace relay::host
