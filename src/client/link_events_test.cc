#include "client/testing/link_fixture.h"

namespace relay::client {
namespace {

using protocol::MessageType;
using testing::Said;

struct LinkEvents : testing::LinkFixture {
  std::string tell(int n) { return *link->send_event(format(R"({{"event":{{"type":"item.delta","n":{}}}}})", n)); }
  /// The frames that the daemon received: "SEND 1", "AGENT_EVENT 7" with the number in the payload.
  Said heard() {
    Said all;
    for (const auto& frame : daemon.heard()) {
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
  const auto first = tell(1);
  tell(2), tell(3);
  EXPECT_EQ(heard(), Said{"AGENT_EVENT 1"});
  EXPECT_EQ(last_id, first);
  EXPECT_TRUE(link->has_pending_event(first));
  ack(first);
  EXPECT_EQ(heard(), (Said{"AGENT_EVENT 2", "AGENT_EVENT 3"}));
  EXPECT_FALSE(link->has_pending_event(first));
  EXPECT_TRUE(program.sent.empty()) << "an event is no message";
}

TEST_F(LinkEvents, WaitForTheConnectionAndTheMessages) {
  start();
  tell(1);
  send("x");
  daemon.welcome();
  EXPECT_EQ(heard(), (Said{"HELLO", "SEND", "AGENT_EVENT 1"}));
}

TEST_F(LinkEvents, AreResentAfterALossFromTheFirstUnanswered) {
  start_ready();
  const auto first = tell(1);
  ack(first);
  const auto second = tell(2);
  tell(3);
  EXPECT_EQ(heard(), (Said{"AGENT_EVENT 1", "AGENT_EVENT 2", "AGENT_EVENT 3"}));
  reconnect();
  daemon.welcome();
  EXPECT_EQ(heard(), (Said{"HELLO", "AGENT_EVENT 2"}));
  EXPECT_EQ(last_id, second);
  ack(second);
  EXPECT_EQ(heard(), Said{"AGENT_EVENT 3"});
}

TEST_F(LinkEvents, RetryableNackIsRetriedAndFinalOneIsNot) {
  start_ready();
  const auto first = tell(1);
  (void)heard();
  nack(first, "BUSY", 200);
  tell(2);
  EXPECT_EQ(heard(), Said{});
  loop.advance(Millis{200});
  EXPECT_EQ(heard(), Said{"AGENT_EVENT 1"});
  nack(first, "BAD_REQUEST");
  EXPECT_EQ(heard(), Said{"AGENT_EVENT 2"});
  EXPECT_EQ(link->event_counts().refused, 1U);
  EXPECT_TRUE(program.refused.empty());
}

TEST_F(LinkEvents, OldDaemonGetsOneEventOnly) {
  start_ready();
  for (int i = 1; i < 50; ++i) tell(i);
  daemon.say(MessageType::Error, "x",
             R"({"code":"BAD_REQUEST","message":"AGENT_EVENT is not for a workspace to answer"})");
  EXPECT_EQ(heard(), Said{"AGENT_EVENT 1"});
  const auto id = send("still here");
  ack(id);
  EXPECT_EQ(program.sent, std::vector<std::string>{id});
  EXPECT_EQ(heard(), Said{"SEND"});
  link->stop();
  EXPECT_EQ(heard(), Said{"BYE"});
}

TEST_F(LinkEvents, DoNotDelayMessages) {
  start_ready();
  const auto first = tell(0);
  ack(first);
  (void)heard();
  daemon.slow_bytes = 128 * 1024;
  tell(1);
  send("first");
  EXPECT_EQ(heard(), Said{"SEND"});
  daemon.took_all();
  EXPECT_EQ(heard(), Said{"AGENT_EVENT 1"});
}

TEST_F(LinkEvents, AreSentBeforeBye) {
  start_ready();
  const auto first = tell(0);
  ack(first);
  for (int i = 1; i < 100; ++i) tell(i);
  (void)heard();
  link->stop();
  const auto last = heard();
  ASSERT_EQ(last.size(), 99 - kMaxUnanswered + 1);
  EXPECT_EQ(last.back(), "BYE");
  EXPECT_EQ(last[last.size() - 2], "AGENT_EVENT 99");
}

}  // namespace
}  // namespace relay::client
