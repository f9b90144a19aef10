// Names that are no longer used are forgotten: after a month, or earlier when the table is full.
#include <gtest/gtest.h>

#include <algorithm>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;

constexpr Millis kDay{24LL * 3600 * 1000};
constexpr auto kMonth = 30 * kDay;
constexpr auto kNoHeartbeat = (3'650 * kDay).count();  // no PING during a test

struct UnusedNames : ::testing::Test {
  BrokerFixture fixture{{.heartbeat_ms = kNoHeartbeat}};

  static Strings known_names(BrokerFixture& fixture) {
    Strings names;
    for (const auto& entry : fixture.broker().roster()) names.push_back(entry.agent.name.value());
    std::ranges::sort(names);
    return names;
  }
  Strings known_names() { return known_names(fixture); }
  static Strings stored_names(BrokerFixture& fixture) {
    Strings names;
    const auto snapshot = fixture.store().load();
    for (const auto& agent : snapshot->agents) names.push_back(agent.name.value());
    std::ranges::sort(names);
    return names;
  }
  void send_one_shot(const std::string& name, const std::string& to = "Bob") {
    const auto connection = fixture.connect();
    fixture.send(connection, "id-" + name, to, "hi", format(R"("from":"{}")", name));
    fixture.disconnect(connection);
  }
  /// The daemon calls this once an hour; here with a retention of 30 days.
  void forget_unused() {
    fixture.broker().forget_unused(fixture.now().wall - kMonth.count(), fixture.now());
    fixture.settle();
  }
};

TEST_F(UnusedNames, UnusedNameIsForgottenAfterRetention) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.disconnect(fixture.join_with_acks("Alice", R"("task":"long")"));
  send_one_shot("khaled");
  for (const auto& deliver : fixture.received(bob, "DELIVER")) fixture.ack(bob, deliver);
  fixture.advance(kMonth - kDay);
  forget_unused();
  EXPECT_EQ(known_names(), (Strings{"Alice", "Bob", "khaled"})) << "the retention is not over";
  fixture.advance(2 * kDay);
  forget_unused();
  EXPECT_EQ(known_names(), Strings{"Bob"});
  EXPECT_EQ(stored_names(fixture), Strings{"Bob"}) << "in the store too";
  const auto snapshot = fixture.store().load();
  for (const auto& counts : snapshot->counts) EXPECT_EQ(counts.agent.value(), "Bob");
  fixture.restart();
  EXPECT_EQ(known_names(), Strings{"Bob"});
}

TEST_F(UnusedNames, UsedNameIsKept) {
  const auto user = fixture.join_user();
  fixture.join_with_acks("Connected");
  for (const auto* name : {"Recipient", "Member", "Paused", "Ruled", "Unused"})
    fixture.disconnect(fixture.join_with_acks(name));
  fixture.advance(Millis{61'000});  // their sessions end
  fixture.control(user, R"("action":"policy","agent":"Ruled","rules":[{"from":"*","action":"refuse"}])");
  fixture.control(user, R"("action":"pause","agent":"Paused","reason":"lunch")");
  fixture.request(user, "CHANNEL_JOIN", R"({"channel":"#ops","member":"Member"})");
  fixture.advance(kMonth + kDay);
  fixture.send(user, "2", "Recipient", "hi");
  forget_unused();
  EXPECT_EQ(known_names(), (Strings{"Connected", "Member", "Paused", "Recipient", "Ruled"}));
}

TEST_F(UnusedNames, NameWithRecentOutboxIsKept) {
  const auto alice = fixture.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"outbox":"e1"})");
  fixture.join_with_acks("Bob");
  fixture.send(alice, "e1-1", "Bob", "hi");
  fixture.disconnect(alice);
  fixture.advance(kMonth + kDay);
  forget_unused();
  EXPECT_EQ(known_names(), (Strings{"Alice", "Bob"}));
  fixture.advance(60 * kDay);
  forget_unused();
  EXPECT_EQ(known_names(), Strings{"Bob"});
}

TEST_F(UnusedNames, ActiveOneShotSenderIsKept) {
  fixture.join_with_acks("Bob");
  send_one_shot("khaled");
  fixture.advance(kMonth);
  send_one_shot("khaled");
  fixture.advance(kMonth - kDay);
  forget_unused();
  EXPECT_EQ(known_names(), (Strings{"Bob", "khaled"}));
  fixture.restart();
  forget_unused();
  EXPECT_EQ(known_names(), (Strings{"Bob", "khaled"})) << "by the stored message";
}

TEST_F(UnusedNames, ForgottenNameCanJoinAgain) {
  const auto bob = fixture.join_with_acks("Bob");
  fixture.disconnect(fixture.join_with_acks("Alice"));
  fixture.advance(kMonth + kDay);
  forget_unused();
  const auto alice = fixture.join_with_acks("Alice");
  fixture.drop_received(alice);
  fixture.send(bob, "1", "Alice", "welcome back");
  EXPECT_EQ(fixture.bodies(alice), Strings{"welcome back"});
  fixture.restart();
  EXPECT_EQ(known_names(), (Strings{"Alice", "Bob"}));
}

TEST_F(UnusedNames, ManyNamesAreForgottenInSeveralCommits) {
  fixture.join_with_acks("Bob");
  for (int i = 0; i < 600; ++i) fixture.disconnect(fixture.join_with_acks(format("n{}", i)));
  fixture.advance(kMonth + kDay);
  fixture.hold_commits();
  forget_unused();
  EXPECT_EQ(known_names().size(), 601u - 256u);
  fixture.release_commits();
  EXPECT_EQ(known_names(), Strings{"Bob"});
  EXPECT_EQ(stored_names(fixture), Strings{"Bob"});
}

TEST_F(UnusedNames, FailedCommitIsRepeatedAfterRestart) {
  fixture.join_with_acks("Bob");
  fixture.disconnect(fixture.join_with_acks("Alice"));
  fixture.advance(kMonth + kDay);
  fixture.fail_commits();
  forget_unused();
  fixture.accept_commits();
  fixture.advance(Millis{5'000});
  fixture.restart();
  fixture.advance(Millis{61'000});
  forget_unused();
  EXPECT_EQ(known_names(), Strings{"Bob"}) << "Bob was connected a minute ago";
  EXPECT_EQ(stored_names(fixture), Strings{"Bob"});
}

TEST(KnownNames, LongestUnusedIsForgottenFirstAtLimit) {
  BrokerFixture fixture{{.heartbeat_ms = kNoHeartbeat, .max_agents = 4}};
  const auto bob = fixture.join_with_acks("Bob");
  for (const auto* name : {"first", "second", "third"}) {
    fixture.disconnect(fixture.join_with_acks(name));
    fixture.advance(Millis{61'000});
  }
  EXPECT_FALSE(fixture.closed(fixture.join_with_acks("fourth")));
  EXPECT_EQ(UnusedNames::known_names(fixture), (Strings{"Bob", "fourth", "second", "third"}));
  fixture.send(fixture.connect(), "1", "Bob", "hi", R"("from":"one-shot")");
  EXPECT_EQ(UnusedNames::known_names(fixture), (Strings{"Bob", "fourth", "one-shot", "third"}));
  EXPECT_EQ(UnusedNames::stored_names(fixture), UnusedNames::known_names(fixture));
  EXPECT_EQ(fixture.bodies(bob), Strings{"hi"});
}

TEST(KnownNames, NameOfSenderIsKeptForTwoDaysAtLimit) {
  BrokerFixture fixture{{.heartbeat_ms = kNoHeartbeat, .max_agents = 2}};
  const auto bob = fixture.join_with_acks("Bob");
  const auto send_as = [&](const std::string& name) {
    const auto connection = fixture.connect();
    fixture.send(connection, "1", "Bob", name, format(R"("from":"{}")", name));
    return fixture.received(connection, "ACK").size() == 1;
  };
  EXPECT_TRUE(send_as("first"));
  for (const auto& deliver : fixture.received(bob, "DELIVER")) fixture.ack(bob, deliver);
  fixture.advance(kDay);
  EXPECT_TRUE(send_as("first")) << "the same message again";
  EXPECT_TRUE(fixture.bodies(bob).empty());
  fixture.advance(2 * kDay - Millis{1'000});
  EXPECT_FALSE(send_as("second"));
  fixture.advance(Millis{2'000});
  EXPECT_TRUE(send_as("second"));
  EXPECT_EQ(UnusedNames::known_names(fixture), (Strings{"Bob", "second"}));
}

TEST(KnownNames, DescriptionsAreBoundedTogether) {
  BrokerFixture fixture{{.heartbeat_ms = kNoHeartbeat, .max_description_bytes = 2'000}};
  const auto described = format(R"("task":"{}")", std::string(1'000, 'x'));
  for (const auto* name : {"first", "second"}) {
    fixture.disconnect(fixture.join_with_acks(name, described));
    fixture.advance(Millis{61'000});
  }
  fixture.restart();
  fixture.advance(Millis{61'000});
  EXPECT_FALSE(fixture.closed(fixture.join_with_acks("third", described)));
  EXPECT_EQ(UnusedNames::known_names(fixture), (Strings{"second", "third"}));
  EXPECT_FALSE(fixture.closed(fixture.join_with_acks("fourth", described)));
  EXPECT_EQ(UnusedNames::known_names(fixture), (Strings{"fourth", "third"}));
  EXPECT_TRUE(fixture.closed(fixture.join_with_acks("fifth"))) << "both known names are in use";
}

TEST(KnownNames, FullTableOfUsedNamesIsReported) {
  BrokerFixture fixture{{.heartbeat_ms = kNoHeartbeat, .max_agents = 2}};
  fixture.join_with_acks("Bob");
  fixture.join_with_acks("Alice");
  const auto third = fixture.join_with_acks("Carol");
  EXPECT_TRUE(fixture.closed(third));
  const auto errors = fixture.received(third, "ERROR");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(string_field(payload(errors[0]), "message").find("the workspace already has 2 agents"), std::string::npos);
}

}  // namespace
}  // namespace relay::broker
