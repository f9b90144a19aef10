#include "session/session_runner.h"

#include <gtest/gtest.h>

#include <stdexcept>

#include "base/format.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"

namespace relay::session {
namespace {

using client::testing::ScriptedDaemon;
using client::testing::VirtualLoop;
using protocol::DeliveryMode;
using protocol::MessageType;
using protocol::ReceiptStatus;

/// An agent that records its calls and reports the results that the test sets.
struct Recorder final : AgentSession {
  protocol::DeliveryModes modes = protocol::DeliveryModes::all();
  std::function<void(ReceiptCallback)> reply = [](ReceiptCallback answer) {
    answer({.status = ReceiptStatus::Delivered});
  };
  std::vector<RelayMessage> messages;
  std::vector<MessageContext> contexts;
  std::vector<MessageReceipt> receipts;
  std::vector<std::string> stored, released, cancelled;
  std::vector<DeliveryMode> moved;
  std::vector<bool> pauses;

  AgentIdentity identity() const override { return protocol::identity_of("Alice"); }
  AgentSessionCapabilities capabilities() const override {
    AgentSessionCapabilities can;
    can.delivery.modes = modes;
    can.lifecycle.pause = true;
    return can;
  }
  void receive_message(const RelayMessage& message, const MessageContext& context, ReceiptCallback answer) override {
    messages.push_back(message);
    contexts.push_back(context);
    reply(std::move(answer));
  }
  void release(const std::string& reason) override { released.push_back(reason); }
  void on_receipt(const MessageReceipt& receipt) override { receipts.push_back(receipt); }
  void on_stored(const protocol::Ack& ack) override { stored.push_back(ack.ack_id); }
  void on_moved(const std::string&, DeliveryMode mode) override { moved.push_back(mode); }
  bool on_cancel(const protocol::CancelCommand& command) override {
    cancelled.push_back(command.delivery_id);
    return true;
  }
  void on_pause(const protocol::PauseCommand& command) override { pauses.push_back(command.paused); }
};

struct SessionRunnerTest : ::testing::Test {
  VirtualLoop loop;
  ScriptedDaemon daemon;
  SeededRandom random{3};
  client::Outbox outbox{client::Numbering::Epoch, {}, random};
  Recorder agent;
  std::unique_ptr<SessionRunner> runner;

  void start() {
    RunnerOptions options;
    options.link.socket_path = "/run/relay.sock";
    auto made = SessionRunner::create(loop, daemon, random, outbox, std::move(options), agent);
    ASSERT_TRUE(made) << made.error().message();
    runner = *std::move(made);
    runner->start();
    loop.run_now();
    daemon.welcome();
  }
  void start_and_take_hello() {
    start();
    (void)daemon.take_frames();
  }
  void deliver(std::string_view id, int seq, DeliveryMode mode = DeliveryMode::OnIdle, std::string_view more = {}) {
    daemon.send(MessageType::Deliver, id, R"({"kind":"message","body":"hello"})", "Bob", {},
                format(R"({{"seq":{},"session_id":"s1","messageId":"k7mx2p9d","lane":{}{}}})", seq,
                       protocol::lane_code({mode, protocol::Priority::Normal}), more));
  }
  /// Advances the time; the daemon sends only PINGs.
  void advance_with_pings(Millis span) {
    for (Millis passed{0}; passed < span; passed += Millis{5'000}) {
      loop.advance(Millis{5'000});
      daemon.send(MessageType::Ping, "p", "{}");
    }
  }
  /// The receipts sent since the last call.
  std::vector<protocol::Receipt> take_receipts() {
    std::vector<protocol::Receipt> all;
    for (const auto& frame : daemon.take_frames())
      if (frame.type == "RECEIPT") all.push_back(*protocol::parse_receipt(json::serialize(frame.payload)));
    return all;
  }
};

TEST_F(SessionRunnerTest, HelloDeclaresCapabilities) {
  agent.modes = {};
  agent.modes.add(DeliveryMode::Immediate);
  start();
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.at(0).type, "HELLO");
  const auto hello = protocol::parse_hello(json::serialize(frames[0].payload));
  ASSERT_TRUE(hello) << hello.error().message();
  EXPECT_EQ(hello->agent, "Alice");
  EXPECT_EQ(hello->capabilities.modes, agent.modes);
  EXPECT_FALSE(hello->capabilities.queue);
  EXPECT_TRUE(hello->capabilities.pause && hello->capabilities.receipts);
  EXPECT_EQ(protocol::parse_session_capabilities(hello->capabilities.contract)->events.emits,
            std::vector<std::string>{"status.changed"});
}

TEST_F(SessionRunnerTest, PassesMessageWithContextAndReportsResult) {
  start_and_take_hello();
  deliver("d-1", 1, DeliveryMode::NextToolCall, R"(,"mode":"next-tool-call")");
  ASSERT_EQ(agent.messages.size(), 1U);
  EXPECT_EQ(agent.messages[0].id, "k7mx2p9d");
  EXPECT_EQ(agent.messages[0].text, "hello");
  EXPECT_EQ(agent.messages[0].from.name, "Bob");
  EXPECT_EQ(agent.contexts[0].id, "d-1");
  EXPECT_EQ(agent.contexts[0].mode, DeliveryMode::NextToolCall);
  const auto receipts = take_receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_EQ(receipts[0].status, ReceiptStatus::Delivered);
  EXPECT_EQ(receipts[0].delivery_id, "d-1");
  EXPECT_EQ(receipts[0].proof, "accepted");
  EXPECT_EQ(receipts[0].via, "callback");
}

TEST_F(SessionRunnerTest, AcceptsEveryDeclaredMode) {
  start_and_take_hello();
  int n = 0;
  for (const auto mode : protocol::kDeliveryModes) deliver(format("d-{}", ++n), 1, mode);
  EXPECT_EQ(agent.contexts.size(), std::size(protocol::kDeliveryModes));
}

TEST_F(SessionRunnerTest, UndeclaredModeFailsAsUnsupported) {
  agent.modes = {};
  agent.modes.add(DeliveryMode::OnIdle);
  start_and_take_hello();
  deliver("d-1", 1, DeliveryMode::Immediate);
  EXPECT_TRUE(agent.messages.empty());
  const auto receipts = take_receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_EQ(receipts[0].status, ReceiptStatus::Failed);
  EXPECT_EQ(receipts[0].code, "UNSUPPORTED");
  EXPECT_FALSE(receipts[0].retryable);
}

TEST_F(SessionRunnerTest, CallsOnceForEachAttempt) {
  agent.reply = [](ReceiptCallback answer) {
    answer({.status = ReceiptStatus::Failed, .reason = "busy", .retryable = true});
    answer({.status = ReceiptStatus::Delivered});
  };
  start_and_take_hello();
  deliver("d-1", 1);
  deliver("d-1", 1);
  EXPECT_EQ(agent.messages.size(), 1U);
  deliver("d-1", 2, DeliveryMode::OnIdle, R"(,"attempt":2)");
  ASSERT_EQ(agent.messages.size(), 2U);
  EXPECT_EQ(agent.contexts[1].attempt, 2U);
  for (const auto& receipt : take_receipts()) EXPECT_TRUE(receipt.retryable);
}

TEST_F(SessionRunnerTest, DeferredMessageIsReturned) {
  agent.reply = [](ReceiptCallback answer) {
    answer({.status = ReceiptStatus::Deferred, .reason = "not now", .available_at = 77});
  };
  start_and_take_hello();
  deliver("d-1", 1);
  EXPECT_EQ(take_receipts().at(0).available_at, 77);
  deliver("d-1", 2);
  EXPECT_EQ(agent.messages.size(), 2U);
}

TEST_F(SessionRunnerTest, ExceptionIsARetryableFailure) {
  agent.reply = [](ReceiptCallback) { throw std::runtime_error{"out of tokens"}; };
  start_and_take_hello();
  deliver("d-1", 1);
  const auto receipt = take_receipts().at(0);
  EXPECT_EQ(receipt.status, ReceiptStatus::Failed);
  EXPECT_TRUE(receipt.retryable);
  EXPECT_EQ(receipt.reason, "the session failed: out of tokens");
}

TEST_F(SessionRunnerTest, TimeoutIsReportedAndLateReceiptCounts) {
  std::vector<ReceiptCallback> callbacks;
  agent.reply = [&](ReceiptCallback answer) { callbacks.push_back(std::move(answer)); };
  start_and_take_hello();
  deliver("d-1", 1);
  advance_with_pings(Millis{60'000});
  const auto receipts = take_receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_EQ(receipts[0].status, ReceiptStatus::Deferred);
  EXPECT_EQ(receipts[0].available_at, 0) << "the delivery stays with the session";
  EXPECT_EQ(receipts[0].reason, "the callback has not reported a result for 60 s");
  deliver("d-1", 1);  // the daemon sends it again
  advance_with_pings(Millis{120'000});
  EXPECT_EQ(agent.messages.size(), 1U);
  EXPECT_TRUE(take_receipts().empty());
  callbacks.at(0)({.status = ReceiptStatus::Delivered});
  EXPECT_EQ(take_receipts().at(0).status, ReceiptStatus::Delivered);
}

TEST_F(SessionRunnerTest, UnansweredMessageIsNotRepeatedAfterReconnect) {
  std::vector<ReceiptCallback> callbacks;
  agent.reply = [&](ReceiptCallback answer) { callbacks.push_back(std::move(answer)); };
  start_and_take_hello();
  deliver("d-1", 1);
  advance_with_pings(Millis{60'000});
  daemon.disconnect();
  loop.advance(Millis{200});
  daemon.welcome();
  deliver("d-1", 1);
  EXPECT_EQ(agent.messages.size(), 1U);
  (void)take_receipts();
  callbacks.at(0)({.status = ReceiptStatus::Failed, .reason = "no"});
  EXPECT_EQ(take_receipts().at(0).reason, "no");
}

TEST_F(SessionRunnerTest, AcceptedMessageEndsByReport) {
  agent.reply = [](ReceiptCallback answer) { answer({.status = ReceiptStatus::Accepted}); };
  start_and_take_hello();
  deliver("d-1", 1);
  runner->report("d-1", {.status = ReceiptStatus::Delivered, .proof = "submitted"});
  runner->report("d-1", {.status = ReceiptStatus::Delivered, .proof = "seen", .evidence = "turn 4"});
  runner->report("d-1", {.status = ReceiptStatus::Failed});
  const auto receipts = take_receipts();
  ASSERT_EQ(receipts.size(), 3U);
  EXPECT_EQ(receipts[0].status, ReceiptStatus::Accepted);
  EXPECT_EQ(receipts[1].proof, "submitted");
  EXPECT_EQ(receipts[2].proof, "seen");
  EXPECT_EQ(receipts[2].evidence, "turn 4");
}

TEST_F(SessionRunnerTest, AcceptedMessageCanBeMovedAndCancelled) {
  agent.reply = [](ReceiptCallback answer) { answer({.status = ReceiptStatus::Accepted}); };
  start_and_take_hello();
  deliver("d-1", 1, DeliveryMode::Manual);
  deliver("d-1", 1, DeliveryMode::OnIdle, R"(,"mode":"on-idle")");
  EXPECT_EQ(agent.moved, std::vector{DeliveryMode::OnIdle});
  EXPECT_EQ(agent.messages.size(), 1U);
  daemon.send(MessageType::Cancel, "c", R"({"deliveryId":"d-1","reason":"no need"})");
  EXPECT_EQ(agent.cancelled, std::vector<std::string>{"d-1"});
  (void)take_receipts();
  runner->report("d-1", {.status = ReceiptStatus::Delivered});
  EXPECT_TRUE(take_receipts().empty());
}

TEST_F(SessionRunnerTest, StatusIsReportedAgainAfterReconnect) {
  start_and_take_hello();
  runner->set_status(Status::Blocked, "waiting for the user");
  auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "SESSION_STATE");
  EXPECT_EQ(string_member(frames[0].payload, "state"), "blocked");
  EXPECT_EQ(string_member(frames[0].payload, "reason"), "waiting for the user");
  daemon.disconnect();
  runner->set_status(Status::Idle);
  loop.advance(Millis{200});
  (void)daemon.take_frames();
  daemon.welcome();
  frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(string_member(frames[0].payload, "state"), "idle");
}

TEST_F(SessionRunnerTest, BoundaryCallbackRunsWhenReached) {
  start_and_take_hello();
  EXPECT_FALSE(runner->before_next_message());
  runner->set_status(Status::Active);
  (void)daemon.take_frames();
  bool reached = false;
  ASSERT_TRUE(runner->before_next_tool_call([&] { reached = true; }));
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(string_member(frames[0].payload, "boundary"), "tool-call");
  EXPECT_EQ(string_member(frames[0].payload, "state"), "active");
  deliver("d-1", 1, DeliveryMode::NextToolCall);
  EXPECT_FALSE(reached);
  daemon.send(MessageType::StatusResponse, frames[1].id, "{}");
  EXPECT_TRUE(reached);
  EXPECT_EQ(take_receipts().size(), 1U);
  ASSERT_TRUE(runner->before_next_message());
  EXPECT_EQ(string_member(daemon.take_frames().at(0).payload, "boundary"), "message");
}

TEST_F(SessionRunnerTest, SentMessageGetsItsReceipts) {
  start_and_take_hello();
  const auto first = runner->send({.to = "Bob", .text = "hi"}, {.mode = DeliveryMode::Immediate});
  const auto second = runner->send({.to = "Zoe", .text = "hi"});
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(runner->send({.to = "", .text = "hi"}));
  EXPECT_EQ(daemon.take_frames().size(), 2U);
  daemon.send(MessageType::Ack, "a", format(R"({{"ack_id":"{}","short_id":"k7mx2p9d"}})", *first));
  daemon.send(MessageType::Nack, "n",
              format(R"({{"nack_id":"{}","code":"UNKNOWN_RECIPIENT","message":"no agent is named Zoe"}})", *second));
  daemon.send(
      MessageType::Receipt, "r",
      format(R"({{"status":"delivered","deliveryId":"d-9","messageId":"{}","agent":"Bob","proof":"seen"}})", *first));
  EXPECT_EQ(agent.stored, std::vector{*first});
  ASSERT_EQ(agent.receipts.size(), 2U);
  EXPECT_EQ(agent.receipts[0].code, "UNKNOWN_RECIPIENT");
  EXPECT_EQ(agent.receipts[0].message_id, *second);
  EXPECT_EQ(agent.receipts[1].proof, "seen");
}

TEST_F(SessionRunnerTest, ReleaseReturnsAcceptedMessages) {
  agent.reply = [](ReceiptCallback answer) { answer({.status = ReceiptStatus::Accepted}); };
  start_and_take_hello();
  deliver("d-1", 1);
  (void)daemon.take_frames();
  runner->release("done for today");
  runner->release("again");
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 2U);
  EXPECT_EQ(string_member(frames[0].payload, "status"), "deferred");
  EXPECT_TRUE(frames[0].payload.contains("availableAt"));
  EXPECT_EQ(frames[1].type, "BYE");
  EXPECT_EQ(agent.released, std::vector<std::string>{"done for today"});
}

TEST_F(SessionRunnerTest, UnansweredMessageIsInDoubtAfterRelease) {
  std::vector<ReceiptCallback> callbacks;
  agent.reply = [&](ReceiptCallback answer) { callbacks.push_back(std::move(answer)); };
  start_and_take_hello();
  deliver("d-1", 1);
  deliver("d-2", 2);
  advance_with_pings(Millis{60'000});
  callbacks.at(1)({.status = ReceiptStatus::Delivered});
  (void)take_receipts();
  runner->release("done for today");
  const auto receipts = take_receipts();
  ASSERT_EQ(receipts.size(), 1U);
  EXPECT_EQ(receipts[0].delivery_id, "d-1");
  EXPECT_EQ(receipts[0].status, ReceiptStatus::InDoubt);
  callbacks.at(0)({.status = ReceiptStatus::Delivered});
  EXPECT_TRUE(take_receipts().empty());
  runner.reset();
  callbacks.at(0)({.status = ReceiptStatus::Delivered});
}

TEST_F(SessionRunnerTest, FatalErrorReleasesSession) {
  start_and_take_hello();
  daemon.send(MessageType::Pause, "p", R"({"paused":true})");
  EXPECT_EQ(agent.pauses, std::vector{true});
  daemon.send(MessageType::Error, "e",
              R"({"code":"DUPLICATE_CONNECTION","message":"the name was taken","fatal":true})");
  ASSERT_EQ(agent.released.size(), 1U);
  EXPECT_NE(agent.released[0].find("the name was taken"), std::string::npos);
  runner->release("later");
  EXPECT_EQ(agent.released.size(), 1U);
}

TEST_F(SessionRunnerTest, ReleaseMayBeCalledInCallback) {
  agent.reply = [&](ReceiptCallback answer) {
    answer({.status = ReceiptStatus::Delivered});
    runner->release("one is enough");
  };
  start_and_take_hello();
  deliver("d-1", 1);
  EXPECT_EQ(take_receipts().at(0).status, ReceiptStatus::Delivered);
  EXPECT_EQ(agent.released.size(), 1U);
}

}  // namespace
}  // namespace relay::session
