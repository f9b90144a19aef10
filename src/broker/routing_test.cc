// Who receives a message: broadcasts, topics, channels, shadows, votes; and the limits of each sender.
#include <gtest/gtest.h>

#include <set>

#include "broker/testing/broker_fixture.h"
#include "protocol/description_limits.h"
#include "protocol/limits.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace testing;
using namespace std::chrono_literals;

TEST(Broker, BroadcastsToAllButSender) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  const auto carol = fixture.join("Carol", R"("entityType":"user")");
  fixture.send(alice, "1", "*", "to all");
  EXPECT_TRUE(fixture.bodies(alice).empty());
  const auto frame = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(string_field(delivery_block(frame), "originalTo"), "*");
  EXPECT_EQ(string_field(frame, "to"), "Bob");
  EXPECT_EQ(fixture.bodies(carol), Strings{"to all"});
}

TEST(Broker, AckHasMessageIdAlsoForDuplicate) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice", R"("capabilities":{"send_ack":true})");
  fixture.join("Bob");
  fixture.send(alice, "1", "Bob", "hello");
  fixture.send(alice, "1", "Bob", "hello");
  const auto answers = fixture.received(alice, "ACK");
  ASSERT_EQ(answers.size(), 2u);
  const auto id = string_field(payload(answers.at(0)), "short_id");
  EXPECT_TRUE(records::key_of_short_id(id)) << id;
  EXPECT_FALSE(payload(answers.at(0)).contains("duplicate"));
  EXPECT_EQ(string_field(payload(answers.at(1)), "short_id"), id);
  EXPECT_EQ(bool_member(payload(answers.at(1)), "duplicate"), true);
}

TEST(Broker, BroadcastsToSessionThatWasJustLost) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  auto bob = fixture.join("Bob");
  fixture.disconnect(bob);
  fixture.send(alice, "1", "*", "quick");
  bob = fixture.join("Bob");
  EXPECT_EQ(fixture.bodies(bob), Strings{"quick"});
  fixture.disconnect(bob);
  fixture.advance(2min);
  const auto later = fixture.join("Dora");
  fixture.send(later, "2", "*", "much later");
  bob = fixture.join("Bob");
  EXPECT_EQ(fixture.bodies(bob), Strings{"quick"});  // it was not acknowledged; the later broadcast was not for Bob
}

TEST(Broker, BroadcastsTopicToSubscribersAlsoAfterResume) {
  BrokerFixture fixture;
  auto alice = fixture.join("Alice");
  auto bob = fixture.join("Bob");
  const auto token = token_of(fixture, bob);
  const auto carol = fixture.join("Carol");
  fixture.subscribe(bob, "review");
  fixture.send(alice, "1", "*", "look", R"("topic":"review")");
  EXPECT_EQ(fixture.bodies(bob), Strings{"look"});
  EXPECT_TRUE(fixture.bodies(carol).empty());
  fixture.restart();
  alice = fixture.join("Alice");
  bob = fixture.join("Bob", with_token(token));
  fixture.drop_received(bob);
  fixture.send(alice, "2", "*", "again", R"("topic":"review")");
  EXPECT_EQ(fixture.bodies(bob), Strings{"again"});
}

TEST(Broker, SubscriptionsAreChangedAndListedByRequest) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice"), bob = fixture.join_with_acks("Bob");
  const auto user = fixture.join_user();
  const auto topics = [&](ConnectionId by, const std::string& params) {
    return fixture.response(by, "TOPICS", params);
  };
  EXPECT_EQ(bool_member(topics(bob, R"({"action":"subscribe","topic":"deploys"})"), "success"), true);
  EXPECT_EQ(bool_member(topics(user, R"({"action":"subscribe","topic":"deploys","agent":"Alice"})"), "success"), true);
  const auto all = topics(user, "{}");
  ASSERT_EQ(all.at("topics").as_array().size(), 1u);
  EXPECT_EQ(json::serialize(all.at("topics").as_array()[0]), R"({"name":"deploys","subscribers":["Alice","Bob"]})");
  EXPECT_EQ(string_field(topics(alice, R"({"action":"subscribe","topic":"x","agent":"Bob"})"), "code"), "NOT_OWNER");
  EXPECT_EQ(string_field(topics(user, R"({"action":"subscribe","topic":"x","agent":"Zoe"})"), "code"),
            "UNKNOWN_RECIPIENT");
  topics(user, R"({"action":"unsubscribe","topic":"deploys","agent":"Alice"})");
  fixture.drop_received(alice);
  const auto carol = fixture.join_with_acks("Carol");
  fixture.send(carol, "m1", "*", "v2", R"("topic":"deploys")");
  EXPECT_EQ(fixture.bodies(bob), Strings{"v2"});
  EXPECT_TRUE(fixture.bodies(alice).empty());
  const auto found = fixture.response(user, "MESSAGES_QUERY", R"({"topic":"deploys"})");
  EXPECT_EQ(found.at("messages").as_array().size(), 1u);
  EXPECT_TRUE(fixture.response(user, "MESSAGES_QUERY", R"({"topic":"other"})").at("messages").as_array().empty());
  EXPECT_EQ(fixture.response(user, "INBOX", R"({"agent":"Bob","topic":"deploys"})").at("messages").as_array().size(),
            1u);
}

TEST(Broker, RefusesSubscriptionForAgentWhoseSessionHasEnded) {
  BrokerFixture fixture;
  const auto bob = fixture.join_with_acks("Bob");
  const auto user = fixture.join_user();
  fixture.request(bob, "BYE");
  const auto refused = fixture.response(user, "TOPICS", R"({"action":"subscribe","topic":"deploys","agent":"Bob"})");
  EXPECT_EQ(string_field(refused, "code"), "BAD_REQUEST");
  EXPECT_TRUE(fixture.response(user, "TOPICS", "{}").at("topics").as_array().empty());
}

TEST(Broker, SuggestsNearestNames) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join("Bobby");
  fixture.drop_received(alice);
  fixture.send(alice, "1", "Boby", "hi");
  const auto nack = fixture.first_frame(alice, "NACK");
  EXPECT_EQ(code_of(nack), "UNKNOWN_RECIPIENT");
  EXPECT_NE(string_field(payload(nack), "message").find("Bobby"), std::string::npos);
  const auto published = fixture.join("Dave");
  fixture.drop_received(published);
  fixture.send(published, "1", "Unknown", "hi");
  EXPECT_EQ(code_of(fixture.first_frame(published, "ERROR")), "NOT_FOUND");
}

TEST(Broker, DeliversChannelMessagesOnlyToMembers) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  const auto carol = fixture.join("Carol");
  for (const auto id : {alice, bob}) fixture.request(id, "CHANNEL_JOIN", R"({"channel":"#Dev"})");
  EXPECT_EQ(string_field(fixture.first_frame(alice, "CHANNEL_JOIN"), "from"), "Bob");
  fixture.request(alice, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"hi devs"})", "c1");
  const auto frame = fixture.first_frame(bob, "CHANNEL_MESSAGE");
  EXPECT_EQ(string_field(frame, "from"), "Alice");
  EXPECT_EQ(body(frame), "hi devs");
  EXPECT_TRUE(fixture.received(carol, "CHANNEL_MESSAGE").empty());
  EXPECT_TRUE(fixture.received(alice, "CHANNEL_MESSAGE").empty());
  fixture.drain_output(bob);  // published clients do not acknowledge these
  EXPECT_EQ(fixture.broker().roster().at(1).pending, 0u);
  fixture.request(carol, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"let me in"})", "c2");
  EXPECT_EQ(fixture.received(carol, "ERROR").size(), 1u);
}

TEST(Broker, KeepsChannelsAcrossRestart) {
  BrokerFixture fixture;
  fixture.request(fixture.join("Bob"), "CHANNEL_JOIN", R"({"channel":"#dev"})");
  fixture.restart();
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  fixture.request(alice, "CHANNEL_JOIN", R"({"channel":"#dev"})");
  EXPECT_EQ(fixture.received(bob, "CHANNEL_JOIN").size(), 1u);
}

TEST(Broker, ShadowReceivesBothDirections) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  const auto shadow = fixture.join("Shade");
  fixture.request(shadow, "SHADOW_BIND", R"({"primaryAgent":"Alice","speakOn":["SESSION_END"]})");
  fixture.send(alice, "1", "Bob", "out");
  fixture.send(bob, "2", "Alice", "in");
  const auto frames = fixture.received(shadow, "DELIVER");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(string_field(*object_member(payload(frames[0]), "data"), "_shadowDirection"), "outgoing");
  EXPECT_EQ(string_field(*object_member(payload(frames[1]), "data"), "_shadowOf"), "Alice");
  fixture.disconnect(alice);
  EXPECT_EQ(body(fixture.first_frame(shadow, "DELIVER")), "SHADOW_TRIGGER:SESSION_END");
  fixture.request(shadow, "SHADOW_UNBIND", R"({"primaryAgent":"Alice"})");
  fixture.send(bob, "3", "Alice", "unseen");
  EXPECT_TRUE(fixture.bodies(shadow).empty());
}

TEST(Broker, ShadowBindingsAreListedByRequest) {
  BrokerFixture fixture;
  fixture.join("Alice");
  const auto shadow = fixture.join("Shade");
  const auto user = fixture.join_user();
  EXPECT_TRUE(fixture.response(user, "SHADOWS").at("shadows").as_array().empty());
  fixture.request(shadow, "SHADOW_BIND",
                  R"({"primaryAgent":"Alice","receiveIncoming":false,"speakOn":["SESSION_END"]})");
  EXPECT_EQ(json::serialize(fixture.response(user, "SHADOWS").at("shadows")),
            R"([{"agent":"Shade","primary":"Alice","incoming":false,"outgoing":true,"speakOn":["SESSION_END"]}])");
}

TEST(Broker, ForwardsAnswerToBlockingMessage) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto bob = fixture.join("Bob");
  fixture.drop_received(alice);
  const std::string blocking = with_blocking("c1", R"("timeoutMs":1000)");
  fixture.send(alice, "1", "Bob", "ready?", blocking);
  const auto frame = fixture.first_frame(bob, "DELIVER");
  fixture.ack(bob, frame);
  EXPECT_TRUE(fixture.received(alice, "ACK").empty());  // an automatic ACK has no correlation id
  fixture.request(
      bob, "ACK",
      format(R"({{"ack_id":"{}","seq":1,"correlationId":"c1","response":"OK"}})", string_field(frame, "id")));
  const auto answer = fixture.first_frame(alice, "ACK");
  EXPECT_EQ(string_field(answer, "from"), "Bob");
  EXPECT_EQ(string_field(payload(answer), "response"), "OK");
  fixture.send(alice, "2", "Bob", "and now?", blocking);
  fixture.drop_received(alice);
  fixture.advance(1500ms);
  EXPECT_EQ(code_of(fixture.first_frame(alice, "ERROR")), "INTERNAL");
}

TEST(Broker, HoldsVoteAndSendsResult) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join("Bob");
  const auto carol = fixture.join("Carol");
  fixture.send(alice, "1", "_consensus",
               R"(PROPOSE: Ship it\nTYPE: majority\nPARTICIPANTS: Bob, Carol\nTIMEOUT: 5000)");
  const auto proposal = fixture.first_frame(bob, "DELIVER");
  EXPECT_EQ(string_field(proposal, "from"), "Alice");
  const auto lines = body(proposal);
  const auto start = lines.find("ID: ") + 4;
  const auto id = lines.substr(start, lines.find('\n', start) - start);
  fixture.send(bob, "2", "_consensus", "VOTE " + id + " approve fine");
  fixture.send(carol, "3", "_consensus", "VOTE " + id + " approve");
  for (const auto voter : {alice, bob, carol}) {
    const auto frames = fixture.received(voter, "DELIVER");
    EXPECT_EQ(string_field(frames.back(), "from"), "_consensus");
    EXPECT_NE(body(frames.back()).find("APPROVED"), std::string::npos);
  }
  fixture.send(alice, "4", "_consensus", R"(PROPOSE: Again\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  fixture.drop_received(bob);
  fixture.restart();  // an open vote survives
  const auto rejoined = fixture.join("Bob");
  fixture.advance(2s);
  EXPECT_NE(fixture.bodies(rejoined).back().find("NO_CONSENSUS"), std::string::npos);
}

TEST(Broker, AcceptsBlockingMessageAgainAfterRetryableNack) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  const auto bob = fixture.join("Bob");
  const auto mallory = fixture.join("Mallory");
  fixture.drop_received(alice);
  const std::string blocking = with_blocking("c1", R"("timeoutMs":9000)");
  fixture.fail_commits();
  fixture.send(alice, "1", "Bob", "ready?", blocking);
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "STORAGE");
  fixture.accept_commits();
  fixture.advance(std::chrono::seconds{1});  // retry_after_ms of the NACK
  fixture.send(alice, "1", "Bob", "ready?", blocking);
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
  const auto answer = R"({"ack_id":"d","seq":1,"correlationId":"c1"})";
  fixture.request(mallory, "ACK", answer);
  EXPECT_TRUE(fixture.received(alice, "ACK").empty());
  fixture.request(bob, "ACK", answer);
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
}

TEST(Broker, PausesSenderOfTooManyUncommittedChanges) {
  BrokerFixture fixture{{.max_retried_bytes = 100'000}};
  const auto noisy = fixture.join("Noisy");
  fixture.hold_commits();
  for (int i = 0; i < 400; ++i) { fixture.subscribe(noisy, format("{}{}", std::string(200, 't'), i)); }
  EXPECT_TRUE(fixture.paused(noisy));
  fixture.release_commits();
  EXPECT_FALSE(fixture.paused(noisy));
}

TEST(Broker, SingleSenderMayFillCommitButSeveralShareIt) {
  BrokerFixture fixture{{.max_uncommitted_bytes = 100'000, .shared_uncommitted_bytes = 10'000}};
  const auto noisy = fixture.join_with_acks("Noisy"), other = fixture.join_with_acks("Other");
  fixture.join_with_acks("Bob");
  const auto sent_until_paused = [&](const std::string& name) {
    fixture.hold_commits();
    int sent = 0;
    while (!fixture.paused(noisy) && sent < 1'000)
      fixture.send(noisy, format("{}{}", name, ++sent), "Bob", std::string(500, 'x'));
    fixture.release_commits();
    return sent;
  };
  fixture.advance(1s);
  const int unshared = sent_until_paused("a");
  fixture.send(other, "one", "Bob", "hi");
  const int shared = sent_until_paused("b");
  EXPECT_GT(unshared, 8 * shared);
  EXPECT_GT(shared, 1);
  EXPECT_FALSE(fixture.paused(other));
  EXPECT_FALSE(fixture.paused(noisy));
}

TEST(Broker, TopicsOfOneClientAreBoundedAndReused) {
  BrokerFixture fixture{{.max_topic_streams = 10}};
  auto alice = fixture.join_with_acks("Alice");
  auto bob = fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  int sent = 0;
  const auto send = [&] {
    ++sent;
    fixture.send(alice, format("m{}", sent), "Bob", "x", format(R"("topic":"t{}")", sent));
    const auto nacks = fixture.received(alice, "NACK");
    return nacks.empty() ? std::string{} : code_of(nacks[0]);
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(send(), "");
  EXPECT_EQ(send(), "BUSY") << "ten topics have unacknowledged deliveries";
  std::set<std::string> numbers;
  const auto acknowledge = [&] {
    for (const auto& frame : fixture.received(bob, "DELIVER")) {
      const auto seq = integer_member(delivery_block(frame), "seq").value_or(0);
      numbers.insert(format("{} {}", string_field(frame, "topic"), seq));
      fixture.request(bob, "ACK", format(R"({{"ack_id":"{}","seq":{}}})", string_field(frame, "id"), seq));
    }
  };
  acknowledge();
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(send(), "") << round;
    acknowledge();
  }
  EXPECT_EQ(numbers.size(), 60u);
  fixture.restart();
  alice = fixture.join_with_acks("Alice");
  bob = fixture.join_with_acks("Bob");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(send(), "") << "even after a restart";
  sent = 11;  // the streams of these topics were forgotten
  for (int i = 0; i < 4; ++i) {
    ++sent;
    fixture.send(alice, format("again{}", sent), "Bob", "x", format(R"("topic":"t{}")", sent));
  }
  acknowledge();
  EXPECT_EQ(numbers.size(), 69u) << "no number of a stream is used twice";
}

TEST(Broker, OneSessionHasABoundedNumberOfSubscriptions) {
  BrokerFixture fixture;
  const auto bob = fixture.join_with_acks("Bob"), carol = fixture.join_with_acks("Carol");
  const auto subscribe = [&](ConnectionId by, std::size_t topic, std::string_view action = "subscribe") {
    return fixture.response(by, "TOPICS", format(R"({{"action":"{}","topic":"t{}"}})", action, topic));
  };
  for (std::size_t topic = 0; topic < protocol::kMaxTopicsPerSession; ++topic)
    ASSERT_EQ(bool_member(subscribe(bob, topic), "success"), true) << topic;
  const auto refused = subscribe(bob, protocol::kMaxTopicsPerSession);
  EXPECT_EQ(bool_member(refused, "success"), false);
  EXPECT_EQ(string_field(refused, "error"), "at most 1024 topics per session; unsubscribe from one first");
  fixture.subscribe(bob, "by-frame");
  EXPECT_EQ(string_field(payload(fixture.first_frame(bob, "ERROR")), "message"), string_field(refused, "error"));
  EXPECT_EQ(bool_member(subscribe(bob, 7), "success"), true) << "Bob is already subscribed to this topic";
  EXPECT_EQ(bool_member(subscribe(carol, protocol::kMaxTopicsPerSession), "success"), true)
      << "the limit is per session";
  subscribe(bob, 7, "unsubscribe");
  EXPECT_EQ(bool_member(subscribe(bob, protocol::kMaxTopicsPerSession), "success"), true);
}

TEST(Broker, OneSessionHasABoundedNumberOfShadowBindings) {
  BrokerFixture fixture;
  const auto shade = fixture.join_with_acks("Shade");
  const auto bind = [&](std::size_t primary, const std::string& type = "SHADOW_BIND") {
    fixture.drop_received(shade);
    fixture.request(shade, type, format(R"({{"primaryAgent":"Agent{}"}})", primary));
    const auto errors = fixture.received(shade, "ERROR");
    return errors.empty() ? std::string{} : string_field(payload(errors.front()), "message");
  };
  for (std::size_t primary = 0; primary < protocol::kMaxShadowsPerSession; ++primary) ASSERT_EQ(bind(primary), "");
  EXPECT_EQ(bind(protocol::kMaxShadowsPerSession), "at most 64 shadow bindings per session; unbind one first");
  EXPECT_EQ(bind(3), "") << "it replaces the binding to the same agent";
  EXPECT_EQ(bind(3, "SHADOW_UNBIND"), "");
  EXPECT_EQ(bind(protocol::kMaxShadowsPerSession), "");
}

TEST(Broker, NumberOfStreamsIsBounded) {
  BrokerFixture fixture{{.max_streams = 10}};
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  for (int i = 1; i <= 12; ++i) fixture.send(alice, format("m{}", i), "Bob", "x", format(R"("topic":"t{}")", i));
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 10u);
  fixture.send(alice, "again", "Bob", "x", R"("topic":"t3")");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
}

}  // namespace
}  // namespace relay::broker
