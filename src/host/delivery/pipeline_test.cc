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
  std::string intent_file = "Bob.intent";
  net::testing::TemporaryDirectory project;
  profiles::TypingRules rules;
  std::unique_ptr<DeliveryPipeline> pipeline;
  DeliveryPipeline::View view{.now = SteadyTime{1h}, .wall = 1'000, .state = State::Idle, .screen = State::Idle};
  Lines steps;
  OnAccepted on_accepted;

  PipelineTest() { restart(); }
  /// A new host with the same disk.
  void restart() {
    pipeline = std::make_unique<DeliveryPipeline>(PipelinePaths{.state_directory = disk,
                                                                .intent_file = intent_file,
                                                                .project_root = project.path(),
                                                                .long_texts = {"messages"}},
                                                  rules, outputs());
    ASSERT_TRUE(pipeline->open());
  }

  void interrupt() override { steps.push_back("interrupt"); }
  void paste(std::string_view text) override { steps.push_back(format("paste {}", text)); }
  void press_enter() override { steps.push_back("enter"); }
  void erase(std::size_t) override { steps.push_back("erase"); }
  void deliver(const adapters::NativeDelivery& native, OnAccepted done) override {
    steps.push_back(format("native {}", native.text));
    on_accepted = std::move(done);
  }
  PipelineOutputs outputs() {
    return {.native = this,
            .composer = *this,
            .reports = *this,
            .view = [this] { return view; },
            .on_pause_lapsed = [this] { steps.push_back("pause lapsed"); }};
  }
  void report(const client::DeliveryRef& ref, protocol::Receipt receipt) override {
    steps.push_back(format("{} {}{}{}{}{}", ref.id, name_of(receipt.status), receipt.proof.empty() ? "" : " ",
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
  Lines take_steps() { return std::exchange(steps, {}); }
};

TEST_F(PipelineTest, NoticeWithoutTypingGoesToInboxFile) {
  client::testing::MemoryDirectory inbox;
  pipeline = std::make_unique<DeliveryPipeline>(PipelinePaths{.state_directory = disk,
                                                              .intent_file = intent_file,
                                                              .inbox = &inbox,
                                                              .project_root = project.path(),
                                                              .long_texts = {"messages"}},
                                                rules, outputs());
  ASSERT_TRUE(pipeline->open());
  pipeline->notify_agent("ZZ was not started:\nno", false, 0);
  EXPECT_EQ(*inbox.bytes("inbox.md"), "## From Relay at 1970-01-01T00:00:00.000Z\n\nZZ was not started: no\n\n");
  text::JsonWriter json;
  pipeline->describe(json, {}, "inbox.md");
  EXPECT_EQ(json.take(), R"({"pending":[]})") << "it does not stay pending";
  for (int i = 0; i < 2 * kMaxNotices; ++i) pipeline->notify_agent("no such agent", false, 0);
  const auto full = inbox.bytes("inbox.md")->size();
  pipeline->notify_agent("no such agent", false, 0);
  EXPECT_EQ(inbox.bytes("inbox.md")->size(), full) << "repeated failures do not fill the disk";
  pipeline->reset_notices();
  pipeline->notify_agent("no such agent", false, 0);
  EXPECT_GT(inbox.bytes("inbox.md")->size(), full);
}

TEST_F(PipelineTest, NoticeIsTypedWithProfile) {
  pipeline->notify_agent("ZZ was not started", true, 0);
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"paste Relay: ZZ was not started"});
}

/// What a host had done with `d` when it was killed, and the first step of the next host after it accepts `d` again.
struct StoppedHost {
  const char* name;
  void (*live)(PipelineTest&);
  const char* next_step;
};

constexpr const char* kTyped = "paste Relay message from Alice [d]: text of d";
constexpr const char* kInDoubt = "d in_doubt: the host ended during the delivery";

const StoppedHost kStops[] = {
    {"accepted", [](PipelineTest& test) { test.after(1s, State::Working); }, kTyped},
    {"paused",
     [](PipelineTest& test) {
       test.pipeline->pause({.paused = true});
       test.after(1s, State::Idle);
     },
     kTyped},
    {"written, not submitted", [](PipelineTest& test) { test.after(1s, State::Idle); }, kInDoubt},
    {"entered",
     [](PipelineTest& test) {
       test.after(1s, State::Idle);
       test.after(50ms, State::Typing);
       test.after(300ms, State::Typing);
     },
     kInDoubt},
    {"submitted, not reported", [](PipelineTest& test) { test.type_one(); },
     "d delivered submitted: the agent started to work"},
    {"seen, not reported",
     [](PipelineTest& test) {
       test.type_one();
       test.pipeline->on_model_input("Relay message from Alice [d]: text of d", "transcript", "u-1");
     },
     "d delivered seen: typed; its transcript shows it"},
    {"fetched, response perhaps not sent", [](PipelineTest& test) { (void)test.fetched(); }, kInDoubt},
    {"delivered natively, not accepted",
     [](PipelineTest& test) {
       test.view.can.by(DeliveryMode::OnIdle) = {DeliveryTiming::WhenIdle, "inbox"};
       test.after(1s, State::Idle);
       test.view.can = {};
     },
     kInDoubt},
    {"native interface failed",
     [](PipelineTest& test) {
       test.view.can.by(DeliveryMode::OnIdle) = {DeliveryTiming::WhenIdle, "inbox"};
       test.after(1s, State::Idle);
       test.on_accepted(fail("connection refused"));
       test.view.can = {};
     },
     kInDoubt},
};

TEST_F(PipelineTest, RestartReportsOutcomesAndDeliversUnstarted) {
  for (const auto& stop : kStops) {
    intent_file = stop.name;
    restart();
    view.state = view.screen = State::Idle;
    view.since = view.now;
    receive("d");
    stop.live(*this);
    (void)take_steps();
    restart();
    receive("d");
    after(1s, State::Idle);
    after(1s, State::Idle);
    auto log = take_steps();
    if (log.front() == "d accepted") log.erase(log.begin());
    ASSERT_FALSE(log.empty()) << stop.name;
    EXPECT_EQ(log.front(), stop.next_step) << stop.name;
    EXPECT_TRUE(stop.next_step == kTyped || log.size() == 1) << "nothing else: " << stop.name;
    restart();
    receive("d", "message", 2);
    EXPECT_EQ(take_steps(), Lines{"d accepted"}) << "a deliberate second attempt: " << stop.name;
  }
}

TEST_F(PipelineTest, SilentDeliveryIsTypedWithAnother) {
  receive("q", "state");
  (void)take_steps();
  for (int i = 0; i < 5; ++i) after(1s, State::Idle);
  EXPECT_EQ(take_steps(), Lines{"q deferred: it does not wake the agent; it is delivered with the next message"});
  EXPECT_EQ(pipeline->pending_reason(), "") << "no reason for a silent delivery";
  receive("a");
  type_one();
  EXPECT_EQ(
      take_steps(),
      (Lines{"a accepted",
             "paste Relay message from Alice [q] [kind:state]: text of q\nRelay message from Alice [a]: text of a",
             "q accepted written", "a accepted written", "enter", "q delivered submitted: the agent started to work",
             "a delivered submitted: the agent started to work"}));
}

TEST_F(PipelineTest, FlushedDeliveryGoesAndCancelledDoesNot) {
  receive("a", "message", 1, DeliveryMode::Manual);
  receive("b", "message", 1, DeliveryMode::Manual);
  after(1s, State::Idle);
  (void)take_steps();
  EXPECT_TRUE(pipeline->cancel("b"));
  pipeline->move({.id = "a"}, DeliveryMode::OnIdle);
  type_one();
  EXPECT_EQ(take_steps().front(), "paste Relay message from Alice [a]: text of a");
  EXPECT_TRUE(take_steps().empty());
}

TEST_F(PipelineTest, PauseHoldsUntilLifted) {
  pipeline->pause({.paused = true, .reason = "lunch"});
  receive("a");
  after(1s, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"a accepted", "a deferred: paused by the user: lunch"}));
  text::JsonWriter json;
  pipeline->describe(json, {}, adapters::via::kTerminal);
  EXPECT_EQ(json.take(),
            R"({"paused":"paused by the user: lunch","pending":[{"id":"a","from":"Alice","mode":"on-idle","via":"pty",)"
            R"("reason":"paused by the user: lunch"}]})");
  pipeline->pause({.paused = false});
  after(1s, State::Idle);
  EXPECT_EQ(take_steps().front(), "paste Relay message from Alice [a]: text of a");
}

TEST_F(PipelineTest, PauseLapsesWithoutRepetition) {
  pipeline->pause({.paused = true});
  receive("a");
  after(1s, State::Idle);
  pipeline->on_connected(view.now);
  pipeline->pause({.paused = true});
  after(kPauseGrace, State::Idle);
  (void)take_steps();
  pipeline->on_connected(view.now);
  after(kPauseGrace - 1ms, State::Idle);
  EXPECT_TRUE(take_steps().empty()) << "the daemon may still repeat it";
  after(1ms, State::Idle);
  EXPECT_EQ(take_steps(), (Lines{"pause lapsed", "paste Relay message from Alice [a]: text of a"}));
}

TEST_F(PipelineTest, FetchLogsIntentThenDelivers) {
  receive("a");
  after(1s, State::Working);
  disk.fail_appends = 1;
  EXPECT_EQ(fetched(), R"({"messages":[],"more":true})") << "not fetched without an intent";
  EXPECT_EQ(fetched(), R"({"messages":[{"id":"a","from":"Alice","body":"text of a","mode":"on-idle",)"
                       R"("pendingReason":"the agent is working"}],"more":false})");
  EXPECT_EQ(take_steps().back(), "a deferred: the agent is working") << "the response is not sent yet";
  EXPECT_FALSE(pipeline->cancel("a"));
  pipeline->on_fetched();
  EXPECT_EQ(take_steps(), Lines{"a delivered seen: fetched by the agent"});
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
  pipeline->inject_user_text("proceed", view.now, [](const Result<void>&) {});
  EXPECT_TRUE(pipeline->cancel("a"));
  (void)take_steps();
  after(10ms, State::Idle);
  type_one();
  EXPECT_EQ(take_steps(), (Lines{"paste proceed", "enter"}));
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
  const auto log = take_steps();
  EXPECT_TRUE(log.back().starts_with("paste Relay message from Alice [q] [kind:state]: xxx")) << log.back();
  EXPECT_TRUE(log.back().ends_with("\nRelay message from Alice [a]: text of a"));
}

TEST_F(PipelineTest, InjectionContinuesDuringPause) {
  receive("a");
  after(1s, State::Idle);
  pipeline->pause({.paused = true});
  after(50ms, State::Typing);
  after(300ms, State::Typing);
  after(50ms, State::Working);
  EXPECT_EQ(take_steps().back(), "a delivered submitted: the agent started to work");
}

TEST_F(PipelineTest, EnterWaitsForReportedPrompt) {
  receive("a");
  after(1s, State::Idle);
  after(50ms, State::Typing);
  (void)take_steps();
  view.state = State::Blocked;  // reported by the server before it is drawn
  view.now += 300ms;
  (void)pipeline->deliver(view);
  EXPECT_EQ(take_steps(), (Lines{"a deferred: a dialog opened before Enter"}));
  after(1s, State::Typing);
  after(kUserIdleTime, State::Typing);
  EXPECT_EQ(take_steps(), (Lines{"enter"}));
}

TEST_F(PipelineTest, NativeDeliveryWaitsBetweenPasteAndEnter) {
  view.can.output = "transcript";
  for (const auto mode : {DeliveryMode::OnIdle, DeliveryMode::Immediate})
    view.can.by(mode) = {.timing = mode == DeliveryMode::OnIdle ? DeliveryTiming::WhenIdle : DeliveryTiming::Anytime,
                         .via = "inbox",
                         .as_peer = true};
  receive("u", "message", 1, {}, {}, {}, true);
  after(1s, State::Working);
  receive("a");
  receive("b", "message", 1, DeliveryMode::Immediate);
  (void)take_steps();
  after(1s, State::Idle);
  after(200ms, State::Idle);
  after(20ms, State::Typing);
  after(400ms, State::Typing);
  after(100ms, State::Working);
  EXPECT_EQ(take_steps(),
            (Lines{"b deferred: a message of the user is first", "a deferred: a message of the user is first",
                   "paste Message from your user Alice [u]: text of u", "u accepted written", "enter",
                   "u delivered submitted: the agent started to work"}));
  after(100ms, State::Working);
  EXPECT_EQ(take_steps(), Lines{"native Relay message from Alice [b]: text of b"});
}

TEST_F(PipelineTest, ReasonFollowsStateAndSettlesLater) {
  receive("a");
  after(1s, State::Unknown);
  EXPECT_EQ(pipeline->pending_reason(), "the agent may not be ready yet");
  after(10ms, State::Blocked);
  EXPECT_EQ(pipeline->pending_reason(), "a dialog is open");
  EXPECT_EQ(pipeline->lasting_reason(), "the agent may not be ready yet") << "the history gets it once it lasts";
  after(2s, State::Blocked);
  EXPECT_EQ(pipeline->lasting_reason(), "a dialog is open");
  after(10ms, State::Typing);
  after(10ms, State::Idle);
  EXPECT_EQ(pipeline->pending_reason(), "the agent has just become idle");
  after(1s, State::Idle);
  after(10ms, State::Typing);
  EXPECT_EQ(pipeline->pending_reason(), "") << "it is being sent";
}

}  // namespace
}  // namespace relay::host
