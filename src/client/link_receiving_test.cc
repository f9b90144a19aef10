#include "client/testing/link_fixture.h"

namespace relay::client {
namespace {

using protocol::DeliveryMode;
using protocol::MessageType;
using protocol::ReceiptStatus;
using testing::Frames;

constexpr protocol::Lane kManual{DeliveryMode::Manual};

struct LinkReceiving : testing::LinkFixture {
  void deliver_in(protocol::Lane lane, std::string_view id, int seq, std::string_view more = {}) {
    daemon.send(MessageType::Deliver, id, R"({"body":"x"})", "Bob", {},
                format(R"({{"seq":{},"session_id":"s1","lane":{}{}}})", seq, protocol::lane_code(lane), more));
  }
  /// One member of each RECEIPT that was sent.
  Frames of_receipts(std::string_view member) {
    Frames all;
    for (const auto& frame : daemon.take_frames())
      if (frame.type == "RECEIPT") all.push_back(string_member(frame.payload, member).value_or(""));
    return all;
  }
  Frames statuses() { return of_receipts("status"); }
  Frames proofs() { return of_receipts("proof"); }
};

TEST_F(LinkReceiving, PassesOnADeliveryAndAcknowledgesIt) {
  start_ready();
  deliver(1);
  ASSERT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(program.incoming[0].from, "Bob");
  EXPECT_EQ(sent_frames(), Frames{"ACK d-Bob1"});
}

TEST_F(LinkReceiving, RepeatedDeliveryIsAcknowledgedAndNotPassedOn) {
  start_ready();
  deliver(1);
  deliver(2);
  (void)sent_frames();
  deliver(1);
  EXPECT_EQ(program.incoming.size(), 2U);
  EXPECT_EQ(sent_frames(), Frames{"ACK d-Bob1"});
}

TEST_F(LinkReceiving, RecognizesDuplicatesAcrossConnectionsAndSessions) {
  start_ready();
  deliver(1);
  reconnect();
  daemon.welcome("another session", "t9");
  deliver(1);
  deliver(2);
  EXPECT_EQ(program.incoming.size(), 2U);
}

TEST_F(LinkReceiving, NewStoreResetsPositions) {
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

TEST_F(LinkReceiving, PositionsOfAnotherStoreAreDropped) {
  options.positions = {{"", "Bob", 4}};
  options.store_id = "store-1";
  start();
  daemon.welcome("s1", "t1", "store-2");
  deliver(1);
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, SavedPositionsRecognizeDuplicatesAfterARestart) {
  options.positions = {{"", "Bob", 4}};
  start_ready();
  deliver(4);
  deliver(5);
  ASSERT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(program.incoming[0].seq, 5U);
  EXPECT_EQ(link->positions(), (std::vector<StreamPosition>{{"", "Bob", 5}}));
}

TEST_F(LinkReceiving, ManualAckIsSentOnRequest) {
  program.taken = AckMode::Later;
  start_ready();
  deliver(1);
  deliver(1);  // the daemon redelivers it
  EXPECT_TRUE(sent_frames().empty());
  EXPECT_EQ(program.incoming.size(), 1U);
  link->acknowledge(program.incoming[0]);
  link->acknowledge(program.incoming[0]);
  EXPECT_EQ(sent_frames(), Frames{"ACK d-Bob1"});
}

TEST_F(LinkReceiving, LostReceiptIsResent) {
  program.taken = AckMode::Later;
  start_ready();
  deliver(1);
  daemon.disconnect();
  link->report(program.incoming[0], {.status = protocol::ReceiptStatus::Failed, .reason = "the user removed it"});
  loop.advance(Millis{200});
  daemon.welcome();
  (void)daemon.take_frames();
  deliver(1);
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "RECEIPT");
  EXPECT_EQ(string_member(frames[0].payload, "status"), "failed");
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, AckWhileOfflineIsSentOnRedelivery) {
  program.taken = AckMode::Later;
  start_ready();
  deliver(1);
  daemon.disconnect();
  link->acknowledge(program.incoming[0]);
  loop.advance(Millis{200});
  daemon.welcome();
  (void)sent_frames();
  deliver(1);
  EXPECT_EQ(sent_frames(), Frames{"ACK d-Bob1"});
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, DeliveryAcknowledgedWhileOfflineIsNotPassedOnAfterAMove) {
  program.taken = AckMode::Later;
  start_ready();
  deliver_in(kManual, "d-1", 3);
  daemon.disconnect();
  link->acknowledge(program.incoming[0]);
  loop.advance(Millis{200});
  daemon.welcome();
  (void)sent_frames();
  deliver_in({}, "d-1", 8);  // flushed meanwhile
  EXPECT_EQ(program.incoming.size(), 1U);
  EXPECT_TRUE(program.moved.empty());
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].type, "ACK");
  EXPECT_EQ(frames[0].payload.at("seq").as_int64(), 8);
  link->report(program.incoming[0], {.status = ReceiptStatus::Delivered, .proof = "seen"});
  EXPECT_EQ(proofs(), Frames{"seen"}) << "a stronger proof may follow the ACK";
}

TEST_F(LinkReceiving, ChannelMessagesWithADeliveryBlockAreTracked) {
  start_ready();
  for (int i = 0; i < 2; ++i)
    daemon.send(MessageType::ChannelMessage, "d-9", R"({"channel":"#general","body":"hi"})", "Bob", "",
                R"({"seq":1,"session_id":"s1"})");
  EXPECT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(sent_frames(), (Frames{"ACK d-9", "ACK d-9"}));
}

TEST_F(LinkReceiving, OtherFramesReachTheListener) {
  start_ready();
  daemon.send(MessageType::AgentReady, "x", R"({"name":"Carol"})");
  daemon.send(MessageType::Ack, "y", R"({"ack_id":"d","correlationId":"c1","response":"OK"})", "Bob");
  EXPECT_EQ(program.frames, (std::vector{MessageType::AgentReady, MessageType::Ack}));
}

TEST_F(LinkReceiving, UnknownTypeIsIgnored) {
  start_ready();
  std::string bytes;
  protocol::append_frame(bytes, protocol::HeaderStyle::Four, R"({"v":1,"type":"FUTURE","id":"f","ts":1,"payload":{}})");
  daemon.send_bytes(bytes);
  EXPECT_TRUE(link->ready());
}

TEST_F(LinkReceiving, LinkMayBeStoppedInsideACallback) {
  program.when_incoming = [&] { link->stop(); };
  start_ready();
  deliver(1);
  EXPECT_EQ(link->state(), LinkState::Disconnected);
  EXPECT_EQ(program.incoming.size(), 1U);
  EXPECT_EQ(sent_frames(), Frames{"BYE"});
}

TEST_F(LinkReceiving, LanesAreNumberedSeparately) {
  start_ready();
  deliver(5);
  deliver_in(protocol::Lane{DeliveryMode::Immediate}, "d-now", 1);
  ASSERT_EQ(program.incoming.size(), 2U);
  EXPECT_EQ(program.incoming[1].lane.mode, DeliveryMode::Immediate);
  deliver_in(protocol::Lane{DeliveryMode::Immediate}, "d-now", 1);
  EXPECT_EQ(program.incoming.size(), 2U);
  EXPECT_EQ(link->positions(),
            (std::vector<StreamPosition>{{"", "Bob", 5}, {"", "Bob", 1, {DeliveryMode::Immediate}}}));
}

TEST_F(LinkReceiving, UnsettledDeliveryIsMovedAndNotPassedOn) {
  program.taken = AckMode::Later;
  start_ready();
  deliver_in(kManual, "d-1", 3);
  deliver_in({}, "d-1", 8);
  deliver_in({}, "d-1", 8);
  EXPECT_EQ(program.incoming.size(), 1U);
  ASSERT_EQ(program.moved.size(), 1U);
  EXPECT_EQ(program.moved[0].first.seq, 8U);
  EXPECT_EQ(program.moved[0].second, DeliveryMode::OnIdle);
  link->acknowledge(program.incoming[0]);  // with its old ref
  const auto frames = daemon.take_frames();
  ASSERT_EQ(frames.size(), 1U);
  EXPECT_EQ(frames[0].payload.at("ack_id").as_string(), "d-1");
  EXPECT_EQ(frames[0].payload.at("seq").as_int64(), 8);
}

TEST_F(LinkReceiving, ReturnedDeliveryIsSentAgainWithTheSameId) {
  program.taken = AckMode::Later;
  start_ready();
  deliver_in({}, "d-1", 1);
  link->report(program.incoming[0], {.status = ReceiptStatus::Failed, .reason = "not now", .retryable = true});
  link->report(program.incoming[0], {.status = ReceiptStatus::Delivered});  // no longer unsettled
  EXPECT_EQ(statuses(), Frames{"failed"});
  deliver_in({}, "d-1", 2, R"(,"attempt":2)");
  ASSERT_EQ(program.incoming.size(), 2U);
  EXPECT_EQ(program.incoming[1].attempt, 2U);
  link->report(program.incoming[1], {.status = ReceiptStatus::Deferred, .available_at = 99});
  deliver_in({}, "d-1", 3, R"(,"attempt":2)");
  EXPECT_EQ(program.incoming.size(), 3U);
  link->acknowledge(program.incoming[2]);
  deliver_in({}, "d-1", 3);
  EXPECT_EQ(sent_frames(), (Frames{"RECEIPT", "ACK d-1", "ACK d-1"}));
}

TEST_F(LinkReceiving, ReturnWhileOfflineIsResentOnRedelivery) {
  program.taken = AckMode::Later;
  start_ready();
  deliver_in({}, "d-1", 1);
  daemon.disconnect();
  link->report(program.incoming[0], {.status = ReceiptStatus::Failed, .retryable = true});
  loop.advance(Millis{200});
  daemon.welcome();
  (void)daemon.take_frames();
  deliver_in({}, "d-1", 1);
  EXPECT_EQ(statuses(), Frames{"failed"});
  EXPECT_EQ(program.incoming.size(), 1U);
}

TEST_F(LinkReceiving, OnlyAStrongerProofFollowsTheEnd) {
  program.taken = AckMode::Later;
  start_ready();
  deliver(1);
  const auto& ref = program.incoming[0];
  link->report(ref, {.status = ReceiptStatus::Delivered, .proof = "submitted"});
  link->report(ref, {.status = ReceiptStatus::Delivered, .proof = "written"});
  link->report(ref, {.status = ReceiptStatus::Delivered, .proof = "submitted"});
  link->report(ref, {.status = ReceiptStatus::Failed});
  link->report(ref, {.status = ReceiptStatus::Accepted});
  link->report(ref, {.status = ReceiptStatus::Delivered, .proof = "seen"});
  EXPECT_EQ(proofs(), (Frames{"submitted", "seen"}));
  deliver(1);
  EXPECT_EQ(proofs(), Frames{"seen"});
}

TEST_F(LinkReceiving, StrongerProofFoundOfflineIsSentAfterReconnecting) {
  program.taken = AckMode::Later;
  start_ready();
  deliver(1);
  link->report(program.incoming[0], {.status = ReceiptStatus::Delivered, .proof = "submitted"});
  reconnect();
  link->report(program.incoming[0], {.status = ReceiptStatus::Delivered, .proof = "seen"});
  (void)daemon.take_frames();
  daemon.welcome();
  EXPECT_EQ(proofs(), Frames{"seen"});
  reconnect();
  (void)daemon.take_frames();
  daemon.welcome();
  EXPECT_EQ(proofs(), Frames{"seen"}) << "it may have been lost with the connection";
}

TEST_F(LinkReceiving, DroppedDeliveryIsReportedAsCancelled) {
  program.taken = AckMode::Later;
  start_ready();
  deliver(1);
  (void)sent_frames();
  daemon.send(MessageType::Cancel, "c", R"({"deliveryId":"d-Bob1","reason":"not needed"})");
  daemon.send(MessageType::Cancel, "c", R"({"deliveryId":"d-Bob1","reason":"not needed"})");
  daemon.send(MessageType::Cancel, "c", R"({"deliveryId":"d-else"})");
  EXPECT_EQ(program.cancelled, Frames{"d-Bob1"});
  EXPECT_EQ(sent_frames().size(), 2u) << "each CANCEL gets the same response";
  link->report(program.incoming[0], {.status = ReceiptStatus::Delivered, .proof = "seen"});
  EXPECT_TRUE(sent_frames().empty());
}

TEST_F(LinkReceiving, UncancellableDeliveryReportsItsEnd) {
  program.taken = AckMode::Later;
  program.drops_cancelled = false;
  start_ready();
  deliver(1);
  (void)sent_frames();
  daemon.send(MessageType::Cancel, "c", R"({"deliveryId":"d-Bob1"})");
  EXPECT_TRUE(sent_frames().empty());
  link->report(program.incoming[0], {.status = ReceiptStatus::Delivered, .proof = "seen"});
  EXPECT_EQ(sent_frames().size(), 1u);
}

TEST_F(LinkReceiving, PauseReachesTheListener) {
  start_ready();
  daemon.send(MessageType::Pause, "p", R"({"paused":true,"reason":"lunch"})");
  daemon.send(MessageType::Pause, "p", R"({"paused":false})");
  EXPECT_EQ(program.pauses, (std::vector{true, false}));
}

}  // namespace
}  // namespace relay::client
