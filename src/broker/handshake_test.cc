#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using testing::body;
using testing::BrokerFixture;
using testing::payload;
using testing::text;
using Texts = std::vector<std::string>;

TEST(Broker, SendsErrorToEvictedConnection) {
  BrokerFixture world;
  const auto first = world.join("Bob");
  world.received(first);
  const auto second = world.join("Bob");
  const auto last = world.received(first, "ERROR").at(0);
  EXPECT_EQ(text(payload(last), "code"), "DUPLICATE_CONNECTION");
  EXPECT_EQ(bool_member(payload(last), "fatal"), true);
  EXPECT_TRUE(world.closed(first));
  EXPECT_EQ(world.received(second, "WELCOME").size(), 1u);
}

TEST(Broker, EndsAFightOverANameByRefusingTheNewcomer) {
  BrokerFixture world;
  ConnectionId owner = world.join("Bob");
  for (int i = 0; i < 2; ++i) owner = world.join("Bob");
  const auto refused = world.join("Bob");
  EXPECT_TRUE(world.received(refused, "WELCOME").empty());
  EXPECT_TRUE(world.closed(refused));
  EXPECT_FALSE(world.closed(owner));
  world.pass(4s);
  world.say(owner, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{}})");
  world.pass(4s);
  world.say(owner, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{}})");
  world.pass(4s);
  EXPECT_EQ(world.received(world.join("Bob"), "WELCOME").size(), 1u);
}

TEST(Broker, RefusesANameThatLooksLikeAConnectedOne) {
  BrokerFixture world;
  const auto bob = world.join("Мария");
  const auto worker = world.join("Worker1");
  const auto refused = world.join("Workerl");
  EXPECT_TRUE(world.closed(refused));
  EXPECT_EQ(text(payload(world.received(refused, "ERROR").at(0)), "message"),
            "the name 'Workerl' looks like 'Worker1'; choose one that people can tell apart");
  EXPECT_TRUE(world.closed(world.join("hurnan"))) << "it looks like human";
  EXPECT_FALSE(world.closed(world.join("Worker2")));
  EXPECT_FALSE(world.closed(bob));
  world.say(worker, R"({"v":1,"type":"BYE","id":"b","ts":1,"payload":{}})");
  world.leave(worker);
  EXPECT_FALSE(world.closed(world.join("Workerl"))) << "the name is not in use any more";
  EXPECT_TRUE(world.closed(world.join("Worker1"))) << "and belongs to the newcomer now";
}

TEST(Broker, KeepsAClaimedNameForItsOwner) {
  BrokerFixture world;
  const std::string claim = R"("session":{"claim_token":"secret"})";
  const auto owner = world.join("Host", claim);
  EXPECT_TRUE(world.closed(world.join("Host")));
  EXPECT_TRUE(world.closed(world.join("Host", R"("session":{"claim_token":"guess"})")));
  EXPECT_FALSE(world.closed(owner));
  EXPECT_FALSE(world.closed(world.join("Host", claim)));
  world.restart();
  EXPECT_TRUE(world.closed(world.join("Host")));
}

TEST(Broker, GivesAUserAsManyWindowsAsItLikes) {
  BrokerFixture world;
  const std::string user = R"("entityType":"user")";
  const auto one = world.join("Ann", user);
  const auto two = world.join("Ann", user);
  const auto bob = world.join("Bob");
  world.send(bob, "1", "Ann", "hi");
  EXPECT_EQ(world.bodies(one), Texts{"hi"});
  EXPECT_EQ(world.bodies(two), Texts{"hi"});
  EXPECT_FALSE(world.closed(one));
}

TEST(Broker, RefusesWhatIsNoHandshake) {
  BrokerFixture world;
  const auto early = world.connect();
  world.send(early, "1", "Bob", "hi");
  EXPECT_EQ(text(payload(world.received(early, "ERROR").at(0)), "code"), "BAD_REQUEST");
  world.request(early, "STATUS");
  EXPECT_EQ(world.received(early, "ERROR").size(), 1u);
  EXPECT_FALSE(world.closed(early));
  EXPECT_TRUE(world.closed(world.join("system")));
  EXPECT_TRUE(world.closed(world.join(R"(a\u0007b)")));
  EXPECT_TRUE(world.closed(world.join(std::string(10'000, 'x'))));
  const auto twice = world.join("Bob");
  world.received(twice);
  world.hello(twice, "Bob");
  EXPECT_EQ(bool_member(payload(world.received(twice, "ERROR").at(0)), "fatal"), false);
}

TEST(Broker, ClosesConnectionWithoutHello) {
  BrokerFixture world;
  const auto silent = world.connect();
  world.pass(5s);
  EXPECT_EQ(world.received(silent, "ERROR").size(), 1u);
  EXPECT_TRUE(world.closed(silent));
}

TEST(Broker, AnswersBrokenFramesWithOneSentence) {
  BrokerFixture world;
  const auto odd = world.join("Odd");
  world.received(odd);
  for (const char* frame : {"5", "[]", R"({"v":1,"type":"NONSENSE","id":"x","ts":1,"payload":{}})",
                            R"({"v":1,"type":"SEND","id":"x","ts":1})"}) {
    world.say(odd, frame);
    EXPECT_EQ(world.received(odd, "ERROR").size(), 1u) << frame;
    EXPECT_FALSE(world.closed(odd)) << frame;
  }
  world.say(odd, "{\"v\":1,");
  EXPECT_EQ(bool_member(payload(world.received(odd, "ERROR").at(0)), "fatal"), true);
  EXPECT_TRUE(world.closed(odd));
}

TEST(Broker, TakesAOneShotMessageUnderAFreeNameOnly) {
  BrokerFixture world;
  const auto bob = world.join_ours("Bob");
  const auto tool = world.connect();
  world.send(tool, "1", "Bob", "ping", R"("from":"tool")");
  EXPECT_EQ(world.received(tool, "ACK").size(), 1u);
  EXPECT_EQ(text(world.received(bob, "DELIVER").at(0), "from"), "tool");
  world.send(tool, "2", "Bob", "forged", R"("from":"Bob")");
  EXPECT_EQ(text(payload(world.received(tool, "NACK").at(0)), "code"), "NOT_OWNER");
  world.send(bob, "3", "tool", "answer");  // a sender can be answered
  EXPECT_EQ(world.received(bob, "ACK").size(), 1u);
}

TEST(Broker, ToolInsideAgentSendsByItsToken) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("session":{"claim_token":"secret"})");
  const auto bob = world.join_ours("Bob");
  const auto tool = world.connect();
  world.send(tool, "1", "Bob", "forged", R"("from":"Alice","claim_token":"guess")");
  EXPECT_EQ(text(payload(world.received(tool, "NACK").at(0)), "code"), "NOT_OWNER");
  world.send(tool, "2", "Bob", "from her shell", R"("from":"Alice","claim_token":"secret")");
  EXPECT_EQ(world.received(tool, "ACK").size(), 1u);
  const auto heard = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(text(heard, "from"), "Alice");
  EXPECT_EQ(json::serialize(heard).find("secret"), std::string::npos);
  EXPECT_FALSE(world.closed(alice));
}

TEST(Broker, ResumesByPositionOrAnswersStale) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto welcome = payload(world.received(bob, "WELCOME").at(0));
  const auto session = text(welcome, "session_id"), token = text(welcome, "resume_token");
  for (int i = 1; i <= 3; ++i) world.send(alice, format("{}", i), "Bob", format("{}", i), R"("topic":"chat")");
  world.ack(bob, world.received(bob, "DELIVER").at(0));
  world.leave(bob);
  bob = world.connect();
  const auto resume = [&](int last) {
    world.request(bob, "RESUME",
                  format(R"({{"session_id":"{}","resume_token":"{}","agent":"Bob",)"
                         R"("streams":[{{"topic":"chat","peer":"Alice","last_seq":{}}}]}})",
                         session, token, last));
  };
  resume(0);
  EXPECT_EQ(text(payload(world.received(bob, "NACK").at(0)), "code"), "STALE");
  resume(2);
  const auto frames = world.received(bob);
  EXPECT_EQ(text(frames.at(0), "type"), "SYNC");
  EXPECT_EQ(body(frames.at(1)), "3");
  EXPECT_EQ(frames.size(), 2u);
}

TEST(Broker, ResumeInATopicThatNeverHadAMessageIsStale) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto welcome = payload(world.received(bob, "WELCOME").at(0));
  world.send(alice, "1", "Bob", "hi", R"("topic":"chat")");
  world.leave(bob);
  bob = world.connect();
  const auto answer = [&](const std::string& streams) {
    world.request(bob, "RESUME",
                  format(R"({{"session_id":"{}","resume_token":"{}","agent":"Bob","streams":{}}})",
                         text(welcome, "session_id"), text(welcome, "resume_token"), streams));
    const auto frames = world.received(bob);
    return text(frames.at(0), "type") + " " + text(payload(frames.at(0)), "code");
  };
  EXPECT_EQ(answer(R"({"never":{"last_seq":4}})"), "NACK STALE");
  EXPECT_EQ(answer(R"([{"topic":"chat","peer":"Carol","last_seq":1}])"), "NACK STALE") << "Carol said nothing";
  EXPECT_EQ(answer(R"({"never":{"last_seq":0}})"), "SYNC ") << "it received nothing there, which is so";
}

TEST(Broker, ResumeWithoutPeerReplaysOrAnswersStale) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  const auto welcome = payload(world.received(bob, "WELCOME").at(0));
  for (int i = 1; i <= 3; ++i) world.send(alice, format("{}", i), "Bob", format("{}", i), R"("topic":"chat")");
  world.ack(bob, world.received(bob, "DELIVER").at(0));
  world.leave(bob);
  bob = world.connect();
  const auto resume = [&](int last) {
    world.request(
        bob, "RESUME",
        format(R"({{"session_id":"{}","resume_token":"{}","agent":"Bob","streams":{{"chat":{{"last_seq":{}}}}}}})",
               text(welcome, "session_id"), text(welcome, "resume_token"), last));
  };
  const auto refusal = [&] {
    const auto frames = world.received(bob);
    EXPECT_EQ(frames.size(), 1u) << "no SYNC";
    EXPECT_EQ(text(payload(frames.at(0)), "code"), "STALE");
    return text(payload(frames.at(0)), "message");
  };
  resume(0);
  EXPECT_NE(refusal().find("behind"), std::string::npos);
  resume(99);
  EXPECT_NE(refusal().find("ahead"), std::string::npos);
  resume(2);
  const auto frames = world.received(bob);
  EXPECT_EQ(text(frames.at(0), "type"), "SYNC");
  const auto stream = payload(frames.at(0)).at("streams").as_array().at(0).as_object();
  EXPECT_EQ(integer_member(stream, "last_seq"), 2);
  EXPECT_EQ(integer_member(stream, "server_last_seq"), 3);
  EXPECT_EQ(body(frames.at(1)), "3");
  EXPECT_EQ(frames.size(), 2u);
}

TEST(Broker, ResumeWithoutAPeerLosesNothingOfATopicWithTwoSenders) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice"), carol = world.join_ours("Carol");
  auto bob = world.join_ours("Bob");
  const auto welcome = payload(world.received(bob, "WELCOME").at(0));
  for (int i = 1; i <= 3; ++i) world.send(alice, format("{}", i), "Bob", format("a{}", i), R"("topic":"chat")");
  world.send(carol, "1", "Bob", "c1", R"("topic":"chat")");
  world.leave(bob);
  bob = world.connect();
  world.request(
      bob, "RESUME",
      format(R"({{"session_id":"{}","resume_token":"{}","agent":"Bob","streams":{{"chat":{{"last_seq":3}}}}}})",
             text(welcome, "session_id"), text(welcome, "resume_token")));
  EXPECT_EQ(world.bodies(bob).size(), 4u) << "whose position it is cannot be told";
}

TEST(Broker, PingsTheSilentAndLetsTheDeadGo) {
  BrokerFixture world;
  const auto bob = world.join("Bob");
  world.received(bob);
  world.pass(5500ms);
  EXPECT_EQ(world.received(bob, "PING").size(), 1u);
  world.say(bob, R"({"v":1,"type":"PONG","id":"p","ts":1,"payload":{"nonce":"x"}})");
  world.pass(9s);
  EXPECT_FALSE(world.closed(bob));
  world.pass(3s);
  EXPECT_TRUE(world.closed(bob));
}

TEST(Broker, UnansweredPeerGetsPingEachInterval) {
  BrokerFixture world;
  const auto bob = world.join("Bob");
  world.received(bob);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 11; ++i) {
      world.say(bob, R"({"v":1,"type":"SESSION_STATE","id":"s","ts":1,"payload":{"state":"active"}})");
      world.pass(500ms);
    }
    EXPECT_GE(world.received(bob, "PING").size(), 1u) << "a client gives up after two intervals without a byte";
  }
}

TEST(Broker, IdlePeerThatAnswersIsAskedOnceInAnInterval) {
  BrokerFixture world;
  const auto bob = world.join("Bob");
  world.received(bob);
  std::size_t pings = 0;
  for (int tick = 0; tick < 500; ++tick) {
    world.pass(100ms);
    for (const auto& ping : world.received(bob, "PING")) {
      ++pings;
      world.say(bob, format(R"({{"v":1,"type":"PONG","id":"p","ts":1,"payload":{}}})", json::serialize(payload(ping))));
    }
  }
  EXPECT_LE(pings, 10u);
  EXPECT_GE(pings, 9u);
}

TEST(Broker, SparesAPeerThatIsSlowButTakesBytes) {
  BrokerFixture world;
  const auto bob = world.join("Bob");
  for (int i = 0; i < 20; ++i) {
    world.pass(4s);
    world.broker().on_written(bob, 1000, world.now());
    world.settle();
  }
  EXPECT_FALSE(world.closed(bob));
}

TEST(Broker, BlamesItselfAndNotThePeersForALongSleep) {
  BrokerFixture world;
  const auto bob = world.join("Bob");
  world.now().steady += 60s;
  world.broker().on_tick(world.now());
  world.settle();
  EXPECT_FALSE(world.closed(bob));
}

TEST(Broker, OpensTwoWindowsOfAUserAtOnce) {
  BrokerFixture world;
  const std::string user = R"("entityType":"user")";
  const auto bob = world.join("Bob");
  world.hold_commits();
  const auto one = world.join("Ann", user);
  const auto two = world.join("Ann", user);
  EXPECT_TRUE(world.received(two, "WELCOME").empty());
  world.release_commits();
  world.send(bob, "1", "Ann", "hi");
  EXPECT_EQ(world.bodies(one).size(), 1u);
  EXPECT_EQ(world.bodies(two).size(), 1u);
}

TEST(Broker, DoesNotTakeAPositionForStreamsThatBeginLater) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice"), carol = world.join_ours("Carol");
  auto bob = world.join_ours("Bob");
  const auto welcome = payload(world.received(bob, "WELCOME").at(0));
  for (int i = 1; i <= 3; ++i) world.send(alice, format("{}", i), "Bob", format("a{}", i));
  world.leave(bob);
  bob = world.connect();
  world.request(bob, "RESUME",
                format(R"({{"session_id":"{}","resume_token":"{}","agent":"Bob",)"
                       R"("streams":{{"default":{{"last_seq":3}}}}}})",
                       text(welcome, "session_id"), text(welcome, "resume_token")));
  EXPECT_EQ(text(world.received(bob).at(0), "type"), "SYNC");
  world.send(carol, "1", "Bob", "first ever");
  EXPECT_EQ(world.bodies(bob), std::vector<std::string>{"first ever"}) << "number 1 of a stream that was not there";
}

TEST(Broker, WelcomeNamesStore) {
  BrokerFixture world;
  const auto bob = world.join_ours("Bob");
  EXPECT_EQ(text(*object_member(payload(world.received(bob, "WELCOME").at(0)), "server"), "store_id"), "memory");
}

TEST(Broker, AClaimThatLapsedDoesNotLockOutTheNextOwner) {
  BrokerFixture world{{.claim_lease_ms = 1000}};
  world.leave(world.join_ours("Alice", R"("claim_token":"first")"));
  world.pass(std::chrono::seconds{2});
  auto next = world.join_ours("Alice");
  const auto token = testing::token_of(world, next);
  ASSERT_FALSE(token.empty());
  world.leave(next);
  next = world.join_ours("Alice", testing::with_token(token));
  EXPECT_FALSE(world.closed(next));
  EXPECT_FALSE(world.received(next, "WELCOME").empty());
}

TEST(Broker, DoesNotResumeASessionWhoseAgentIsBeingRemoved) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join_ours("Bob");
  const auto welcome = world.received(bob, "WELCOME").at(0);
  world.leave(bob);
  world.hold_commits();
  world.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  const auto late = world.connect();
  world.request(late, "RESUME",
                format(R"({{"agent":"Bob","session_id":"{}","resume_token":"{}"}})",
                       text(payload(welcome), "session_id"), text(payload(welcome), "resume_token")));
  EXPECT_EQ(text(payload(world.received(late, "NACK").at(0)), "code"), "STALE");
}

}  // namespace
}  // namespace relay::broker
