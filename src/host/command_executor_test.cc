#include "host/command_executor.h"

#include <gtest/gtest.h>

#include "client/testing/link_fixture.h"

namespace relay::host {
namespace {

using client::testing::Frames;

struct CommandExecutorTest : client::testing::LinkFixture, CommandExecutorListener {
  std::unique_ptr<CommandExecutor> executor;
  Frames failures;

  void on_command_sent(std::string_view, std::string_view) override {}
  void on_command_failed(std::string_view why) override { failures.emplace_back(why); }

  /// Without a response to HELLO.
  void start_unanswered() {
    start();
    executor = std::make_unique<CommandExecutor>(*link, OutgoingFiles{}, *this);
    EXPECT_EQ(sent_frames(), Frames{"HELLO"});
  }
  void welcome() {
    daemon.welcome();
    executor->on_ready();
  }
};

TEST_F(CommandExecutorTest, EarlyRequestsAreExecutedInOrder) {
  start_unanswered();
  executor->execute(commands::Command{commands::SpawnCommand{.name = "ZZ", .cli = "claude"}});
  executor->execute(commands::Command{commands::TopicChange{.topic = "deploys", .subscribe = true}});
  executor->execute(commands::Command{commands::ReleaseCommand{.name = "ZZ"}});
  EXPECT_EQ(sent_frames(), Frames{});
  EXPECT_EQ(failures, Frames{});
  welcome();
  EXPECT_EQ(sent_frames(), (Frames{"SPAWN", "TOPICS", "RELEASE"}));
  EXPECT_EQ(failures, Frames{});
}

TEST_F(CommandExecutorTest, RequestWithoutDaemonFailsWithReason) {
  start_unanswered();
  welcome();
  daemon.disconnect();
  executor->execute(commands::Command{commands::SpawnCommand{.name = "ZZ", .cli = "claude"}});
  EXPECT_EQ(failures, Frames{"ZZ was not started: the relay daemon is not connected; repeat the command later."});
}

TEST_F(CommandExecutorTest, EarlyRequestsAreBounded) {
  start_unanswered();
  for (std::size_t i = 0; i <= kMaxEarlyRequests; ++i)
    executor->execute(commands::Command{commands::ReleaseCommand{.name = "ZZ"}});
  EXPECT_EQ(
      failures,
      Frames{"ZZ was not released: too many requests are queued for the relay daemon; repeat the command later."});
  executor->on_ready();
}

TEST_F(CommandExecutorTest, EarlyRequestsFailWhenLinkStops) {
  start_unanswered();
  executor->execute(commands::Command{commands::SpawnCommand{.name = "ZZ", .cli = "claude"}});
  executor->on_stopped("the name is taken");
  EXPECT_EQ(failures, Frames{"ZZ was not started: the name is taken"});
}

TEST_F(CommandExecutorTest, MetadataIsSent) {
  start_unanswered();
  welcome();
  (void)daemon.take_frames();
  executor->execute(commands::Command{commands::SendCommand{
      .kind = commands::MessageKind::Action,
      .to = "Bob",
      .thread = "t-1",
      .body = "hi",
      .data = json::object{{"x", 1}},
      .metadata = {.subject = "S", .importance = 80, .reply_to = "k7mx2p9d", .ack_required = true}}});
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(json::serialize(frames[0].payload),
            R"({"kind":"action","body":"hi","thread":"t-1","data":{"x":1,"subject":"S"}})");
  EXPECT_EQ(json::serialize(frames[0].envelope.at("payload_meta")),
            R"({"requires_ack":true,"importance":80,"replyTo":"k7mx2p9d"})");
}

TEST_F(CommandExecutorTest, FailureWithAckRequiredIsReported) {
  start_unanswered();
  welcome();
  (void)daemon.take_frames();
  executor->execute(
      commands::Command{commands::SendCommand{.to = "Bob", .body = "hi", .metadata = {.ack_required = true}}});
  executor->execute(commands::Command{commands::SendCommand{.to = "Bob", .body = "ho"}});
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 2U);
  protocol::Receipt receipt{.status = protocol::ReceiptStatus::Delivered, .message_id = frames[0].id, .agent = "Bob"};
  executor->on_receipt(receipt);
  EXPECT_EQ(failures, Frames{});
  receipt.status = protocol::ReceiptStatus::Failed;
  receipt.reason = "its ttl ran out";
  executor->on_receipt(receipt);
  receipt.message_id = frames[1].id;
  executor->on_receipt(receipt);
  EXPECT_EQ(failures, Frames{"your message to Bob was not delivered: its ttl ran out"});
}

}  // namespace
}  // namespace relay::host
