#include "host/sorter.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/memory_directory.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::Moment;
using profiles::State;
using protocol::DeliveryMode;
using Lines = std::vector<std::string>;

struct SorterTest : testing::Test, SorterHands {
  client::testing::MemoryDirectory disk;
  Intent intent{disk, "Bob.intent"};
  profiles::TypingRules rules;
  Sorter sorter{intent, *this};
  Sorter::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle};
  Lines done;
  std::optional<Letter> gate;
  bool typing = false;  // the one at the gate has begun
  adapters::Adapter::OnHanded handed;

  void hand_over(const adapters::Words& words, adapters::Adapter::OnHanded on_handed) override {
    done.push_back(format("hand {}", words.text));
    handed = std::move(on_handed);
  }
  void type(Letter letter) override {
    done.push_back(format("type {}", letter.text));
    gate = std::move(letter);
  }
  bool may_type() const override { return !gate; }
  std::optional<Letter> take_back() override { return typing ? std::nullopt : std::exchange(gate, std::nullopt); }
  void report(const client::Place& place, protocol::Receipt receipt) override {
    done.push_back(format("{} {}{}{}{}{}", place.id, name_of(receipt.status), receipt.proof.empty() ? "" : " ",
                          receipt.proof, receipt.reason.empty() ? "" : ": ", receipt.reason));
  }

  void come(const std::string& id, DeliveryMode mode = DeliveryMode::OnIdle) {
    sorter.add({.place = {.id = id},
                .from = "Alice",
                .message = id,
                .text = "text of " + id,
                .mode = mode,
                .injection = Injection{rules}});
  }
  void can(DeliveryMode mode, Moment moment, std::string_view way) {
    view.can.hear = "transcript";
    view.can.by(mode) = {moment, way};
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = state;
    (void)sorter.deliver(view);
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
  EXPECT_EQ(heard(), (Lines{"type text of a", "type text of a", "type text of a"})) << "a person has a draft";
  for (const auto* next : {"type text of b", "type text of c"}) {
    gate.reset();
    after(1s, State::Idle);
    EXPECT_EQ(heard(), Lines{next});
  }
}

TEST_F(SorterTest, ByADoorItIsDeliveredWhenTheRecordShowsIt) {
  can(DeliveryMode::OnIdle, Moment::Idle, "inbox");
  come("a");
  come("b");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_TRUE(intent.holds("a")) << "noted before it is handed over";
  EXPECT_EQ(heard(), Lines{"hand text of a"});
  handed({});
  EXPECT_EQ(heard(), Lines{"a accepted: handed over by inbox"});
  after(1s, State::Idle);
  EXPECT_TRUE(heard().empty()) << "one turn after the other";
  sorter.on_given("a preamble\ntext of a\nand a postscript", "transcript");
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
  can(DeliveryMode::OnIdle, Moment::Idle, "inbox");
  can(DeliveryMode::Immediate, Moment::AnyTime, "inbox");
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
  sorter.on_given("text of a text of b", "transcript");
  (void)heard();
  after(1ms, State::Working);
  EXPECT_EQ(heard(), Lines{"hand text of c"});
}

TEST_F(SorterTest, WithoutARecordItIsDeliveredWhenTheAgentBeginsToWork) {
  can(DeliveryMode::OnIdle, Moment::Idle, "inbox");
  view.can.hear = {};
  come("a");
  after(1s, State::Idle);
  handed({});
  EXPECT_EQ(heard(), (Lines{"a accepted", "hand text of a", "a accepted: handed over by inbox"}));
  after(1s, State::Working);
  EXPECT_EQ(heard(), Lines{"a delivered submitted: by inbox; the agent began to work"});
}

TEST_F(SorterTest, WhatADoorDidNotTakeIsTypedWithTheReason) {
  can(DeliveryMode::OnIdle, Moment::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  (void)heard();
  handed(fail("nobody listens there"));
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a deferred: its inbox took nothing: nobody listens there", "type text of a"}));
}

TEST_F(SorterTest, WhatWaitsForAHookIsTakenTogether) {
  can(DeliveryMode::NextMessage, Moment::Asked, "hook");
  for (const auto* id : {"a", "b", "c"}) come(id, DeliveryMode::NextMessage);
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard().size(), 3u) << "each knows what it waits for";
  EXPECT_EQ(sorter.take(DeliveryMode::NextToolCall, 1'000, view), "");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 20, view), "text of a\ntext of b");
  EXPECT_EQ(heard(), (Lines{"a accepted: handed over by hook", "b accepted: handed over by hook"}));
  sorter.on_given("text of a\ntext of b", "transcript");
  EXPECT_EQ(heard().front(), "a delivered seen: by hook; its transcript shows it");
  EXPECT_EQ(sorter.take(DeliveryMode::NextMessage, 20, view), "text of c");
}

TEST_F(SorterTest, WhatBeginsNoTurnIsHandedOverAtOnce) {
  can(DeliveryMode::NextMessage, Moment::Idle, "server");
  come("a", DeliveryMode::NextMessage);
  come("b", DeliveryMode::NextMessage);
  (void)heard();
  after(1s, State::Idle);
  after(1ms, State::Idle);
  EXPECT_EQ(heard(), (Lines{"hand text of a", "hand text of b"}));
}

TEST_F(SorterTest, AModeNobodyCanServeWaitsVisiblyAndBlocksNobody) {
  come("a", DeliveryMode::NextToolCall);
  come("b", DeliveryMode::Manual);
  come("c");
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a deferred: this agent cannot be given words with its next tool call", "type text of c",
                            "b deferred: it is kept until the agent fetches it"}));
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

TEST_F(SorterTest, ADoorThatTakesOnlySoManyIsNotFlooded) {
  can(DeliveryMode::OnIdle, Moment::AnyTime, "queue");
  for (std::size_t i = 0; i < 2 * kMaxHanded; ++i) come(format("m{}", i));
  for (std::size_t i = 0; i < 3 * kMaxHanded; ++i) after(1ms, State::Idle);
  EXPECT_EQ(std::ranges::count_if(heard(), [](const auto& line) { return line.starts_with("hand "); }),
            static_cast<std::ptrdiff_t>(kMaxHanded));
  sorter.on_given("text of m0", "transcript");
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
  can(DeliveryMode::OnIdle, Moment::Idle, "queue");
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
  sorter.fetch({"a", "b", "unknown"});
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

TEST_F(SorterTest, WhatTheRecordNeverShowsIsSaidSoAndIsInDoubtAtTheEnd) {
  can(DeliveryMode::OnIdle, Moment::Idle, "inbox");
  come("a");
  after(1s, State::Idle);
  handed({});
  (void)heard();
  after(kProofPatience, State::Idle);
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

TEST_F(SorterTest, WhatCannotBeNotedIsNotHandedOver) {
  can(DeliveryMode::OnIdle, Moment::Idle, "inbox");
  come("a");
  (void)heard();
  disk.fail_appends = 1;
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"a deferred: the note of what is brought cannot be written"});
  after(kHandRetry, State::Idle);
  EXPECT_EQ(heard(), Lines{"hand text of a"});
}

TEST_F(SorterTest, WhatExpiredGoesNowhere) {
  sorter.add({.place = {.id = "a"}, .text = "text of a", .expires_at = 5'000, .injection = Injection{rules}});
  view.wall = 5'000;
  (void)heard();
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"a failed: its time was over before it could be brought"});
}

}  // namespace
}  // namespace relay::host
