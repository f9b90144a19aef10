// The policy of a recipient: it accepts, holds or refuses messages of a sender, direct and to many.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace testing;

struct RecipientPolicy : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture), bob = join_host(fixture), carol = join_host(fixture, "Carol"),
               user = fixture.join_user();

  Frame set_rule(std::string_view action, std::string_view from = "Alice") {
    return fixture.control(
        user, format(R"("action":"policy","agent":"Bob","rules":[{{"from":"{}","action":"{}"}}])", from, action));
  }
  /// The delivery of a message to Bob.
  records::TraceEntry delivery_to_bob(const std::string& id) {
    const auto trace = fixture.store().trace(id);
    if (!trace) return {};
    for (const auto& entry : trace->deliveries) {
      if (entry.delivery.to.value() == "Bob") return entry;
    }
    return {};
  }
};

TEST_F(RecipientPolicy, RefusesDirectMessageWithReason) {
  set_rule("refuse");
  fixture.drop_received(alice);
  fixture.send(alice, "message-1", "Bob", "hi");
  const auto nack = payload(fixture.first_frame(alice, "NACK"));
  EXPECT_EQ(string_field(nack, "code"), "REFUSED");
  EXPECT_EQ(string_field(nack, "message"),
            "Bob does not accept messages from Alice; the user can change that with `agent-relay policy Bob`");
  fixture.send(carol, "message-2", "Bob", "hi");
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u) << "the rule is for Alice";
}

TEST_F(RecipientPolicy, HoldsDirectMessageUntilFlush) {
  set_rule("hold", "*");
  fixture.drop_received(alice);
  fixture.send(alice, "message-1", "Bob", "hi", with_mode("immediate"));
  const auto frames = fixture.received(alice);
  EXPECT_EQ(type_of(frames.at(0)), "ACK");
  EXPECT_EQ(receipt_summary(frames.at(1)), "deferred");
  EXPECT_EQ(string_field(payload(frames.at(1)), "reason"), "the policy of Bob holds it");
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(fixture.broker().roster().at(1).held, 1u);
  EXPECT_EQ(integer_field(fixture.control(user, R"("action":"flush","agent":"Bob")"), "count"), 1);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
  EXPECT_EQ(fixture.broker().roster().at(1).held, 0u);
}

TEST_F(RecipientPolicy, HeldDeliveryStaysHeldAcrossRestart) {
  set_rule("hold");
  fixture.send(alice, "message-1", "Bob", "hi");
  fixture.restart();
  bob = join_host(fixture);
  user = fixture.join_user();
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  fixture.control(user, R"("action":"flush","agent":"Bob")");
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
}

TEST_F(RecipientPolicy, RefusalOfOneRecipientDoesNotAffectOthers) {
  set_rule("refuse");
  fixture.drop_received(alice);
  fixture.send(alice, "message-1", "*", "all");
  EXPECT_EQ(delivered_ids(fixture, carol).size(), 1u);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  const auto frames = fixture.received(alice);
  EXPECT_EQ(type_of(frames.at(0)), "ACK");
  EXPECT_EQ(integer_field(payload(frames.at(0)), "recipients"), 1);
  EXPECT_EQ(receipt_summary(frames.at(1)), "failed REFUSED");
  EXPECT_EQ(string_field(payload(frames.at(1)), "agent"), "Bob");
  EXPECT_EQ(string_field(payload(frames.at(1)), "reason"), "its policy refuses them");
  EXPECT_EQ(delivery_to_bob("message-1").delivery.state, records::DeliveryState::Failed);
}

TEST_F(RecipientPolicy, HoldsBroadcast) {
  set_rule("hold");
  fixture.send(alice, "message-1", "*", "all");
  EXPECT_EQ(delivered_ids(fixture, carol).size(), 1u);
  EXPECT_TRUE(delivered_ids(fixture, bob).empty());
  EXPECT_EQ(delivery_to_bob("message-1").delivery.hold, records::Hold::Policy);
}

TEST_F(RecipientPolicy, HoldsChannelMessages) {
  for (const auto member : {alice, bob, carol}) fixture.request(member, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  set_rule("hold");
  fixture.drop_received(bob);
  fixture.drop_received(carol);
  fixture.request(alice, "CHANNEL_MESSAGE", R"({"channel":"#ops","body":"hi"})", "message-1");
  EXPECT_EQ(fixture.received(carol, "CHANNEL_MESSAGE").size(), 1u);
  EXPECT_TRUE(fixture.received(bob, "CHANNEL_MESSAGE").empty());
  fixture.control(user, R"("action":"flush","agent":"Bob")");
  EXPECT_EQ(fixture.received(bob, "CHANNEL_MESSAGE").size(), 1u);
}

TEST_F(RecipientPolicy, FirstMatchingRuleAppliesAlsoAfterRestart) {
  fixture.control(user, R"("action":"policy","agent":"Bob","rules":[{"from":"Carol","action":"accept"},)"
                        R"({"from":"*","action":"refuse"}])");
  fixture.restart();
  alice = join_sender(fixture);
  bob = join_host(fixture);
  carol = join_host(fixture, "Carol");
  user = fixture.join_user();
  fixture.send(alice, "message-1", "Bob", "no");
  fixture.send(carol, "message-2", "Bob", "yes");
  EXPECT_EQ(fixture.bodies(bob), Strings{"yes"});
  const auto policy = fixture.control(user, R"("action":"policy","agent":"Bob")");
  EXPECT_EQ(policy.at("rules").as_array().size(), 2u);
  fixture.control(user, R"("action":"policy","agent":"Bob","rules":[])");
  fixture.send(alice, "message-3", "Bob", "now yes");
  EXPECT_EQ(fixture.bodies(bob), Strings{"now yes"});
}

}  // namespace
}  // namespace relay::broker
