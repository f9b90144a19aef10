// HELLO, RESUME and heartbeats: one owner per name, and what ends a connection.
#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST(Broker, SendsErrorToEvictedConnection) {
  BrokerFixture fixture;
  const auto first = fixture.join("Bob");
  fixture.drop_received(first);
  const auto second = fixture.join("Bob");
  const auto last = fixture.first_frame(first, "ERROR");
  EXPECT_EQ(code_of(last), "DUPLICATE_CONNECTION");
  EXPECT_EQ(bool_member(payload(last), "fatal"), true);
  EXPECT_TRUE(fixture.closed(first));
  EXPECT_EQ(fixture.received(second, "WELCOME").size(), 1u);
}

TEST(Broker, RefusesNewConnectionAfterRepeatedEvictions) {
  BrokerFixture fixture;
  ConnectionId owner = fixture.join("Bob");
  for (int i = 0; i < 2; ++i) owner = fixture.join("Bob");
  const auto refused = fixture.join("Bob");
  EXPECT_TRUE(fixture.received(refused, "WELCOME").empty());
  EXPECT_TRUE(fixture.closed(refused));
  EXPECT_FALSE(fixture.closed(owner));
  fixture.advance(4s);
  fixture.pong(owner);
  fixture.advance(4s);
  fixture.pong(owner);
  fixture.advance(4s);
  EXPECT_EQ(fixture.received(fixture.join("Bob"), "WELCOME").size(), 1u);
}

TEST(Broker, RefusesNameConfusableWithConnectedOne) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Мария");
  const auto worker = fixture.join("Worker1");
  const auto refused = fixture.join("Workerl");
  EXPECT_TRUE(fixture.closed(refused));
  EXPECT_EQ(string_field(payload(fixture.first_frame(refused, "ERROR")), "message"),
            "the name 'Workerl' looks like 'Worker1'; choose one that differs more clearly");
  EXPECT_TRUE(fixture.closed(fixture.join("hurnan"))) << "it looks like human";
  EXPECT_FALSE(fixture.closed(fixture.join("Worker2")));
  EXPECT_FALSE(fixture.closed(bob));
  fixture.request(worker, "BYE");
  fixture.disconnect(worker);
  EXPECT_FALSE(fixture.closed(fixture.join("Workerl"))) << "the name is no longer used";
  EXPECT_TRUE(fixture.closed(fixture.join("Worker1"))) << "Workerl owns it now";
}

TEST(Broker, KeepsClaimedNameForItsOwner) {
  BrokerFixture fixture;
  const std::string claim = R"("session":{"claim_token":"secret"})";
  const auto owner = fixture.join("Host", claim);
  EXPECT_TRUE(fixture.closed(fixture.join("Host")));
  EXPECT_TRUE(fixture.closed(fixture.join("Host", R"("session":{"claim_token":"guess"})")));
  EXPECT_FALSE(fixture.closed(owner));
  EXPECT_FALSE(fixture.closed(fixture.join("Host", claim)));
  fixture.restart();
  EXPECT_TRUE(fixture.closed(fixture.join("Host")));
}

TEST(Broker, UserMayHaveSeveralConnections) {
  BrokerFixture fixture;
  const std::string user = R"("entityType":"user")";
  const auto one = fixture.join("Ann", user);
  const auto two = fixture.join("Ann", user);
  const auto bob = fixture.join("Bob");
  fixture.send(bob, "1", "Ann", "hi");
  EXPECT_EQ(fixture.bodies(one), Strings{"hi"});
  EXPECT_EQ(fixture.bodies(two), Strings{"hi"});
  EXPECT_FALSE(fixture.closed(one));
}

TEST(Broker, RefusesInvalidHandshake) {
  BrokerFixture fixture;
  const auto early = fixture.connect();
  fixture.send(early, "1", "Bob", "hi");
  EXPECT_EQ(code_of(fixture.first_frame(early, "ERROR")), "BAD_REQUEST");
  fixture.request(early, "STATUS");
  EXPECT_EQ(fixture.received(early, "ERROR").size(), 1u);
  EXPECT_FALSE(fixture.closed(early));
  EXPECT_TRUE(fixture.closed(fixture.join("system")));
  EXPECT_TRUE(fixture.closed(fixture.join(R"(a\u0007b)")));
  EXPECT_TRUE(fixture.closed(fixture.join(std::string(10'000, 'x'))));
  const auto twice = fixture.join("Bob");
  fixture.drop_received(twice);
  fixture.hello(twice, "Bob");
  EXPECT_EQ(bool_member(payload(fixture.first_frame(twice, "ERROR")), "fatal"), false);
}

TEST(Broker, ClosesConnectionWithoutHello) {
  BrokerFixture fixture;
  const auto silent = fixture.connect();
  fixture.advance(5s);
  EXPECT_EQ(fixture.received(silent, "ERROR").size(), 1u);
  EXPECT_TRUE(fixture.closed(silent));
}

TEST(Broker, AnswersInvalidFrameWithError) {
  BrokerFixture fixture;
  const auto client = fixture.join("Client");
  fixture.drop_received(client);
  for (const char* frame : {"5", "[]", R"({"v":1,"type":"NONSENSE","id":"x","ts":1,"payload":{}})",
                            R"({"v":1,"type":"SEND","id":"x","ts":1})"}) {
    fixture.send_frame(client, frame);
    EXPECT_EQ(fixture.received(client, "ERROR").size(), 1u) << frame;
    EXPECT_FALSE(fixture.closed(client)) << frame;
  }
  fixture.send_frame(client, "{\"v\":1,");
  EXPECT_EQ(bool_member(payload(fixture.first_frame(client, "ERROR")), "fatal"), true);
  EXPECT_TRUE(fixture.closed(client));
}

TEST(Broker, AcceptsOneShotMessageOnlyUnderFreeName) {
  BrokerFixture fixture;
  const auto bob = fixture.join_with_acks("Bob");
  const auto tool = fixture.connect();
  fixture.send(tool, "1", "Bob", "ping", R"("from":"tool")");
  EXPECT_EQ(fixture.received(tool, "ACK").size(), 1u);
  EXPECT_EQ(string_field(fixture.first_frame(bob, "DELIVER"), "from"), "tool");
  fixture.send(tool, "2", "Bob", "forged", R"("from":"Bob")");
  EXPECT_EQ(code_of(fixture.first_frame(tool, "NACK")), "NOT_OWNER");
  fixture.send(bob, "3", "tool", "answer");  // its name is a recipient now
  EXPECT_EQ(fixture.received(bob, "ACK").size(), 1u);
}

TEST(Broker, ToolInsideAgentSendsByItsToken) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice", R"("session":{"claim_token":"secret"})");
  const auto bob = fixture.join_with_acks("Bob");
  const auto tool = fixture.connect();
  fixture.send(tool, "1", "Bob", "forged", R"("from":"Alice","claim_token":"guess")");
  EXPECT_EQ(code_of(fixture.first_frame(tool, "NACK")), "NOT_OWNER");
  fixture.send(tool, "2", "Bob", "from her shell", R"("from":"Alice","claim_token":"secret")");
  EXPECT_EQ(fixture.received(tool, "ACK").size(), 1u);
  const auto deliver = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(string_field(deliver, "from"), "Alice");
  EXPECT_EQ(json::serialize(deliver).find("secret"), std::string::npos);
  EXPECT_FALSE(fixture.closed(alice));
}

TEST(Broker, PingsIdlePeerAndClosesDeadOne) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Bob");
  fixture.drop_received(bob);
  fixture.advance(5500ms);
  EXPECT_EQ(fixture.received(bob, "PING").size(), 1u);
  fixture.pong(bob);
  fixture.advance(9s);
  EXPECT_FALSE(fixture.closed(bob));
  fixture.advance(3s);
  EXPECT_TRUE(fixture.closed(bob));
}

TEST(Broker, UnansweredPeerGetsPingEachInterval) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Bob");
  fixture.drop_received(bob);
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 11; ++i) {
      fixture.request(bob, "SESSION_STATE", R"({"state":"active"})");
      fixture.advance(500ms);
    }
    EXPECT_GE(fixture.received(bob, "PING").size(), 1u) << "a client gives up after two intervals without a byte";
  }
}

TEST(Broker, IdlePeerThatAnswersGetsOnePingPerInterval) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Bob");
  fixture.drop_received(bob);
  std::size_t pings = 0;
  for (int tick = 0; tick < 500; ++tick) {
    fixture.advance(100ms);
    for (const auto& ping : fixture.received(bob, "PING")) {
      ++pings;
      fixture.request(bob, "PONG", json::serialize(payload(ping)));
    }
  }
  EXPECT_LE(pings, 10u);
  EXPECT_GE(pings, 9u);
}

TEST(Broker, KeepsSlowPeerThatReadsBytes) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Bob");
  for (int i = 0; i < 20; ++i) {
    fixture.advance(4s);
    fixture.broker().on_written(bob, 1000, fixture.now());
    fixture.settle();
  }
  EXPECT_FALSE(fixture.closed(bob));
}

TEST(Broker, KeepsPeersAfterLongSuspend) {
  BrokerFixture fixture;
  const auto bob = fixture.join("Bob");
  fixture.now().steady += 60s;
  fixture.broker().on_tick(fixture.now());
  fixture.settle();
  EXPECT_FALSE(fixture.closed(bob));
}

TEST(Broker, OpensTwoConnectionsOfUserAtOnce) {
  BrokerFixture fixture;
  const std::string user = R"("entityType":"user")";
  const auto bob = fixture.join("Bob");
  fixture.hold_commits();
  const auto one = fixture.join("Ann", user);
  const auto two = fixture.join("Ann", user);
  EXPECT_TRUE(fixture.received(two, "WELCOME").empty());
  fixture.release_commits();
  fixture.send(bob, "1", "Ann", "hi");
  EXPECT_EQ(fixture.bodies(one).size(), 1u);
  EXPECT_EQ(fixture.bodies(two).size(), 1u);
}

TEST(Broker, WelcomeNamesStore) {
  BrokerFixture fixture;
  const auto bob = fixture.join_with_acks("Bob");
  EXPECT_EQ(string_field(*object_member(payload(fixture.first_frame(bob, "WELCOME")), "server"), "store_id"), "memory");
}

TEST(Broker, ExpiredClaimDoesNotBlockNextOwner) {
  BrokerFixture fixture{{.claim_lease_ms = 1000}};
  fixture.disconnect(fixture.join_with_acks("Alice", R"("claim_token":"first")"));
  fixture.advance(std::chrono::seconds{2});
  auto next = fixture.join_with_acks("Alice");
  const auto token = token_of(fixture, next);
  ASSERT_FALSE(token.empty());
  fixture.disconnect(next);
  next = fixture.join_with_acks("Alice", with_token(token));
  EXPECT_FALSE(fixture.closed(next));
  EXPECT_FALSE(fixture.received(next, "WELCOME").empty());
}

// ---------------------------------------------------------------- RESUME

/// A session of Bob that disconnects and resumes.
struct Resume : ::testing::Test {
  BrokerFixture fixture;
  ConnectionId alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  Frame welcome = payload(fixture.first_frame(bob, "WELCOME"));

  /// Alice sends `1`, `2` and `3` to Bob.
  void send_three(const std::string& more = {}) {
    for (int i = 1; i <= 3; ++i) fixture.send(alice, format("{}", i), "Bob", format("{}", i), more);
  }
  void reconnect() {
    fixture.disconnect(bob);
    bob = fixture.connect();
  }
  /// RESUME with these `streams`.
  void resume(const std::string& streams) {
    fixture.request(bob, "RESUME",
                    format(R"({{"session_id":"{}","resume_token":"{}","agent":"Bob","streams":{}}})",
                           string_field(welcome, "session_id"), string_field(welcome, "resume_token"), streams));
  }
};

TEST_F(Resume, WithPeerReplaysOrAnswersStale) {
  send_three(R"("topic":"chat")");
  fixture.ack(bob, fixture.first_frame(bob, "DELIVER"));
  reconnect();
  resume(R"([{"topic":"chat","peer":"Alice","last_seq":0}])");
  EXPECT_EQ(code_of(fixture.first_frame(bob, "NACK")), "STALE");
  resume(R"([{"topic":"chat","peer":"Alice","last_seq":2}])");
  const auto frames = fixture.received(bob);
  EXPECT_EQ(type_of(frames.at(0)), "SYNC");
  EXPECT_EQ(body(frames.at(1)), "3");
  EXPECT_EQ(frames.size(), 2u);
}

TEST_F(Resume, InTopicWithoutMessagesIsStale) {
  fixture.send(alice, "1", "Bob", "hi", R"("topic":"chat")");
  reconnect();
  const auto answer = [&](const std::string& streams) {
    resume(streams);
    const auto frames = fixture.received(bob);
    return type_of(frames.at(0)) + " " + code_of(frames.at(0));
  };
  EXPECT_EQ(answer(R"({"never":{"last_seq":4}})"), "NACK STALE");
  EXPECT_EQ(answer(R"([{"topic":"chat","peer":"Carol","last_seq":1}])"), "NACK STALE") << "Carol sent no message";
  EXPECT_EQ(answer(R"({"never":{"last_seq":0}})"), "SYNC ") << "the stream is empty";
}

TEST_F(Resume, WithoutPeerReplaysOrAnswersStale) {
  send_three(R"("topic":"chat")");
  fixture.ack(bob, fixture.first_frame(bob, "DELIVER"));
  reconnect();
  const auto resume_at = [&](int last) { resume(format(R"({{"chat":{{"last_seq":{}}}}})", last)); };
  const auto nack_message = [&] {
    const auto frames = fixture.received(bob);
    EXPECT_EQ(frames.size(), 1u) << "no SYNC";
    EXPECT_EQ(code_of(frames.at(0)), "STALE");
    return string_field(payload(frames.at(0)), "message");
  };
  resume_at(0);
  EXPECT_NE(nack_message().find("no longer has"), std::string::npos);
  resume_at(99);
  EXPECT_NE(nack_message().find("after the newest"), std::string::npos);
  resume_at(2);
  const auto frames = fixture.received(bob);
  EXPECT_EQ(type_of(frames.at(0)), "SYNC");
  const auto stream = payload(frames.at(0)).at("streams").as_array().at(0).as_object();
  EXPECT_EQ(integer_member(stream, "last_seq"), 2);
  EXPECT_EQ(integer_member(stream, "server_last_seq"), 3);
  EXPECT_EQ(body(frames.at(1)), "3");
  EXPECT_EQ(frames.size(), 2u);
}

TEST_F(Resume, WithoutPeerReplaysTopicWithTwoSenders) {
  const auto carol = fixture.join_with_acks("Carol");
  send_three(R"("topic":"chat")");
  fixture.send(carol, "1", "Bob", "c1", R"("topic":"chat")");
  reconnect();
  resume(R"({"chat":{"last_seq":3}})");
  EXPECT_EQ(fixture.bodies(bob).size(), 4u) << "the position may belong to either stream";
}

TEST_F(Resume, PositionDoesNotCountForLaterStreams) {
  const auto carol = fixture.join_with_acks("Carol");
  send_three();
  reconnect();
  resume(R"({"default":{"last_seq":3}})");
  EXPECT_EQ(type_of(fixture.received(bob).at(0)), "SYNC");
  fixture.send(carol, "1", "Bob", "first message");
  EXPECT_EQ(fixture.bodies(bob), Strings{"first message"}) << "number 1 of a new stream";
}

TEST_F(Resume, OfAgentBeingRemovedIsStale) {
  fixture.disconnect(bob);
  fixture.hold_commits();
  fixture.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  bob = fixture.connect();
  resume("[]");
  EXPECT_EQ(code_of(fixture.first_frame(bob, "NACK")), "STALE");
}

}  // namespace
}  // namespace relay::broker
