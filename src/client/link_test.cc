#include "client/link.h"

#include "client/outbox_sender.h"
#include "client/testing/link_fixture.h"
#include "protocol/bye.h"

namespace relay::client {
namespace {

using protocol::MessageType;
using testing::Frames;
struct LinkTest : testing::LinkFixture {};

TEST_F(LinkTest, SendsHelloAndIsReadyOnWelcome) {
  start();
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "HELLO");
  EXPECT_EQ(string_member(frames[0].payload, "agent"), "Alice");
  const auto* can = object_member(frames[0].payload, "capabilities");
  ASSERT_NE(can, nullptr);
  EXPECT_EQ(bool_member(*can, "send_ack"), true);
  EXPECT_EQ(string_member(*can, "outbox"), outbox.epoch());
  EXPECT_EQ(link->state(), LinkState::Handshaking);
  daemon.welcome("s7", "t7");
  EXPECT_TRUE(link->ready());
  ASSERT_EQ(program.sessions.size(), 1U);
  EXPECT_EQ(program.sessions[0].id, "s7");
  EXPECT_FALSE(program.sessions[0].resumed);
}

TEST_F(LinkTest, EchoesThePayloadOfAPing) {
  start_ready();
  daemon.send(MessageType::Ping, "p1", R"({"nonce":"n42","extra":[1]})");
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "PONG");
  EXPECT_EQ(json::serialize(frames[0].payload), R"({"nonce":"n42","extra":[1]})");
}

TEST_F(LinkTest, ReconnectsWithItsToken) {
  start_ready();
  reconnect();
  EXPECT_EQ(program.lost.size(), 1U);
  const auto frames = daemon.take_frames();
  ASSERT_FALSE(frames.empty());
  const auto* session = object_member(frames[0].payload, "session");
  ASSERT_NE(session, nullptr);
  EXPECT_EQ(string_member(*session, "resume_token"), "t1");
  daemon.welcome();
  EXPECT_TRUE(program.sessions.back().resumed);
}

TEST_F(LinkTest, DropsAnExpiredToken) {
  start_ready();
  reconnect();
  daemon.send(MessageType::Error, "e", R"({"code":"RESUME_TOO_OLD","message":"expired","fatal":false})");
  daemon.welcome("s2", "t2");
  EXPECT_TRUE(link->ready());
  EXPECT_FALSE(program.sessions.back().resumed);
  EXPECT_TRUE(program.frames.empty());
}

TEST_F(LinkTest, GivesUpWithTheNextStep) {
  daemon.listening = false;
  start();
  loop.advance(Millis{120'000});
  EXPECT_EQ(daemon.connects, kProgramAttempts);
  ASSERT_TRUE(program.stopped);
  EXPECT_TRUE(is(*program.stopped, Errc::NoDaemon));
  EXPECT_NE(program.stopped->message().find("/run/relay.sock"), std::string::npos);
  EXPECT_NE(program.stopped->message().find("agent-relay up"), std::string::npos);
  EXPECT_EQ(link->state(), LinkState::Disconnected);
}

TEST_F(LinkTest, HostRetriesForeverAtTheMaximumDelay) {
  options.timeout = RetryLimit::never_give_up();
  daemon.listening = false;
  start();
  loop.advance(Millis{3'600'000});
  EXPECT_FALSE(program.stopped);
  EXPECT_GT(daemon.connects, 115);
  EXPECT_LT(daemon.connects, 160);
  daemon.listening = true;
  while (!daemon.connected()) ASSERT_TRUE(loop.step());
  daemon.welcome();
  EXPECT_TRUE(link->ready());
}

TEST_F(LinkTest, MissingWelcomeTimesOut) {
  start();
  loop.advance(Millis{4'999});
  EXPECT_EQ(link->state(), LinkState::Handshaking);
  loop.advance(Millis{1});
  EXPECT_EQ(link->state(), LinkState::Backoff);
}

TEST_F(LinkTest, TwoMissedHeartbeatsLoseTheConnection) {
  start_ready();
  loop.advance(Millis{8'000});
  daemon.send(MessageType::Ping, "p", "{}");
  loop.advance(Millis{9'999});
  EXPECT_TRUE(link->ready());
  loop.advance(Millis{1});
  EXPECT_EQ(link->state(), LinkState::Backoff);
}

TEST_F(LinkTest, FatalErrorStopsTheLink) {
  start_ready();
  daemon.send(MessageType::Error, "e",
              R"({"code":"DUPLICATE_CONNECTION","message":"Alice is elsewhere","fatal":true})");
  ASSERT_TRUE(program.stopped);
  EXPECT_TRUE(is(*program.stopped, Errc::Refused));
  EXPECT_NE(program.stopped->message().find("Alice is elsewhere"), std::string::npos);
  loop.advance(Millis{60'000});
  EXPECT_EQ(daemon.connects, 1);
}

TEST_F(LinkTest, ClaimedNameIsRetakenOnceAfterADuplicate) {
  options.hello.claim_token = "mine";
  start_ready();
  const auto take_over = [&] {
    daemon.send(MessageType::Error, "e", R"({"code":"DUPLICATE_CONNECTION","message":"taken","fatal":true})");
  };
  take_over();
  EXPECT_FALSE(program.stopped);
  loop.advance(Millis{200});
  daemon.welcome();
  EXPECT_TRUE(link->ready());
  take_over();
  EXPECT_TRUE(program.stopped);
}

TEST_F(LinkTest, InvalidBytesLoseTheLink) {
  start_ready();
  daemon.send_bytes(std::string{"\x01\xff\xff\xff\xff garbage", 13});
  EXPECT_EQ(link->state(), LinkState::Backoff);
}

TEST_F(LinkTest, MessagesAreSentInOrderOnceConnected) {
  start();
  (void)daemon.take_frames();
  send("one");
  send("two");
  EXPECT_TRUE(sent_frames().empty());
  daemon.welcome();
  EXPECT_EQ(sent_frames(), (Frames{"SEND 1", "SEND 2"}));
  send("three");
  EXPECT_EQ(sent_frames(), Frames{"SEND 3"});
}

TEST_F(LinkTest, EachMessageIsAnsweredExactlyOnce) {
  start_ready();
  send("one");
  send("two");
  ack(id(1));
  ack(id(1));
  nack(id(2), "UNKNOWN_RECIPIENT");
  nack(id(2), "UNKNOWN_RECIPIENT");
  EXPECT_EQ(program.sent, std::vector<std::string>{id(1)});
  ASSERT_EQ(program.refused.size(), 1U);
  EXPECT_EQ(program.refused[0].second, "UNKNOWN_RECIPIENT");
  EXPECT_TRUE(link->is_drained());
}

TEST_F(LinkTest, UnansweredMessagesAreResentAfterALoss) {
  start_ready();
  for (const auto* body : {"one", "two", "three"}) send(body);
  ack(id(2));
  (void)sent_frames();
  reconnect();
  daemon.welcome();
  EXPECT_EQ(sent_frames(), (Frames{"HELLO", "SEND 1", "SEND 3"}));
}

TEST_F(LinkTest, RetryableNackDelaysLaterMessages) {
  start_ready();
  for (const auto* body : {"one", "two", "three"}) send(body);
  (void)sent_frames();
  ack(id(1));
  nack(id(2), "BUSY", 300);
  nack(id(3), "BUSY", 300);
  send("four");
  EXPECT_TRUE(sent_frames().empty());
  loop.advance(Millis{299});
  EXPECT_TRUE(sent_frames().empty());
  loop.advance(Millis{1});
  EXPECT_EQ(sent_frames(), (Frames{"SEND 2", "SEND 3", "SEND 4"}));
  EXPECT_TRUE(program.refused.empty());
}

TEST_F(LinkTest, WritesNoMoreThanTheSocketAccepts) {
  start_ready();
  daemon.slow_bytes = 1;
  const std::string large(100'000, 'x');
  for (int i = 0; i < 20; ++i) send(large);
  EXPECT_LE(sent_frames().size(), kMaxUnsentBytes / large.size() + 1);
  daemon.read_all();
  EXPECT_FALSE(sent_frames().empty());
}

TEST_F(LinkTest, WithoutAnEpochUnansweredMessagesAreBounded) {
  Outbox plain{Numbering::RandomIds, {}, random};
  link = std::make_unique<Link>(loop, daemon, random, plain, options, program);
  link->start();
  daemon.welcome();
  (void)daemon.take_frames();
  for (std::size_t i = 0; i < kMaxUnansweredWithoutEpoch + 50; ++i) (void)link->send({"Bob", "{}"});
  const auto frames = daemon.take_frames();
  EXPECT_EQ(frames.size(), kMaxUnansweredWithoutEpoch);
  ack(frames[0].id);
  EXPECT_EQ(daemon.take_frames().size(), 1U);
}

TEST_F(LinkTest, ResponseIsMatchedByIdOrReplyTo) {
  start_ready();
  std::vector<std::string> answers;
  const auto remember = [&](Result<const protocol::Envelope*> answer) {
    answers.push_back(answer ? std::string{protocol::name_of((*answer)->type)} : answer.error().message());
  };
  link->request(MessageType::Status, "{}", remember);
  link->request(MessageType::Release, R"({"name":"x"})", remember);
  link->request(MessageType::Inbox, "{}", remember);
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 3U);
  daemon.send(MessageType::StatusResponse, frames[0].id, "{}");
  daemon.send(MessageType::ReleaseResult, "other", format(R"({{"replyTo":"{}","success":false}})", frames[1].id));
  EXPECT_EQ(answers, (std::vector<std::string>{"STATUS_RESPONSE", "RELEASE_RESULT"}));
  loop.advance(kRequestTimeout);
  ASSERT_EQ(answers.size(), 3U);
  EXPECT_NE(answers[2].find("did not respond"), std::string::npos);
}

TEST_F(LinkTest, OpenRequestFailsOnDisconnect) {
  start_ready();
  std::optional<Error> error;
  link->request(MessageType::Status, "{}", [&](auto answer) { error = answer.error(); });
  daemon.disconnect();
  ASSERT_TRUE(error);
  EXPECT_TRUE(is(*error, Errc::Lost));
  link->request(MessageType::Status, "{}", [&](auto answer) { error = answer.error(); });
  EXPECT_TRUE(is(*error, Errc::NotReady));
}

TEST_F(LinkTest, ReasonOfByeIsReported) {
  start_ready();
  daemon.send(MessageType::Bye, "b", format(R"({{"reason":"{}"}})", protocol::kWorkspaceClosed));
  ASSERT_EQ(program.lost.size(), 1U);
  EXPECT_EQ(program.lost[0], protocol::kWorkspaceClosed);
}

TEST_F(LinkTest, StopSendsByeAndNoCallbackFollows) {
  start_ready();
  link->stop();
  EXPECT_EQ(sent_frames(), Frames{"BYE"});
  loop.advance(Millis{60'000});
  EXPECT_EQ(daemon.connects, 1);
  EXPECT_TRUE(program.lost.empty());
  EXPECT_FALSE(link->send_frame(MessageType::Log, "{}"));
}

TEST_F(LinkTest, RetryNowConnectsAtOnce) {
  start_ready();
  daemon.disconnect();
  EXPECT_EQ(daemon.connects, 1);
  link->retry_now();
  loop.run_now();
  EXPECT_EQ(daemon.connects, 2);
  link->retry_now();  // already connecting
  loop.run_now();
  EXPECT_EQ(daemon.connects, 2);
}

}  // namespace
}  // namespace relay::client
