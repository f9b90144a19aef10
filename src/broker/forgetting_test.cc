// Names that nobody uses any more.
#include <gtest/gtest.h>

#include <algorithm>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;
using Names = std::vector<std::string>;

constexpr Millis kDay{24LL * 3600 * 1000};
constexpr auto kMonth = 30 * kDay;
constexpr auto kNever = (3'650 * kDay).count();  // nobody is asked whether it is still there

struct Forgetting : ::testing::Test {
  BrokerFixture world{{.heartbeat_ms = kNever}};

  static Names known(BrokerFixture& world) {
    Names names;
    for (const auto& entry : world.broker().roster()) names.push_back(entry.agent.name.value());
    std::ranges::sort(names);
    return names;
  }
  Names known() { return known(world); }
  static Names stored(BrokerFixture& world) {
    Names names;
    const auto snapshot = world.store().load();
    for (const auto& agent : snapshot->agents) names.push_back(agent.name.value());
    std::ranges::sort(names);
    return names;
  }
  void guest(const std::string& name, const std::string& to = "Bob") {
    const auto connection = world.connect();
    world.send(connection, "g-" + name, to, "hi", format(R"("from":"{}")", name));
    world.leave(connection);
  }
  /// What the daemon does once an hour, here with a retention of 30 days.
  void round() {
    world.broker().forget_unused(world.now().wall - kMonth.count(), world.now());
    world.settle();
  }
};

TEST_F(Forgetting, UnusedNameIsForgottenAfterItsTime) {
  const auto bob = world.join_ours("Bob");
  world.leave(world.join_ours("Alice", R"("task":"long")"));
  guest("khaled");
  for (const auto& deliver : world.received(bob, "DELIVER")) world.ack(bob, deliver);
  world.pass(kMonth - kDay);
  round();
  EXPECT_EQ(known(), (Names{"Alice", "Bob", "khaled"})) << "a day too early";
  world.pass(2 * kDay);
  round();
  EXPECT_EQ(known(), Names{"Bob"});
  EXPECT_EQ(stored(world), Names{"Bob"}) << "in the store too";
  const auto snapshot = world.store().load();
  for (const auto& counts : snapshot->counts) EXPECT_EQ(counts.agent.value(), "Bob");
  world.restart();
  EXPECT_EQ(known(), Names{"Bob"});
}

TEST_F(Forgetting, NameThatIsUsedIsKept) {
  const auto person = world.join_user();
  world.join_ours("Connected");
  for (const auto* name : {"Written", "Member", "Paused", "Ruled", "Gone"}) world.leave(world.join_ours(name));
  world.pass(Millis{61'000});  // their sessions end
  world.control(person, R"("action":"policy","agent":"Ruled","rules":[{"from":"*","action":"refuse"}])");
  world.control(person, R"("action":"pause","agent":"Paused","reason":"lunch")");
  world.request(person, "CHANNEL_JOIN", R"({"channel":"#ops","member":"Member"})");
  world.pass(kMonth + kDay);
  world.send(person, "2", "Written", "hi");
  round();
  EXPECT_EQ(known(), (Names{"Connected", "Member", "Paused", "Ruled", "Written"}));
}

TEST_F(Forgetting, NameWithAYoungOutboxIsKept) {
  const auto alice = world.join("Alice", R"("capabilities":{"ack":true,"send_ack":true,"outbox":"e1"})");
  world.join_ours("Bob");
  world.send(alice, "e1-1", "Bob", "hi");
  world.leave(alice);
  world.pass(kMonth + kDay);
  round();
  EXPECT_EQ(known(), (Names{"Alice", "Bob"}));
  world.pass(60 * kDay);
  round();
  EXPECT_EQ(known(), Names{"Bob"});
}

TEST_F(Forgetting, ActiveOneShotSenderIsKept) {
  world.join_ours("Bob");
  guest("khaled");
  world.pass(kMonth);
  guest("khaled");
  world.pass(kMonth - kDay);
  round();
  EXPECT_EQ(known(), (Names{"Bob", "khaled"}));
  world.restart();
  round();
  EXPECT_EQ(known(), (Names{"Bob", "khaled"})) << "by what was stored";
}

TEST_F(Forgetting, ForgottenNameComesBackAsANewOne) {
  const auto bob = world.join_ours("Bob");
  world.leave(world.join_ours("Alice"));
  world.pass(kMonth + kDay);
  round();
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  world.send(bob, "1", "Alice", "welcome back");
  EXPECT_EQ(world.bodies(alice), Names{"welcome back"});
  world.restart();
  EXPECT_EQ(known(), (Names{"Alice", "Bob"}));
}

TEST_F(Forgetting, ManyNamesGoInSeveralCommits) {
  world.join_ours("Bob");
  for (int i = 0; i < 600; ++i) world.leave(world.join_ours(format("n{}", i)));
  world.pass(kMonth + kDay);
  world.hold_commits();
  round();
  EXPECT_EQ(known().size(), 601u - 256u);
  world.release_commits();
  EXPECT_EQ(known(), Names{"Bob"});
  EXPECT_EQ(stored(world), Names{"Bob"});
}

TEST_F(Forgetting, FailedCommitIsMadeUpForByTheNextStart) {
  world.join_ours("Bob");
  world.leave(world.join_ours("Alice"));
  world.pass(kMonth + kDay);
  world.fail_commits(true);
  round();
  world.fail_commits(false);
  world.pass(Millis{5'000});
  world.restart();
  world.pass(Millis{61'000});
  round();
  EXPECT_EQ(known(), Names{"Bob"}) << "Bob was here until a minute ago";
  EXPECT_EQ(stored(world), Names{"Bob"});
}

TEST(KnownNames, LongestUnusedIsForgottenFirstAtLimit) {
  BrokerFixture world{{.heartbeat_ms = kNever, .max_known_agents = 4}};
  const auto bob = world.join_ours("Bob");
  for (const auto* name : {"first", "second", "third"}) {
    world.leave(world.join_ours(name));
    world.pass(Millis{61'000});
  }
  EXPECT_FALSE(world.closed(world.join_ours("fourth")));
  EXPECT_EQ(Forgetting::known(world), (Names{"Bob", "fourth", "second", "third"}));
  world.send(world.connect(), "1", "Bob", "hi", R"("from":"guest")");
  EXPECT_EQ(Forgetting::known(world), (Names{"Bob", "fourth", "guest", "third"}));
  EXPECT_EQ(Forgetting::stored(world), Forgetting::known(world));
  EXPECT_EQ(world.bodies(bob), Names{"hi"});
}

TEST(KnownNames, NameThatSpokeIsKeptForTwoDaysAtTheLimit) {
  BrokerFixture world{{.heartbeat_ms = kNever, .max_known_agents = 2}};
  const auto bob = world.join_ours("Bob");
  const auto guest = [&](const std::string& name) {
    const auto connection = world.connect();
    world.send(connection, "1", "Bob", name, format(R"("from":"{}")", name));
    return world.received(connection, "ACK").size() == 1;
  };
  EXPECT_TRUE(guest("first"));
  for (const auto& deliver : world.received(bob, "DELIVER")) world.ack(bob, deliver);
  world.pass(kDay);
  EXPECT_TRUE(guest("first")) << "the same message again";
  EXPECT_TRUE(world.bodies(bob).empty());
  world.pass(2 * kDay - Millis{1'000});
  EXPECT_FALSE(guest("second"));
  world.pass(Millis{2'000});
  EXPECT_TRUE(guest("second"));
  EXPECT_EQ(Forgetting::known(world), (Names{"Bob", "second"}));
}

TEST(KnownNames, DescriptionsAreBoundedTogether) {
  BrokerFixture world{{.heartbeat_ms = kNever, .max_description_bytes = 2'000}};
  const auto described = format(R"("task":"{}")", std::string(1'000, 'x'));
  for (const auto* name : {"first", "second"}) {
    world.leave(world.join_ours(name, described));
    world.pass(Millis{61'000});
  }
  world.restart();
  world.pass(Millis{61'000});
  EXPECT_FALSE(world.closed(world.join_ours("third", described)));
  EXPECT_EQ(Forgetting::known(world), (Names{"second", "third"}));
  EXPECT_FALSE(world.closed(world.join_ours("fourth", described)));
  EXPECT_EQ(Forgetting::known(world), (Names{"fourth", "third"}));
  EXPECT_TRUE(world.closed(world.join_ours("fifth"))) << "both are in use";
}

TEST(KnownNames, FullTableOfUsedNamesIsReported) {
  BrokerFixture world{{.heartbeat_ms = kNever, .max_known_agents = 2}};
  world.join_ours("Bob");
  world.join_ours("Alice");
  const auto third = world.join_ours("Carol");
  EXPECT_TRUE(world.closed(third));
  const auto errors = world.received(third, "ERROR");
  ASSERT_EQ(errors.size(), 1u);
  EXPECT_NE(text(payload(errors[0]), "message").find("2 agents are known already"), std::string::npos);
}

}  // namespace
}  // namespace relay::broker
