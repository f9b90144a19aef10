#include "client/testing/link_fixture.h"

namespace relay::client {
namespace {

using protocol::MessageType;
using testing::Frames;

struct LinkEvents : testing::LinkFixture {
  std::string send_event(int n) {
    return *link->send_event(format(R"({{"event":{{"type":"item.delta","n":{}}}}})", n));
  }
  /// The frames that the daemon received: "SEND 1", "AGENT_EVENT 7" with the number in the payload.
  Frames sent_frames() {
    Frames all;
    for (const auto& frame : daemon.take_frames()) {
      const auto* event = object_member(frame.payload, "event");
      all.push_back(event == nullptr ? frame.type : format("{} {}", frame.type, *integer_member(*event, "n")));
      if (event != nullptr) last_id = frame.id;
    }
    return all;
  }
  std::string last_id;
};

TEST_F(LinkEvents, AreSentInOrderUntilAnswered) {
  start_ready();
  const auto first = send_event(1);
  send_event(2), send_event(3);
  EXPECT_EQ(sent_frames(), Frames{"AGENT_EVENT 1"});
  EXPECT_EQ(last_id, first);
  EXPECT_TRUE(link->has_pending_event(first));
  ack(first);
  EXPECT_EQ(sent_frames(), (Frames{"AGENT_EVENT 2", "AGENT_EVENT 3"}));
  EXPECT_FALSE(link->has_pending_event(first));
  EXPECT_TRUE(program.sent.empty()) << "an event is not a message";
}

TEST_F(LinkEvents, AreSentAfterConnectingAndAfterTheMessages) {
  start();
  send_event(1);
  send("x");
  daemon.welcome();
  EXPECT_EQ(sent_frames(), (Frames{"HELLO", "SEND", "AGENT_EVENT 1"}));
}

TEST_F(LinkEvents, AreResentAfterALossFromTheFirstUnanswered) {
  start_ready();
  const auto first = send_event(1);
  ack(first);
  const auto second = send_event(2);
  send_event(3);
  EXPECT_EQ(sent_frames(), (Frames{"AGENT_EVENT 1", "AGENT_EVENT 2", "AGENT_EVENT 3"}));
  reconnect();
  daemon.welcome();
  EXPECT_EQ(sent_frames(), (Frames{"HELLO", "AGENT_EVENT 2"}));
  EXPECT_EQ(last_id, second);
  ack(second);
  EXPECT_EQ(sent_frames(), Frames{"AGENT_EVENT 3"});
}

TEST_F(LinkEvents, RetryableNackIsRetriedAndFinalOneIsNot) {
  start_ready();
  const auto first = send_event(1);
  (void)sent_frames();
  nack(first, "BUSY", 200);
  send_event(2);
  EXPECT_EQ(sent_frames(), Frames{});
  loop.advance(Millis{200});
  EXPECT_EQ(sent_frames(), Frames{"AGENT_EVENT 1"});
  nack(first, "BAD_REQUEST");
  EXPECT_EQ(sent_frames(), Frames{"AGENT_EVENT 2"});
  EXPECT_EQ(link->event_counts().refused, 1U);
  EXPECT_TRUE(program.refused.empty());
}

TEST_F(LinkEvents, OldDaemonGetsOneEventOnly) {
  start_ready();
  for (int i = 1; i < 50; ++i) send_event(i);
  daemon.send(MessageType::Error, "x", R"({"code":"BAD_REQUEST","message":"a workspace does not handle AGENT_EVENT"})");
  EXPECT_EQ(sent_frames(), Frames{"AGENT_EVENT 1"});
  const auto id = send("still here");
  ack(id);
  EXPECT_EQ(program.sent, std::vector<std::string>{id});
  EXPECT_EQ(sent_frames(), Frames{"SEND"});
  link->stop();
  EXPECT_EQ(sent_frames(), Frames{"BYE"});
}

TEST_F(LinkEvents, DoNotDelayMessages) {
  start_ready();
  const auto first = send_event(0);
  ack(first);
  (void)sent_frames();
  daemon.slow_bytes = 128 * 1024;
  send_event(1);
  send("first");
  EXPECT_EQ(sent_frames(), Frames{"SEND"});
  daemon.read_all();
  EXPECT_EQ(sent_frames(), Frames{"AGENT_EVENT 1"});
}

TEST_F(LinkEvents, AreSentBeforeBye) {
  start_ready();
  const auto first = send_event(0);
  ack(first);
  for (int i = 1; i < 100; ++i) send_event(i);
  (void)sent_frames();
  link->stop();
  const auto last = sent_frames();
  ASSERT_EQ(last.size(), 99 - kMaxUnanswered + 1);
  EXPECT_EQ(last.back(), "BYE");
  EXPECT_EQ(last[last.size() - 2], "AGENT_EVENT 99");
}

}  // namespace
}  // namespace relay::client
