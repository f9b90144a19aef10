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

struct PipelineTest : ::testing::Test, InjectorActions, adapters::DeliveryTarget, ReceiptReporter {
  client::testing::MemoryDirectory disk;
  std::string notes = "Bob.intent";
  net::testing::TemporaryDirectory project;
  profiles::TypingRules rules;
  std::unique_ptr<DeliveryPipeline> pipeline;
  DeliveryPipeline::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle, .screen = State::Idle};
  Lines done;
  OnAccepted handed;

  PipelineTest() { restart(); }
  /// Another life of the host, over the same disk.
  void restart() {
    pipeline = std::make_unique<DeliveryPipeline>(
        PipelinePaths{.notes = disk, .intent_file = notes, .project_root = project.path(), .long_texts = {"messages"}},
        rules, outputs());
    ASSERT_TRUE(pipeline->open());
  }

  void interrupt() override { done.push_back("interrupt"); }
  void paste(std::string_view text) override { done.push_back(format("paste {}", text)); }
  void press_enter() override { done.push_back("enter"); }
  void erase(std::size_t) override { done.push_back("erase"); }
  void deliver(const adapters::NativeDelivery& native, OnAccepted on_accepted) override {
    done.push_back(format("hand {}", native.text));
    handed = std::move(on_accepted);
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
    (void)pipeline->receive({{.id = id, .attempt = attempt}, envelope, delivery}, view.wall);
  }
  void after(Millis time, State state) {
    view.now += time;
    if (state != view.state) view.since = view.now;
    view.state = view.screen = state;
    (void)pipeline->deliver(view);
  }
  void type_one() {
    after(1s, State::Idle);
    after(50ms, State::Typing);
    after(300ms, State::Typing);
    after(50ms, State::Working);
  }
  std::string fetched() {
    text::JsonWriter answer;
    pipeline->fetch({.take = true}, answer);
    return answer.take();
  }
  Lines received() { return std::exchange(done, {}); }
};

TEST_F(PipelineTest, NoticeWithoutTypingGoesToInboxFile) {
  client::testing::MemoryDirectory inbox;
  pipeline = std::make_unique<DeliveryPipeline>(PipelinePaths{.notes = disk,
                                                              .intent_file = notes,
                                                              .inbox = &inbox,
                                                              .project_root = project.path(),
                                                              .long_texts = {"messages"}},
                                                rules, outputs());
  ASSERT_TRUE(pipeline->open());
  pipeline->notify_agent("ZZ was not started:\nno", false, 0);
  EXPECT_EQ(*inbox.bytes("inbox.md"), "## From Relay at 1970-01-01T00:00:00.000Z\n\nZZ was not started: no\n\n");
  text::JsonWriter account;
  pipeline->describe(account, {}, "inbox.md");
  EXPECT_EQ(account.take(), R"({"pending":[]})") << "it does not stay pending";
  for (int i = 0; i < 2 * kMaxNotices; ++i) pipeline->notify_agent("no such agent", false, 0);
  const auto full = inbox.bytes("inbox.md")->size();
  pipeline->notify_agent("no such agent", false, 0);
  EXPECT_EQ(inbox.bytes("inbox.md")->size(), full) << "a program that repeats a mistake does not fill the disk";
  pipeline->reset_notices();
  pipeline->notify_agent("no such agent", false, 0);
  EXPECT_GT(inbox.bytes("inbox.md")->size(), full);
}

TEST_F(PipelineTest, NoticeIsTypedWithProfile) {
  pipeline->notify_agent("ZZ was not started", true, 0);
  after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"paste Relay: ZZ was not started"});
}

/// What a predecessor had done with `d` when it was killed, and what the next life says when it is delivered again.
struct AtDeath {
  const char* name;
  void (*live)(PipelineTest&);
  const char* next_life;  // what it says first, after it accepted what it brings anew
};

constexpr const char* kBrings = "paste Relay message from Alice [d]: text of d";
constexpr const char* kDoubts = "d in_doubt: the host ended during the delivery";

const AtDeath kDeaths[] = {
    {"accepted", [](PipelineTest& test) { test.after(1s, State::Working); }, kBrings},
    {"paused",
     [](PipelineTest& test) {
       test.pipeline->pause({.paused = true});
       test.after(1s, State::Idle);
     },
     kBrings},
    {"written, not submitted", [](PipelineTest& test) { test.after(1s, State::Idle); }, kDoubts},
    {"entered",
     [](PipelineTest& test) {
       test.after(1s, State::Idle);
       test.after(50ms, State::Typing);
       test.after(300ms, State::Typing);
     },
     kDoubts},
    {"submitted, and the daemon did not hear it", [](PipelineTest& test) { test.type_one(); },
     "d delivered submitted: the agent began to work"},
    {"seen, and the daemon did not hear it",
     [](PipelineTest& test) {
       test.type_one();
       test.pipeline->on_model_input("Relay message from Alice [d]: text of d", "transcript", "u-1");
     },
     "d delivered seen: typed; its transcript shows it"},
    {"fetched, and perhaps not shown", [](PipelineTest& test) { (void)test.fetched(); }, kDoubts},
    {"in a door's hands",
     [](PipelineTest& test) {
       test.view.can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, "inbox"};
       test.after(1s, State::Idle);
       test.view.can = {};
     },
     kDoubts},
    {"a door took nothing",
     [](PipelineTest& test) {
       test.view.can.by(DeliveryMode::OnIdle) = {DeliveryTiming::Idle, "inbox"};
       test.after(1s, State::Idle);
       test.handed(fail("nobody listens"));
       test.view.can = {};
     },
     kDoubts},
};

TEST_F(PipelineTest, RestartReportsOutcomesDoubtsBegunAndDeliversRest) {
  for (const auto& death : kDeaths) {
    notes = death.name;
    restart();
    view.state = view.screen = State::Idle;
    view.since = view.now;
    receive("d");
    death.live(*this);
    (void)received();
    restart();
    receive("d");
    after(1s, State::Idle);
    after(1s, State::Idle);
    auto said = received();
    if (said.front() == "d accepted") said.erase(said.begin());
    ASSERT_FALSE(said.empty()) << death.name;
    EXPECT_EQ(said.front(), death.next_life) << death.name;
    EXPECT_TRUE(death.next_life == kBrings || said.size() == 1) << "and nothing more: " << death.name;
    restart();
    receive("d", "message", 2);
    EXPECT_EQ(received(), Lines{"d accepted"}) << "a deliberate second attempt: " << death.name;
  }
}

TEST_F(PipelineTest, SilentDeliveryIsTypedWithAnother) {
  receive("q", "state");
  (void)received();
  for (int i = 0; i < 5; ++i) after(1s, State::Idle);
  EXPECT_EQ(received(), Lines{"q deferred: it does not wake the agent; it goes with the next message"});
  EXPECT_EQ(pipeline->pending_reason(), "") << "nothing is late";
  receive("a");
  type_one();
  EXPECT_EQ(
      received(),
      (Lines{"a accepted",
             "paste Relay message from Alice [q] [kind:state]: text of q\nRelay message from Alice [a]: text of a",
             "q accepted written", "a accepted written", "enter", "q delivered submitted: the agent began to work",
             "a delivered submitted: the agent began to work"}));
}

TEST_F(PipelineTest, FlushedDeliveryGoesAndCancelledDoesNot) {
  receive("a", "message", 1, DeliveryMode::Manual);
  receive("b", "message", 1, DeliveryMode::Manual);
  after(1s, State::Idle);
  (void)received();
  EXPECT_TRUE(pipeline->cancel("b"));
  pipeline->move({.id = "a"}, DeliveryMode::OnIdle);
  type_one();
  EXPECT_EQ(received().front(), "paste Relay message from Alice [a]: text of a");
  EXPECT_TRUE(received().empty());
}

TEST_F(PipelineTest, PauseHoldsUntilLifted) {
  pipeline->pause({.paused = true, .reason = "lunch"});
  receive("a");
  after(1s, State::Idle);
  EXPECT_EQ(received(), (Lines{"a accepted", "a deferred: paused by a person: lunch"}));
  text::JsonWriter shown;
  pipeline->describe(shown, {}, adapters::way::kTerminal);
  EXPECT_EQ(shown.take(),
            R"({"paused":"paused by a person: lunch","pending":[{"id":"a","from":"Alice","mode":"on-idle","via":"pty",)"
            R"("reason":"paused by a person: lunch"}]})");
  pipeline->pause({.paused = false});
  after(1s, State::Idle);
  EXPECT_EQ(received().front(), "paste Relay message from Alice [a]: text of a");
}

TEST_F(PipelineTest, PauseLapsesWithoutRepetition) {
  pipeline->pause({.paused = true});
  receive("a");
  after(1s, State::Idle);
  pipeline->on_connected(view.now);
  pipeline->pause({.paused = true});
  after(kPauseGrace, State::Idle);
  (void)received();
  pipeline->on_connected(view.now);
  after(kPauseGrace - 1ms, State::Idle);
  EXPECT_TRUE(received().empty()) << "the daemon may still say it";
  after(1ms, State::Idle);
  EXPECT_EQ(received(), (Lines{"pause lapsed", "paste Relay message from Alice [a]: text of a"}));
}

TEST_F(PipelineTest, FetchLogsIntentThenDelivers) {
  receive("a");
  after(1s, State::Working);
  disk.fail_appends = 1;
  EXPECT_EQ(fetched(), R"({"messages":[],"more":true})") << "what cannot be noted is not shown";
  EXPECT_EQ(fetched(), R"({"messages":[{"id":"a","from":"Alice","body":"text of a","mode":"on-idle",)"
                       R"("pendingReason":"the agent is working"}],"more":false})");
  EXPECT_EQ(received().back(), "a deferred: the agent is working") << "it has not gone out yet";
  EXPECT_FALSE(pipeline->cancel("a"));
  pipeline->on_fetched();
  EXPECT_EQ(received(), Lines{"a delivered seen: fetched by the agent"});
}

TEST_F(PipelineTest, FetchedMessageNamesFilesAndExpectedAnswer) {
  receive("a", "message", 1, DeliveryMode::Manual, R"({"name":"r.txt","path":"/p/r.txt","bytes":7})",
          R"({"sync":{"blocking":true,"correlationId":"c"}})");
  EXPECT_EQ(fetched(), R"({"messages":[{"id":"a","from":"Alice","body":"text of a","mode":"manual",)"
                       R"("pendingReason":"those before it come first","answerExpected":true,)"
                       R"("attachments":[{"name":"r.txt","path":"/p/r.txt","bytes":7}]}],"more":false})");
}

TEST_F(PipelineTest, DeliveryBehindUserTextCanBeCancelled) {
  receive("a");
  after(1s, State::Working);
  pipeline->inject_user_text("go on", view.now, [](const Result<void>&) {});
  EXPECT_TRUE(pipeline->cancel("a"));
  (void)received();
  after(10ms, State::Idle);
  type_one();
  EXPECT_EQ(received(), (Lines{"paste go on", "enter"}));
}

TEST_F(PipelineTest, LongSilentDeliveryFitsBesideOthers) {
  rules.max_paste_bytes = 8'000;
  protocol::Envelope envelope;
  envelope.type = protocol::MessageType::Deliver;
  envelope.from = "Alice";
  const auto payload = format(R"({{"kind":"state","body":"{}"}})", std::string(7'900, 'x'));
  envelope.payload = payload;
  protocol::DeliveryView delivery;
  delivery.message_id = "q";
  (void)pipeline->receive({{.id = "q"}, envelope, delivery}, view.wall);
  receive("a");
  after(1s, State::Idle);
  const auto said = received();
  EXPECT_TRUE(said.back().starts_with("paste Relay message from Alice [q] [kind:state]: xxx")) << said.back();
  EXPECT_TRUE(said.back().ends_with("\nRelay message from Alice [a]: text of a"));
}

TEST_F(PipelineTest, InjectionContinuesDuringPause) {
  receive("a");
  after(1s, State::Idle);
  pipeline->pause({.paused = true});
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_EQ(received().back(), "a delivered submitted: the agent began to work");
}

TEST_F(PipelineTest, EnterWaitsForKnownPrompt) {
  receive("a");
  after(1s, State::Idle);
  after(50ms, State::Typing);
  (void)received();
  view.state = State::Blocked;  // its server says so before it is drawn
  view.now += 300ms;
  (void)pipeline->deliver(view);
  EXPECT_EQ(received(), (Lines{"a deferred: a dialog opened before Enter"}));
  after(1s, State::Typing);
  after(kUserIdleTime, State::Typing);
  EXPECT_EQ(received(), (Lines{"enter"}));
}

TEST_F(PipelineTest, NativeDeliveryWaitsBetweenPasteAndEnter) {
  view.can.output = "transcript";
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate})
    view.can.by(mode) = {.moment = mode == DeliveryMode::OnIdle ? DeliveryTiming::Idle : DeliveryTiming::AnyTime,
                         .via = "inbox",
                         .as_peer = true};
  receive("u", "message", 1, {}, {}, {}, true);
  after(1s, State::Working);
  receive("a");
  receive("b", "message", 1, DeliveryMode::Immediate);
  (void)received();
  after(1s, State::Idle);
  after(200ms, State::Idle);
  after(20ms, State::Typing);
  after(400ms, State::Typing);
  after(100ms, State::Working);
  EXPECT_EQ(received(),
            (Lines{"b deferred: a message of the user comes first", "a deferred: a message of the user comes first",
                   "paste Message from your user Alice [u]: text of u", "u accepted written", "enter",
                   "u delivered submitted: the agent began to work"}));
  after(100ms, State::Working);
  EXPECT_EQ(received(), Lines{"hand Relay message from Alice [b]: text of b"});
}

TEST_F(PipelineTest, ReasonFollowsStateAndSettlesLater) {
  receive("a");
  after(1s, State::Unknown);
  EXPECT_EQ(pipeline->pending_reason(), "it is not known to be ready");
  after(10ms, State::Blocked);
  EXPECT_EQ(pipeline->pending_reason(), "a dialog is open");
  EXPECT_EQ(pipeline->settled_reason(), "it is not known to be ready") << "the history waits until it lasts";
  after(2s, State::Blocked);
  EXPECT_EQ(pipeline->settled_reason(), "a dialog is open");
  after(10ms, State::Typing);
  after(10ms, State::Idle);
  EXPECT_EQ(pipeline->pending_reason(), "it just became idle");
  after(1s, State::Idle);
  after(10ms, State::Typing);
  EXPECT_EQ(pipeline->pending_reason(), "") << "it is being sent";
}

}  // namespace
}  // namespace relay::host
