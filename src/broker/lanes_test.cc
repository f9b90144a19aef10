// Which lanes are open, when they open, and the reason why one is not.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Lanes : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture);

  /// Why a message is pending, from TRACE.
  std::string pending_reason(const std::string& id) {
    const auto trace = fixture.response(alice, "TRACE", format(R"({{"id":"{}"}})", id));
    return string_field(trace.at("deliveries").as_array().at(0).as_object(), "pendingReason");
  }
};

TEST_F(Lanes, UnsupportedModeStaysPendingAndSenderIsNotified) {
  fixture.join("Bob", R"("capabilities":{"send_ack":true,"delivery":{"modes":["immediate"],"queue":true}})");
  fixture.drop_received(alice);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-message"));
  const auto receipt = fixture.first_frame(alice, "RECEIPT");
  EXPECT_EQ(receipt_summary(receipt), "deferred UNSUPPORTED");
  EXPECT_EQ(string_field(payload(receipt), "reason"), "its session does not support next-message");
  EXPECT_EQ(pending_reason("message-1"), "its session does not support next-message");
}

TEST_F(Lanes, ModeThatOpensLaterReleasesPendingDeliveries) {
  const auto bob = join_host(fixture);
  fixture.report_state(bob, "idle", R"("modes":["immediate"])");
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-tool-call"));
  fixture.report_state(bob, "active");
  EXPECT_TRUE(delivered_ids(fixture, bob).empty()) << "reported modes stay until others are reported";
  fixture.report_state(bob, "active", R"("modes":["immediate","next-tool-call"])");
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
}

TEST_F(Lanes, ClosedLaneBlocksNoOther) {
  const auto bob = join_callback(fixture);
  fixture.report_state(bob, "active");
  fixture.send(alice, "message-1", "Bob", "when idle");
  fixture.send(alice, "message-2", "Bob", "at the next message", with_mode("next-message"));
  fixture.send(alice, "message-3", "Bob", "now", with_mode("immediate"));
  EXPECT_EQ(fixture.bodies(bob), Strings{"now"});
}

TEST_F(Lanes, UrgentDeliveryIsSentFirst) {
  auto bob = join_callback(fixture);
  fixture.disconnect(bob);
  fixture.send(alice, "message-1", "Bob", "slow");
  fixture.send(alice, "message-2", "Bob", "now", with_mode("immediate"));
  fixture.send(alice, "message-3", "Bob", "fire", with_mode("on-idle", R"("priority":"urgent")"));
  bob = join_callback(fixture);
  EXPECT_EQ(fixture.bodies(bob), (Strings{"fire", "now", "slow"}));
}

TEST_F(Lanes, OnIdleDeliveryWaitsForIdleCallbackSession) {
  const auto bob = join_callback(fixture);
  fixture.send(alice, "message-0", "Bob", "no state was reported");
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
  int n = 0;
  for (const auto* busy : {"active", "starting"}) {
    for (const auto* free : {"idle", "waiting", "blocked"}) {
      const auto id = format("message-1{}", ++n);
      fixture.report_state(bob, busy);
      fixture.send(alice, id, "Bob", "hi");
      EXPECT_TRUE(delivered_ids(fixture, bob).empty()) << busy;
      EXPECT_EQ(pending_reason(id), format("its session is {}", busy));
      fixture.report_state(bob, free);
      EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u) << free;
    }
  }
}

TEST_F(Lanes, OnIdleDeliveryWaitsForReportedIdleState) {
  const auto bob = fixture.join("Bob");
  fixture.report_state(bob, "active");
  fixture.send(alice, "message-1", "Bob", "hi");
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.report_state(bob, "idle");
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
}

TEST_F(Lanes, BoundaryReleasesOnlyPendingDeliveries) {
  const auto bob = join_callback(fixture);
  fixture.report_state(bob, "active");
  fixture.send(alice, "message-1", "Bob", "early", with_mode("next-message"));
  fixture.send(alice, "message-2", "Bob", "tool", with_mode("next-tool-call"));
  EXPECT_EQ(pending_reason("message-1"), "it is pending until the session's next message");
  EXPECT_EQ(pending_reason("message-2"), "it is pending until the session's next tool call");
  fixture.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(fixture.bodies(bob), Strings{"early"});
  fixture.send(alice, "message-3", "Bob", "late", with_mode("next-message"));
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.report_state(bob, "active", R"("boundary":"tool-call")");
  EXPECT_EQ(fixture.bodies(bob), Strings{"tool"});
  fixture.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(fixture.bodies(bob), Strings{"late"});
}

TEST_F(Lanes, RetryWaitsForNextBoundary) {
  const auto bob = join_callback(fixture);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-message"));
  fixture.report_state(bob, "active", R"("boundary":"message")");
  const auto id = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, id, R"("status":"failed","retryable":true)");
  fixture.advance(1min);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(delivered_ids(fixture, bob), Strings{id});
}

TEST_F(Lanes, BoundaryDoesNotCountForNextSession) {
  auto bob = join_callback(fixture);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-message"));
  fixture.report_state(bob, "active", R"("boundary":"message")");
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
  fixture.disconnect(bob);
  bob = join_callback(fixture);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
}

TEST_F(Lanes, SessionWithQueueReceivesAllSupportedModesInAnyState) {
  const auto bob = join_host(fixture);
  fixture.report_state(bob, "active");
  for (const auto* mode : {"immediate", "next-message", "next-tool-call", "on-idle", "manual"})
    fixture.send(alice, format("message-{}", mode), "Bob", mode, with_mode(mode));
  EXPECT_EQ(fixture.bodies(bob), (Strings{"immediate", "next-message", "next-tool-call", "on-idle", "manual"}));
}

TEST_F(Lanes, TraceNamesEarlierMessagesAsReason) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-sent", "Bob", "hi");
  fixture.send_receipt(bob, delivered_ids(fixture, bob).at(0), R"("status":"accepted")");
  EXPECT_EQ(pending_reason("message-sent"), "its session has it, and earlier messages come first");
}

TEST_F(Lanes, TraceNamesPendingReason) {
  auto bob = join_callback(fixture);
  fixture.send(alice, "message-manual", "Bob", "hi", with_mode("manual"));
  EXPECT_EQ(pending_reason("message-manual"),
            "it is pending until the agent fetches it or `agent-relay flush Bob` releases it");
  fixture.send(alice, "message-sent", "Bob", "hi");
  EXPECT_EQ(pending_reason("message-sent"), "it was sent, and its session has not answered");
  const auto id = delivered_ids(fixture, bob).at(0);
  fixture.send_receipt(bob, id, R"("status":"accepted")");
  EXPECT_EQ(pending_reason("message-sent"), "its session has it");
  fixture.send_receipt(bob, id, R"("status":"deferred","reason":"a dialog is open")");
  EXPECT_EQ(pending_reason("message-sent"), "a dialog is open");
  fixture.send_receipt(bob, id, R"("status":"failed","retryable":true,"reason":"no luck")");
  EXPECT_EQ(pending_reason("message-sent"), "it will be retried: attempt 1 of 8 failed: no luck");
  fixture.disconnect(bob);
  EXPECT_EQ(pending_reason("message-manual"), "it is offline");
  bob = join_callback(fixture);
  const auto user = fixture.join_user();
  fixture.control(user, R"("action":"pause","agent":"Bob")");
  EXPECT_EQ(pending_reason("message-manual"), "it is paused by the user");
  fixture.control(user, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  fixture.send(alice, "message-held", "Bob", "hi");
  EXPECT_EQ(pending_reason("message-held"), "the policy of Bob holds it; `agent-relay flush Bob` releases it");
}

TEST_F(Lanes, PendingReasonOfManualMessageNamesFlush) {
  const auto bob = join_host(fixture);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("manual"));
  EXPECT_EQ(string_field(payload(fixture.first_frame(alice, "ACK")), "pendingReason"),
            "it is pending until the agent fetches it or `agent-relay flush Bob` releases it");
  fixture.send_receipt(bob, delivered_ids(fixture, bob).at(0), R"("status":"deferred","reason":"it is held")");
  EXPECT_EQ(pending_reason("message-1"),
            "it is pending until the agent fetches it or `agent-relay flush Bob` releases it");
}

TEST_F(Lanes, TraceShowsStateOfDelivery) {
  fixture.disconnect(join_callback(fixture));
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("next-tool-call", R"("priority":"urgent")"));
  const auto trace = fixture.response(alice, "TRACE", R"({"id":"message-1"})");
  const auto entry = trace.at("deliveries").as_array().at(0).as_object();
  EXPECT_EQ(string_field(entry, "mode"), "next-tool-call");
  EXPECT_EQ(integer_field(entry, "lane"), 7);
  EXPECT_EQ(integer_field(entry, "offlineSince"), fixture.now().wall);
}

}  // namespace
}  // namespace relay::broker
