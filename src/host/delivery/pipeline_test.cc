#include "host/delivery/pipeline.h"

#include <gtest/gtest.h>

#include "base/format.h"
#include "client/testing/memory_directory.h"
#include "net/testing/temporary_directory.h"

namespace relay::host {
namespace {

using namespace std::chrono_literals;
using adapters::DeliveryTiming;
using profiles::State;
using protocol::DeliveryMode;
using Lines = std::vector<std::string>;

struct MailDeskTest : ::testing::Test, InjectorActions, adapters::DeliveryTarget, ReceiptReporter {
  client::testing::MemoryDirectory disk;
  std::string notes = "Bob.intent";
  net::testing::TemporaryDirectory project;
  profiles::TypingRules rules;
  std::unique_ptr<DeliveryPipeline> desk;
  DeliveryPipeline::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle, .screen = State::Idle};
  Lines done;
  OnAccepted handed;

  MailDeskTest() { restart(); }
  /// Another life of the host, over the same disk.
  void restart() {
    desk = std::make_unique<DeliveryPipeline>(
        PipelinePaths{.notes = disk, .intent_file = notes, .project_root = project.path(), .long_texts = {"messages"}},
        rules, outputs());
    ASSERT_TRUE(desk->open());
  }

  void interrupt() override { done.push_back("interrupt"); }
  void paste(std::string_view text) override { done.push_back(format("paste {}", text)); }
  void press_enter() override { done.push_back("enter"); }
  void erase(std::size_t) override { done.push_back("erase"); }
  void deliver(const adapters::NativeDelivery& words, OnAccepted on_handed) override {
    done.push_back(format("hand {}", words.text));
    handed = std::move(on_handed);
  }
  PipelineOutputs outputs() {
    return {.native = this, .composer = *this, .reports = *this, .on_pause_lapsed = [this] {
              done.push_back("pause lapsed");
            }};
  }
  void report(const client::DeliveryRef& place, protocol::Receipt receipt) override {
    done.push_back(format("{} {}{}{}{}{}", place.id, name_of(receipt.status), receipt.proof.empty() ? "" : " ",
                          receipt.proof, receipt.reason.empty() ? "" : ": ", receipt.reason));
  }

  void receive(const std::string& id, std::string_view kind = "message", std::uint32_t attempt = 1,
               std::optional<DeliveryMode> mode = {}, std::string_view file = {}, std::string_view meta = {},
               bool as_user = false) {
    const auto payload = format(R"({{"kind":"{}","body":"text of {}","data":{{"attachments":[{}]}}}})", kind, id, file);
    protocol::Envelope envelope;
    envelope.type = protocol::MessageType::Deliver;
    envelope.from = "Alice";
    envelope.payload = payload;
    envelope.payload_meta = meta;
    protocol::DeliveryView delivery;
    delivery.message_id = id;
    delivery.mode = mode;
    delivery.as_user = as_user;
    (void)desk->receive({{.id = id, .attempt = attempt}, envelope, delivery}, view.wall);
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = view.screen = state;
    (void)desk->deliver(view);
  }
  void type_one() {
    after(1s, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
  }
  std::string fetched() {
    text::JsonWriter answer;
    desk->fetch({.take = true}, answer);
    return answer.take();
  }
  Lines heard() { return std::exchange(done, {}); }
};

TEST_F(MailDeskTest, NoticeToAProgramThatIsNotTypedIntoIsWrittenIntoItsInboxFile) {
  client::testing::MemoryDirectory inbox;
  desk = std::make_unique<DeliveryPipeline>(PipelinePaths{.notes = disk,
                                                          .intent_file = notes,
                                                          .inbox = &inbox,
                                                          .project_root = project.path(),
                                                          .long_texts = {"messages"}},
                                            rules, outputs());
  ASSERT_TRUE(desk->open());
  desk->explain("ZZ was not started:\nno", false, 0);
  EXPECT_EQ(*inbox.bytes("inbox.md"), "## From Relay at 1970-01-01T00:00:00.000Z\n\nZZ was not started: no\n\n");
  text::JsonWriter account;
  desk->describe(account, {}, "inbox.md");
  EXPECT_EQ(account.take(), R"({"pending":[]})") << "it does not stay pending";
  for (int i = 0; i < 2 * kMaxNotices; ++i) desk->explain("no such agent", false, 0);
  const auto full = inbox.bytes("inbox.md")->size();
  desk->explain("no such agent", false, 0);
  EXPECT_EQ(inbox.bytes("inbox.md")->size(), full) << "a program that repeats a mistake does not fill the disk";
  desk->understood();
  desk->explain("no such agent", false, 0);
  EXPECT_GT(inbox.bytes("inbox.md")->size(), full);
}

TEST_F(MailDeskTest, NoticeToAProgramWithAProfileIsTyped) {
  desk->explain("ZZ was not started", true, 0);
  after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"paste Relay: ZZ was not started"});
}

/// What a predecessor had done with `d` when it was killed, and what the next life says when it is delivered again.
struct AtDeath {
  const char* name;
  void (*live)(MailDeskTest&);
  const char* next_life;  // what it says first, after it accepted what it brings anew
};

constexpr const char* kBrings = "paste Relay message from Alice [d]: text of d";
constexpr const char* kDoubts = "d in_doubt: the host ended while it was being brought";

const AtDeath kDeaths[] = {
    {"accepted", [](MailDeskTest& test) { test.after(1s, State::Working); }, kBrings},
    {"paused",
     [](MailDeskTest& test) {
       test.desk->pause({.paused = true});
       test.after(1s, State::Idle);
     },
     kBrings},
    {"written, not submitted", [](MailDeskTest& test) { test.after(1s, State::Idle); }, kDoubts},
    {"entered",
     [](MailDeskTest& test) {
       test.after(1s, State::Idle);
       test.after(50ms, State::Typing);
       test.after(300ms, State::Typing);
     },
     kDoubts},
    {"submitted, and the daemon did not hear it", [](MailDeskTest& test) { test.type_one(); },
     "d delivered submitted: the agent began to work"},
    {"seen, and the daemon did not hear it",
     [](MailDeskTest& test) {
       test.type_one();
       test.desk->on_model_input("Relay message from Alice [d]: text of d", "transcript", "u-1");
     },
     "d delivered seen: typed; its transcript shows it"},
    {"fetched, and perhaps not shown", [](MailDeskTest& test) { (void)test.fetched(); }, kDoubts},
    {"in a door's hands",
     [](MailDeskTest& test) {
       test.view.can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, "inbox"};
       test.after(1s, State::Idle);
       test.view.can = {};
     },
     kDoubts},
    {"a door took nothing",
     [](MailDeskTest& test) {
       test.view.can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, "inbox"};
       test.after(1s, State::Idle);
       test.handed(fail("nobody listens"));
       test.view.can = {};
     },
     kDoubts},
};

TEST_F(MailDeskTest, WhatAPredecessorKnewIsToldWhatItHadBegunIsInDoubtAndTheRestIsBrought) {
  for (const auto& death : kDeaths) {
    notes = death.name;
    restart();
    view.state = view.screen = State::Idle;
    view.since = view.now;
    receive("d");
    death.live(*this);
    (void)heard();
    restart();
    receive("d");
    after(1s, State::Idle);
    after(1s, State::Idle);
    auto said = heard();
    if (said.front() == "d accepted") said.erase(said.begin());
    ASSERT_FALSE(said.empty()) << death.name;
    EXPECT_EQ(said.front(), death.next_life) << death.name;
    EXPECT_TRUE(death.next_life == kBrings || said.size() == 1) << "and nothing more: " << death.name;
    restart();
    receive("d", "message", 2);
    EXPECT_EQ(heard(), Lines{"d accepted"}) << "a deliberate second attempt: " << death.name;
  }
}

TEST_F(MailDeskTest, WhatWakesNobodyIsTypedInCompany) {
  receive("q", "state");
  (void)heard();
  for (int i = 0; i < 5; ++i) after(1s, State::Idle);
  EXPECT_EQ(heard(), Lines{"q deferred: it does not wake the agent; it goes with the next message"});
  EXPECT_EQ(desk->waiting_reason(), "") << "nothing is late";
  receive("a");
  type_one();
  EXPECT_EQ(
      heard(),
      (Lines{"a accepted",
             "paste Relay message from Alice [q] [kind:state]: text of q\nRelay message from Alice [a]: text of a",
             "q accepted written", "a accepted written", "enter", "q delivered submitted: the agent began to work",
             "a delivered submitted: the agent began to work"}));
}

TEST_F(MailDeskTest, AFlushedLetterGoesAndACancelledOneDoesNot) {
  receive("a", "message", 1, DeliveryMode::Manual);
  receive("b", "message", 1, DeliveryMode::Manual);
  after(1s, State::Idle);
  (void)heard();
  EXPECT_TRUE(desk->cancel("b"));
  desk->move({.id = "a"}, DeliveryMode::OnIdle);
  type_one();
  EXPECT_EQ(heard().front(), "paste Relay message from Alice [a]: text of a");
  EXPECT_TRUE(heard().empty());
}

TEST_F(MailDeskTest, APauseIsShownAndHoldsUntilItIsLifted) {
  desk->pause({.paused = true, .reason = "lunch"});
  receive("a");
  after(1s, State::Idle);
  EXPECT_EQ(heard(), (Lines{"a accepted", "a deferred: paused by a person: lunch"}));
  text::JsonWriter shown;
  desk->describe(shown, {}, adapters::way::kTerminal);
  EXPECT_EQ(shown.take(),
            R"({"paused":"paused by a person: lunch","pending":[{"id":"a","from":"Alice","mode":"on-idle","via":"pty",)"
            R"("reason":"paused by a person: lunch"}]})");
  desk->pause({.paused = false});
  after(1s, State::Idle);
  EXPECT_EQ(heard().front(), "paste Relay message from Alice [a]: text of a");
}

TEST_F(MailDeskTest, APauseThatIsNotToldAgainIsOver) {
  desk->pause({.paused = true});
  receive("a");
  after(1s, State::Idle);
  desk->on_connected(view.now);
  desk->pause({.paused = true});
  after(kPauseGrace, State::Idle);
  (void)heard();
  desk->on_connected(view.now);
  after(kPauseGrace - 1ms, State::Idle);
  EXPECT_TRUE(heard().empty()) << "the daemon may still say it";
  after(1ms, State::Idle);
  EXPECT_EQ(heard(), (Lines{"pause lapsed", "paste Relay message from Alice [a]: text of a"}));
}

TEST_F(MailDeskTest, MailIsNotedThenShownThenDelivered) {
  receive("a");
  after(1s, State::Working);
  disk.fail_appends = 1;
  EXPECT_EQ(fetched(), R"({"messages":[],"more":true})") << "what cannot be noted is not shown";
  EXPECT_EQ(fetched(), R"({"messages":[{"id":"a","from":"Alice","body":"text of a","mode":"on-idle",)"
                       R"("pendingReason":"the agent is working"}],"more":false})");
  EXPECT_EQ(heard().back(), "a deferred: the agent is working") << "it has not gone out yet";
  EXPECT_FALSE(desk->cancel("a"));
  desk->on_fetched();
  EXPECT_EQ(heard(), Lines{"a delivered seen: fetched by the agent"});
}

TEST_F(MailDeskTest, FetchedMailNamesItsFilesAndWhoWaits) {
  receive("a", "message", 1, DeliveryMode::Manual, R"({"name":"r.txt","path":"/p/r.txt","bytes":7})",
          R"({"sync":{"blocking":true,"correlationId":"c"}})");
  EXPECT_EQ(fetched(), R"({"messages":[{"id":"a","from":"Alice","body":"text of a","mode":"manual",)"
                       R"("pendingReason":"those before it come first","answerExpected":true,)"
                       R"("attachments":[{"name":"r.txt","path":"/p/r.txt","bytes":7}]}],"more":false})");
}

TEST_F(MailDeskTest, WhatWaitsBehindAPersonsWordsCanBeCancelled) {
  receive("a");
  after(1s, State::Working);
  desk->inject_user_text("go on", view.now, [](const Result<void>&) {});
  EXPECT_TRUE(desk->cancel("a"));
  (void)heard();
  after(10ms, State::Idle);
  type_one();
  EXPECT_EQ(heard(), (Lines{"paste go on", "enter"}));
}

TEST_F(MailDeskTest, ALongQuietOneStillFindsRoomBesideOthers) {
  rules.max_paste_bytes = 8'000;
  protocol::Envelope envelope;
  envelope.type = protocol::MessageType::Deliver;
  envelope.from = "Alice";
  const auto payload = format(R"({{"kind":"state","body":"{}"}})", std::string(7'900, 'x'));
  envelope.payload = payload;
  protocol::DeliveryView delivery;
  delivery.message_id = "q";
  (void)desk->receive({{.id = "q"}, envelope, delivery}, view.wall);
  receive("a");
  after(1s, State::Idle);
  const auto said = heard();
  EXPECT_TRUE(said.back().starts_with("paste Relay message from Alice [q] [kind:state]: xxx")) << said.back();
  EXPECT_TRUE(said.back().ends_with("\nRelay message from Alice [a]: text of a"));
}

TEST_F(MailDeskTest, WhatIsBeingTypedIsFinishedInAPause) {
  receive("a");
  after(1s, State::Idle);
  desk->pause({.paused = true});
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_EQ(heard().back(), "a delivered submitted: the agent began to work");
}

TEST_F(MailDeskTest, NoEnterWhileTheAgentIsKnownToAsk) {
  receive("a");
  after(1s, State::Idle);
  after(50ms, State::Typing);
  (void)heard();
  view.state = State::Blocked;  // its server says so before it is drawn
  view.now += 300ms;
  (void)desk->deliver(view);
  EXPECT_EQ(heard(), (Lines{"a deferred: a dialog opened before Enter"}));
  after(1s, State::Typing);
  after(kUserIdleTime, State::Typing);
  EXPECT_EQ(heard(), (Lines{"enter"}));
}

TEST_F(MailDeskTest, PeerIsNotHandedOverBetweenAPasteAndItsEnter) {
  view.can.output = "transcript";
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate})
    view.can.by(mode) = {.moment = mode == DeliveryMode::OnIdle ? DeliveryTiming::Idle : DeliveryTiming::AnyTime,
                         .via = "inbox",
                         .as_peer = true};
  receive("u", "message", 1, {}, {}, {}, true);
  after(1s, State::Working);
  receive("a");
  receive("b", "message", 1, DeliveryMode::Immediate);
  (void)heard();
  after(1s, State::Idle);
  after(200ms, State::Idle);
  after(20ms, State::Typing);
  after(400ms, State::Typing);
  after(100ms, State::Working);
  EXPECT_EQ(heard(),
            (Lines{"b deferred: a message of the user comes first", "a deferred: a message of the user comes first",
                   "paste Message from your user Alice [u]: text of u", "u accepted written", "enter",
                   "u delivered submitted: the agent began to work"}));
  after(100ms, State::Working);
  EXPECT_EQ(heard(), Lines{"hand Relay message from Alice [b]: text of b"});
}

TEST_F(MailDeskTest, ReasonIsThatOfTheStateAndSettlesLater) {
  receive("a");
  after(1s, State::Unknown);
  EXPECT_EQ(desk->waiting_reason(), "it is not known to be ready");
  after(10ms, State::Blocked);
  EXPECT_EQ(desk->waiting_reason(), "a dialog is open");
  EXPECT_EQ(desk->settled_reason(), "it is not known to be ready") << "the history waits until it lasts";
  after(2s, State::Blocked);
  EXPECT_EQ(desk->settled_reason(), "a dialog is open");
  after(10ms, State::Typing);
  after(10ms, State::Idle);
  EXPECT_EQ(desk->waiting_reason(), "it just became idle");
  after(1s, State::Idle);
  after(10ms, State::Typing);
  EXPECT_EQ(desk->waiting_reason(), "") << "it is being sent";
}

}  // namespace
}  // namespace relay::host
