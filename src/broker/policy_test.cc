// Whose messages an agent takes: accept, hold, refuse, for one and for one of many.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"

namespace relay::broker {
namespace {

using namespace testing;

struct Policy : ::testing::Test {
  BrokerFixture world{no_heartbeat()};
  ConnectionId alice = join_sender(world), bob = join_host(world), carol = join_host(world, "Carol"),
               person = world.join_user();

  Frame rule(std::string_view action, std::string_view from = "Alice") {
    return world.control(
        person, format(R"("action":"policy","agent":"Bob","rules":[{{"from":"{}","action":"{}"}}])", from, action));
  }
  /// The delivery to Bob of a message.
  records::TraceEntry of_bob(const std::string& id) {
    const auto trace = world.store().trace(id);
    if (!trace) return {};
    for (const auto& entry : trace->deliveries) {
      if (entry.delivery.to.value() == "Bob") return entry;
    }
    return {};
  }
};

TEST_F(Policy, RefusesADirectMessageWithASentence) {
  rule("refuse");
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi");
  const auto nack = payload(world.received(alice, "NACK").at(0));
  EXPECT_EQ(text(nack, "code"), "REFUSED");
  EXPECT_EQ(text(nack, "message"),
            "Bob takes no messages from Alice; a person can change that with `agent-relay policy Bob`");
  world.send(carol, "message-2", "Bob", "hi");
  EXPECT_EQ(given(world, bob).size(), 1u) << "the rule is about Alice";
}

TEST_F(Policy, HoldsADirectMessageUntilItIsFlushed) {
  rule("hold", "*");
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi", in_mode("immediate"));
  const auto frames = world.received(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "ACK");
  EXPECT_EQ(receipt_word(frames.at(1)), "deferred");
  EXPECT_EQ(text(payload(frames.at(1)), "reason"), "the policy of Bob holds it");
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(world.broker().roster().at(1).held, 1u);
  EXPECT_EQ(number(world.control(person, R"("action":"flush","agent":"Bob")"), "count"), 1);
  EXPECT_EQ(given(world, bob).size(), 1u);
  EXPECT_EQ(world.broker().roster().at(1).held, 0u);
}

TEST_F(Policy, HeldDeliveryStaysHeldAcrossRestart) {
  rule("hold");
  world.send(alice, "message-1", "Bob", "hi");
  world.restart();
  bob = join_host(world);
  person = world.join_user();
  EXPECT_TRUE(given(world, bob).empty());
  world.control(person, R"("action":"flush","agent":"Bob")");
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Policy, OneOfManyWhoRefusesDoesNotKeepTheOthersFromHearing) {
  rule("refuse");
  world.received(alice);
  world.send(alice, "message-1", "*", "all");
  EXPECT_EQ(given(world, carol).size(), 1u);
  EXPECT_TRUE(given(world, bob).empty());
  const auto frames = world.received(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "ACK");
  EXPECT_EQ(number(payload(frames.at(0)), "recipients"), 1);
  EXPECT_EQ(receipt_word(frames.at(1)), "failed REFUSED");
  EXPECT_EQ(text(payload(frames.at(1)), "agent"), "Bob");
  EXPECT_EQ(text(payload(frames.at(1)), "reason"), "its policy refuses them");
  EXPECT_EQ(of_bob("message-1").delivery.state, records::DeliveryState::Failed);
}

TEST_F(Policy, HoldsWhatIsSaidToAll) {
  rule("hold");
  world.send(alice, "message-1", "*", "all");
  EXPECT_EQ(given(world, carol).size(), 1u);
  EXPECT_TRUE(given(world, bob).empty());
  EXPECT_EQ(of_bob("message-1").delivery.hold, records::Hold::Policy);
}

TEST_F(Policy, HoldsForChannelsToo) {
  for (const auto who : {alice, bob, carol}) world.request(who, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  rule("hold");
  world.received(bob);
  world.received(carol);
  world.say(alice,
            R"({"v":1,"type":"CHANNEL_MESSAGE","id":"message-1","ts":1,"payload":{"channel":"#ops","body":"hi"}})");
  EXPECT_EQ(world.received(carol, "CHANNEL_MESSAGE").size(), 1u);
  EXPECT_TRUE(world.received(bob, "CHANNEL_MESSAGE").empty());
  world.control(person, R"("action":"flush","agent":"Bob")");
  EXPECT_EQ(world.received(bob, "CHANNEL_MESSAGE").size(), 1u);
}

TEST_F(Policy, TheFirstRuleThatFitsDecidesAndLastsAcrossARestart) {
  world.control(person, R"("action":"policy","agent":"Bob","rules":[{"from":"Carol","action":"accept"},)"
                        R"({"from":"*","action":"refuse"}])");
  world.restart();
  alice = join_sender(world);
  bob = join_host(world);
  carol = join_host(world, "Carol");
  person = world.join_user();
  world.send(alice, "message-1", "Bob", "no");
  world.send(carol, "message-2", "Bob", "yes");
  EXPECT_EQ(world.bodies(bob), Texts{"yes"});
  const auto told = world.control(person, R"("action":"policy","agent":"Bob")");
  EXPECT_EQ(told.at("rules").as_array().size(), 2u);
  world.control(person, R"("action":"policy","agent":"Bob","rules":[])");
  world.send(alice, "message-3", "Bob", "now yes");
  EXPECT_EQ(world.bodies(bob), Texts{"now yes"});
}

}  // namespace
}  // namespace relay::broker
