#include "host/command_executor.h"

#include <gtest/gtest.h>

#include "client/testing/link_fixture.h"

namespace relay::host {
namespace {

using client::testing::Said;

struct CommandExecutorTest : client::testing::LinkFixture, CommandExecutorListener {
  std::unique_ptr<CommandExecutor> voice;
  Said unsaid;

  void on_command_sent(std::string_view, std::string_view) override {}
  void on_command_failed(std::string_view why) override { unsaid.emplace_back(why); }

  /// The HELLO is said, and not answered.
  void start_unanswered() {
    start();
    voice = std::make_unique<CommandExecutor>(*link, OutgoingFiles{}, *this);
    EXPECT_EQ(said(), Said{"HELLO"});
  }
  void welcome() {
    daemon.welcome();
    voice->on_ready();
  }
};

TEST_F(CommandExecutorTest, EarlyRequestsAreExecutedInOrder) {
  start_unanswered();
  voice->execute(commands::Command{commands::SpawnCommand{.name = "ZZ", .cli = "claude"}});
  voice->execute(commands::Command{commands::TopicChange{.topic = "deploys", .subscribe = true}});
  voice->execute(commands::Command{commands::ReleaseCommand{.name = "ZZ"}});
  EXPECT_EQ(said(), Said{});
  EXPECT_EQ(unsaid, Said{});
  welcome();
  EXPECT_EQ(said(), (Said{"SPAWN", "TOPICS", "RELEASE"}));
  EXPECT_EQ(unsaid, Said{});
}

TEST_F(CommandExecutorTest, RequestWithoutDaemonFailsWithReason) {
  start_unanswered();
  welcome();
  daemon.cut();
  voice->execute(commands::Command{commands::SpawnCommand{.name = "ZZ", .cli = "claude"}});
  EXPECT_EQ(unsaid, Said{"ZZ was not started: the relay daemon is not there now; say it again later."});
}

TEST_F(CommandExecutorTest, EarlyRequestsAreBounded) {
  start_unanswered();
  for (std::size_t i = 0; i <= kMaxEarlyRequests; ++i)
    voice->execute(commands::Command{commands::ReleaseCommand{.name = "ZZ"}});
  EXPECT_EQ(unsaid,
            Said{"ZZ was not released: too many requests wait for the relay daemon to answer; say it again later."});
  voice->on_ready();
}

TEST_F(CommandExecutorTest, EarlyRequestsFailWhenLinkStops) {
  start_unanswered();
  voice->execute(commands::Command{commands::SpawnCommand{.name = "ZZ", .cli = "claude"}});
  voice->on_stopped("the name is taken");
  EXPECT_EQ(unsaid, Said{"ZZ was not started: the name is taken"});
}

TEST_F(CommandExecutorTest, MetadataIsSent) {
  start_unanswered();
  welcome();
  (void)daemon.heard();
  voice->execute(commands::Command{commands::SendCommand{
      .kind = commands::MessageKind::Action,
      .to = "Bob",
      .thread = "t-1",
      .body = "hi",
      .data = json::object{{"x", 1}},
      .metadata = {.subject = "S", .importance = 80, .reply_to = "k7mx2p9d", .ack_required = true}}});
  const auto frames = daemon.heard();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(json::serialize(frames[0].payload),
            R"({"kind":"action","body":"hi","thread":"t-1","data":{"x":1,"subject":"S"}})");
  EXPECT_EQ(json::serialize(frames[0].envelope.at("payload_meta")),
            R"({"requires_ack":true,"importance":80,"replyTo":"k7mx2p9d"})");
}

TEST_F(CommandExecutorTest, FailureOfAMessageWithAckRequiredIsExplained) {
  start_unanswered();
  welcome();
  (void)daemon.heard();
  voice->execute(
      commands::Command{commands::SendCommand{.to = "Bob", .body = "hi", .metadata = {.ack_required = true}}});
  voice->execute(commands::Command{commands::SendCommand{.to = "Bob", .body = "ho"}});
  const auto frames = daemon.heard();
  ASSERT_EQ(frames.size(), 2U);
  protocol::Receipt receipt{.status = protocol::ReceiptStatus::Delivered, .message_id = frames[0].id, .agent = "Bob"};
  voice->on_receipt(receipt);
  EXPECT_EQ(unsaid, Said{});
  receipt.status = protocol::ReceiptStatus::Failed;
  receipt.reason = "its ttl ran out";
  voice->on_receipt(receipt);
  receipt.message_id = frames[1].id;
  voice->on_receipt(receipt);
  EXPECT_EQ(unsaid, Said{"your message to Bob was not delivered: its ttl ran out"});
}

}  // namespace
}  // namespace relay::host
