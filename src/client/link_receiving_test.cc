#include "client/testing/link_fixture.h"

namespace relay::client {
namespace {

using protocol::MessageType;
using testing::Said;
struct LinkReceiving : testing::LinkFixture {};

TEST_F(LinkReceiving, HandsUpADeliveryAndAcknowledgesIt) {
  start_ready();
  deliver(1);
  ASSERT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(program.incoming[0].from, "Bob");
  EXPECT_EQ(said(), Said{"ACK d-Bob1"});
}

TEST_F(LinkReceiving, ARepetitionIsAcknowledgedAgainAndNotHandedUp) {
  start_ready();
  deliver(1);
  deliver(2);
  (void)said();
  deliver(1);
  EXPECT_EQ(program.incoming.size(), 2U);
  EXPECT_EQ(said(), Said{"ACK d-Bob1"});
}

TEST_F(LinkReceiving, RecognisesRepetitionsAcrossConnectionsAndSessions) {
  start_ready();
  deliver(1);
  reconnect();
  daemon.welcome("another session", "t9");
  deliver(1);
  deliver(2);
  EXPECT_EQ(program.incoming.size(), 2U);
}

TEST_F(LinkReceiving, TakesTheNumbersOfAStoreBegunAnewForNew) {
  start();
  daemon.welcome("s1", "t1", "store-1");
  deliver(1);
  reconnect();
  daemon.welcome("s1", "t1", "store-1");
  deliver(1);
  EXPECT_EQ(program.incoming.size(), 1U);
  reconnect();
  daemon.welcome("s2", "t2", "store-2");
  deliver(1);
  EXPECT_EQ(program.incoming.size(), 2U);
  EXPECT_EQ(link->session().store_id, "store-2");
}

TEST_F(LinkReceiving, KeepsNoPositionsOfAnotherStoreThanItStartedWith) {
  options.positions = {{"", "Bob", 4}};
  options.store_id = "store-1";
  start();
  daemon.welcome("s1", "t1", "store-2");
  deliver(1);
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, WithItsOldPositionsAlsoAcrossItsOwnLife) {
  options.positions = {{"", "Bob", 4}};
  start_ready();
  deliver(4);
  deliver(5);
  ASSERT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(program.incoming[0].seq, 5U);
  EXPECT_EQ(link->positions(), (std::vector<Position>{{"", "Bob", 5}}));
}

TEST_F(LinkReceiving, WhatIsTakenLaterIsAcknowledgedOnlyThen) {
  program.taken = Taken::Later;
  start_ready();
  deliver(1);
  deliver(1);  // the daemon grows impatient
  EXPECT_TRUE(said().empty());
  EXPECT_EQ(program.incoming.size(), 1U);
  link->acknowledge(program.incoming[0]);
  link->acknowledge(program.incoming[0]);
  EXPECT_EQ(said(), Said{"ACK d-Bob1"});
}

TEST_F(LinkReceiving, SaysTheSameEndAgainWhenItGotLost) {
  program.taken = Taken::Later;
  start_ready();
  deliver(1);
  daemon.cut();
  link->report(program.incoming[0], {.status = protocol::ReceiptStatus::Failed, .reason = "a person removed it"});
  loop.advance(Millis{200});
  daemon.welcome();
  (void)daemon.heard();
  deliver(1);
  const auto heard = daemon.heard();
  ASSERT_EQ(heard.size(), 1U);
  EXPECT_EQ(heard[0].type, "RECEIPT");
  EXPECT_EQ(string_member(heard[0].payload, "status"), "failed");
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, TakenWhileAwayItIsAcknowledgedWhenItComesAgain) {
  program.taken = Taken::Later;
  start_ready();
  deliver(1);
  daemon.cut();
  link->acknowledge(program.incoming[0]);
  loop.advance(Millis{200});
  daemon.welcome();
  (void)said();
  deliver(1);
  EXPECT_EQ(said(), Said{"ACK d-Bob1"});
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, ChannelMessagesWithADeliveryBlockAreTreatedAlike) {
  start_ready();
  for (int i = 0; i < 2; ++i)
    daemon.say(MessageType::ChannelMessage, "d-9", R"({"channel":"#general","body":"hi"})", "Bob", "",
               R"({"seq":1,"session_id":"s1"})");
  EXPECT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(said(), (Said{"ACK d-9", "ACK d-9"}));
}

TEST_F(LinkReceiving, OtherFramesGoToTheProgram) {
  start_ready();
  daemon.say(MessageType::AgentReady, "x", R"({"name":"Carol"})");
  daemon.say(MessageType::Ack, "y", R"({"ack_id":"d","correlationId":"c1","response":"OK"})", "Bob");
  EXPECT_EQ(program.frames, (std::vector{MessageType::AgentReady, MessageType::Ack}));
}

TEST_F(LinkReceiving, AnUnknownTypeIsIgnored) {
  start_ready();
  std::string bytes;
  protocol::append_frame(bytes, protocol::HeaderStyle::Four, R"({"v":1,"type":"FUTURE","id":"f","ts":1,"payload":{}})");
  daemon.say_bytes(bytes);
  EXPECT_TRUE(link->ready());
}

TEST_F(LinkReceiving, TheProgramMayStopTheLinkInsideACallback) {
  program.when_incoming = [&] { link->stop(); };
  start_ready();
  deliver(1);
  EXPECT_EQ(link->state(), LinkState::Disconnected);
  EXPECT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(said(), Said{"BYE"});
}

}  // namespace
}  // namespace relay::client
