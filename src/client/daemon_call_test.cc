#include "client/daemon_call.h"

#include <gtest/gtest.h>

#include <optional>

#include "base/format.h"
#include "client/errors.h"
#include "client/testing/scripted_daemon.h"
#include "client/testing/virtual_loop.h"
#include "protocol/limits.h"
#include "protocol/send.h"

namespace relay::client {
namespace {

using protocol::MessageType;

struct DaemonCallTest : ::testing::Test {
  testing::VirtualLoop loop;
  testing::ScriptedDaemon daemon;
  std::unique_ptr<DaemonCall> call;
  std::optional<Result<DaemonResponse>> outcome;
  int responses = 0;

  void start(DaemonRequest request) {
    call = std::make_unique<DaemonCall>(loop, daemon, "/run/relay.sock", std::move(request),
                                        [this](Result<DaemonResponse> response) {
                                          ++responses;
                                          outcome = std::move(response);
                                          call.reset();
                                        });
    call->start();
  }
  static DaemonRequest send_request() {
    return {.type = MessageType::Send, .id = "m1", .from = "Alice", .to = "Bob", .claim_token = "token"};
  }
  static DaemonRequest query() {
    return {.type = MessageType::ListAgents, .id = "q1", .handshake = Handshake::AsSystem, .system_token = "secret"};
  }
};

TEST_F(DaemonCallTest, SendGoesFirstAndTakesItsOwnAck) {
  start(send_request());
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "SEND");
  EXPECT_EQ(string_member(frames[0].envelope, "from"), "Alice");
  EXPECT_EQ(string_member(frames[0].envelope, "claim_token"), "token");
  daemon.send(MessageType::Ack, "a", R"({"ack_id":"another"})");
  EXPECT_EQ(responses, 0);
  daemon.send(MessageType::Ack, "a", R"({"ack_id":"m1","short_id":"s"})");
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->payload, R"({"ack_id":"m1","short_id":"s"})");
}

TEST_F(DaemonCallTest, QueryFollowsTheWelcome) {
  start(query());
  const auto hello = daemon.take_frames();
  ASSERT_EQ(hello.size(), 1U);
  EXPECT_EQ(string_member(hello[0].payload, "agent"), "cli");
  EXPECT_EQ(string_member(hello[0].payload.at("session").get_object(), "system_token"), "secret");
  daemon.welcome();
  EXPECT_EQ(daemon.take_frames().at(0).type, "LIST_AGENTS");
  daemon.send(MessageType::Ping, "p", R"({"nonce":"n"})");
  EXPECT_EQ(daemon.take_frames().at(0).type, "PONG");
  daemon.send(MessageType::ListAgentsResponse, "q1", R"({"agents":[]})");
  ASSERT_TRUE(outcome && *outcome);
  EXPECT_EQ((*outcome)->type, MessageType::ListAgentsResponse);
}

TEST_F(DaemonCallTest, ResultIsMatchedByItsReplyTo) {
  start(query());
  daemon.welcome();
  daemon.send(MessageType::SpawnResult, "fresh", R"({"replyTo":"q1","success":true})");
  EXPECT_TRUE(outcome && *outcome);
}

TEST_F(DaemonCallTest, ErrorsStateWhetherTheRequestWasSent) {
  daemon.listening = false;
  start(send_request());
  EXPECT_TRUE(is(outcome->error(), Errc::NoDaemon));
  EXPECT_EQ(outcome->error().message(), "cannot reach the daemon: no one is listening; start it with: agent-relay up");
  daemon.listening = true;
  start(query());
  daemon.disconnect();
  EXPECT_TRUE(is(outcome->error(), Errc::NoDaemon)) << "it sent only HELLO";
  start(query());
  loop.advance(Millis{5'001});
  EXPECT_TRUE(is(outcome->error(), Errc::NoDaemon));
  start(send_request());
  daemon.disconnect();
  EXPECT_TRUE(is(outcome->error(), Errc::Lost));
  start(send_request());
  loop.advance(Millis{5'001});
  EXPECT_TRUE(is(outcome->error(), Errc::TimedOut));
  auto large = send_request();
  large.payload = format(R"({{"body":"{}"}})", std::string(protocol::kMaxFrameBytes, 'x'));
  start(std::move(large));
  EXPECT_TRUE(is(outcome->error(), Errc::TooLarge));
  EXPECT_EQ(responses, 6);
}

TEST_F(DaemonCallTest, ErrorFrameKeepsItsCode) {
  start(query());
  daemon.send(MessageType::Error, "e", R"({"code":"RESUME_TOO_OLD","message":"expired","fatal":false})");
  EXPECT_EQ(responses, 0) << "WELCOME still follows";
  daemon.send(MessageType::Error, "e", R"({"code":"UNAUTHORIZED","message":"the name is claimed","fatal":true})");
  EXPECT_EQ(protocol::nack_code_of(outcome->error()), protocol::NackCode::NotOwner);
  EXPECT_EQ(outcome->error().message(), "the name is claimed");
}

TEST_F(DaemonCallTest, UnreadableBytesLoseTheResponse) {
  start(send_request());
  daemon.send_bytes(std::string(8, '\xff'));
  EXPECT_TRUE(is(outcome->error(), Errc::Lost));
}

TEST_F(DaemonCallTest, DestroyedCallReportsNothing) {
  start(send_request());
  call.reset();
  EXPECT_FALSE(daemon.connected());
  loop.advance(Millis{6'000});
  EXPECT_EQ(responses, 0);
}

}  // namespace
}  // namespace relay::client
