// Which lanes are open, when they open, and in words why one is not.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Gates : ::testing::Test {
  BrokerFixture world{no_heartbeat()};
  ConnectionId alice = join_sender(world);

  /// Why a message waits, as TRACE tells.
  std::string waits(const std::string& id) {
    const auto answer = world.answer(alice, "TRACE", format(R"({{"id":"{}"}})", id));
    return text(answer.at("deliveries").as_array().at(0).as_object(), "pendingReason");
  }
};

TEST_F(Gates, UnsupportedModeStaysPendingAndSenderIsNotified) {
  world.join("Bob", R"("capabilities":{"send_ack":true,"delivery":{"modes":["immediate"],"queue":true}})");
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-message"));
  const auto told = world.received(alice, "RECEIPT").at(0);
  EXPECT_EQ(receipt_word(told), "deferred UNSUPPORTED");
  EXPECT_EQ(text(payload(told), "reason"), "its session cannot do next-message");
  EXPECT_EQ(waits("message-1"), "its session cannot do next-message");
}

TEST_F(Gates, AModeThatOpensLaterLetsGoWhatWaited) {
  const auto bob = join_host(world);
  world.report_state(bob, "idle", R"("modes":["immediate"])");
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-tool-call"));
  world.report_state(bob, "active");
  EXPECT_TRUE(given(world, bob).empty()) << "modes told once hold until others are told";
  world.report_state(bob, "active", R"("modes":["immediate","next-tool-call"])");
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Gates, ClosedLaneBlocksNoOther) {
  const auto bob = join_callback(world);
  world.report_state(bob, "active");
  world.send(alice, "message-1", "Bob", "when idle");
  world.send(alice, "message-2", "Bob", "at the next message", in_mode("next-message"));
  world.send(alice, "message-3", "Bob", "now", in_mode("immediate"));
  EXPECT_EQ(world.bodies(bob), Texts{"now"});
}

TEST_F(Gates, UrgentDeliveryIsSentFirst) {
  auto bob = join_callback(world);
  world.leave(bob);
  world.send(alice, "message-1", "Bob", "slow");
  world.send(alice, "message-2", "Bob", "now", in_mode("immediate"));
  world.send(alice, "message-3", "Bob", "fire", in_mode("on-idle", R"("priority":"urgent")"));
  bob = join_callback(world);
  EXPECT_EQ(world.bodies(bob), (Texts{"fire", "now", "slow"}));
}

TEST_F(Gates, OnIdleWaitsForACallbackSessionToBeFree) {
  const auto bob = join_callback(world);
  world.send(alice, "message-0", "Bob", "nobody told a state");
  EXPECT_EQ(given(world, bob).size(), 1u);
  int n = 0;
  for (const auto* busy : {"active", "starting"}) {
    for (const auto* free : {"idle", "waiting", "blocked"}) {
      const auto id = format("message-1{}", ++n);
      world.report_state(bob, busy);
      world.send(alice, id, "Bob", "hi");
      EXPECT_TRUE(given(world, bob).empty()) << busy;
      EXPECT_EQ(waits(id), format("its session is {}", busy));
      world.report_state(bob, free);
      EXPECT_EQ(given(world, bob).size(), 1u) << free;
    }
  }
}

TEST_F(Gates, OnIdleDeliveryWaitsForReportedIdleState) {
  const auto bob = world.join("Bob");
  world.report_state(bob, "active");
  world.send(alice, "message-1", "Bob", "hi");
  EXPECT_TRUE(given(world, bob).empty());
  world.report_state(bob, "idle");
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Gates, ABoundaryIsForWhatIsThereAtThatMoment) {
  const auto bob = join_callback(world);
  world.report_state(bob, "active");
  world.send(alice, "message-1", "Bob", "early", in_mode("next-message"));
  world.send(alice, "message-2", "Bob", "tool", in_mode("next-tool-call"));
  EXPECT_EQ(waits("message-1"), "it waits for the session's next message");
  EXPECT_EQ(waits("message-2"), "it waits for the session's next tool call");
  world.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(world.bodies(bob), Texts{"early"});
  world.send(alice, "message-3", "Bob", "late", in_mode("next-message"));
  EXPECT_TRUE(given(world, bob).empty());
  world.report_state(bob, "active", R"("boundary":"tool-call")");
  EXPECT_EQ(world.bodies(bob), Texts{"tool"});
  world.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(world.bodies(bob), Texts{"late"});
}

TEST_F(Gates, AnotherTryWaitsForAnotherBoundary) {
  const auto bob = join_callback(world);
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-message"));
  world.report_state(bob, "active", R"("boundary":"message")");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, R"("status":"failed","retryable":true)");
  world.pass(1min);
  EXPECT_TRUE(given(world, bob).empty());
  world.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(given(world, bob), Texts{id});
}

TEST_F(Gates, ABoundaryMeansNothingToTheNextSession) {
  auto bob = join_callback(world);
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-message"));
  world.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(given(world, bob).size(), 1u);
  world.leave(bob);
  bob = join_callback(world);
  EXPECT_TRUE(given(world, bob).empty());
}

TEST_F(Gates, ASessionWithAQueueGetsWhatItCanDoWhateverItDoes) {
  const auto bob = join_host(world);
  world.report_state(bob, "active");
  for (const auto* mode : {"immediate", "next-message", "next-tool-call", "on-idle", "manual"})
    world.send(alice, format("message-{}", mode), "Bob", mode, in_mode(mode));
  EXPECT_EQ(world.bodies(bob), (Texts{"immediate", "next-message", "next-tool-call", "on-idle", "manual"}));
}

TEST_F(Gates, TraceNamesEarlierMessagesAsReason) {
  const auto bob = join_host(world);
  world.send(alice, "message-given", "Bob", "hi");
  world.receipt(bob, given(world, bob).at(0), R"("status":"accepted")");
  EXPECT_EQ(waits("message-given"), "its session has it, and messages before it come first");
}

TEST_F(Gates, TraceNamesPendingReason) {
  auto bob = join_callback(world);
  world.send(alice, "message-manual", "Bob", "hi", in_mode("manual"));
  EXPECT_EQ(waits("message-manual"), "it is held until the agent fetches it or `agent-relay flush Bob` lets it go");
  world.send(alice, "message-given", "Bob", "hi");
  EXPECT_EQ(waits("message-given"), "it was sent, and its session has not answered");
  const auto id = given(world, bob).at(0);
  world.receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(waits("message-given"), "its session has it");
  world.receipt(bob, id, R"("status":"deferred","reason":"a dialog is open")");
  EXPECT_EQ(waits("message-given"), "a dialog is open");
  world.receipt(bob, id, R"("status":"failed","retryable":true,"reason":"no luck")");
  EXPECT_EQ(waits("message-given"), "it is tried again later: try 1 of 8 failed: no luck");
  world.leave(bob);
  EXPECT_EQ(waits("message-manual"), "it is offline");
  bob = join_callback(world);
  const auto person = world.join_user();
  world.control(person, R"("action":"pause","agent":"Bob")");
  EXPECT_EQ(waits("message-manual"), "it is paused by a person");
  world.control(person, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  world.send(alice, "message-held", "Bob", "hi");
  EXPECT_EQ(waits("message-held"), "the policy of Bob holds it; `agent-relay flush Bob` lets it go");
}

TEST_F(Gates, ManualMessageOfHostNamesHowToRelease) {
  const auto bob = join_host(world);
  world.send(alice, "message-1", "Bob", "hi", in_mode("manual"));
  EXPECT_EQ(text(payload(world.received(alice, "ACK").at(0)), "pendingReason"),
            "it is held until the agent fetches it or `agent-relay flush Bob` lets it go");
  world.receipt(bob, given(world, bob).at(0), R"("status":"deferred","reason":"it is held")");
  EXPECT_EQ(waits("message-1"), "it is held until the agent fetches it or `agent-relay flush Bob` lets it go");
}

TEST_F(Gates, TraceShowsStateOfDelivery) {
  world.leave(join_callback(world));
  world.send(alice, "message-1", "Bob", "hi", in_mode("next-tool-call", R"("priority":"urgent")"));
  const auto trace = world.answer(alice, "TRACE", R"({"id":"message-1"})");
  const auto entry = trace.at("deliveries").as_array().at(0).as_object();
  EXPECT_EQ(text(entry, "mode"), "next-tool-call");
  EXPECT_EQ(number(entry, "lane"), 7);
  EXPECT_EQ(number(entry, "offlineSince"), world.now().wall);
}

}  // namespace
}  // namespace relay::broker
