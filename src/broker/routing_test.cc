#include <gtest/gtest.h>

#include <set>

#include "broker/testing/broker_fixture.h"
#include "protocol/description_limits.h"
#include "protocol/limits.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using testing::body;
using testing::BrokerFixture;
using testing::payload;
using testing::text;
using testing::token_of;
using testing::with_token;
using Texts = std::vector<std::string>;

TEST(Broker, BroadcastsToEveryoneButTheSender) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  const auto carol = world.join("Carol", R"("entityType":"user")");
  world.send(alice, "1", "*", "hear me");
  EXPECT_TRUE(world.bodies(alice).empty());
  const auto frame = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(text(*object_member(frame, "delivery"), "originalTo"), "*");
  EXPECT_EQ(text(frame, "to"), "Bob");
  EXPECT_EQ(world.bodies(carol), Texts{"hear me"});
}

TEST(Broker, NamesTheMessageInItsAnswerAndTheFirstWhenItIsARepetition) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("capabilities":{"send_ack":true})");
  world.join("Bob");
  world.send(alice, "1", "Bob", "hello");
  world.send(alice, "1", "Bob", "hello");
  const auto answers = world.received(alice, "ACK");
  ASSERT_EQ(answers.size(), 2u);
  const auto id = text(payload(answers.at(0)), "short_id");
  EXPECT_TRUE(records::key_of_short_id(id)) << id;
  EXPECT_FALSE(payload(answers.at(0)).contains("duplicate"));
  EXPECT_EQ(text(payload(answers.at(1)), "short_id"), id);
  EXPECT_EQ(bool_member(payload(answers.at(1)), "duplicate"), true);
}

TEST(Broker, CountsASessionThatWasJustLostAsAudience) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  world.leave(bob);
  world.send(alice, "1", "*", "quick");
  bob = world.join("Bob");
  EXPECT_EQ(world.bodies(bob), Texts{"quick"});
  world.leave(bob);
  world.pass(2min);
  const auto later = world.join("Dora");
  world.send(later, "2", "*", "much later");
  bob = world.join("Bob");
  EXPECT_EQ(world.bodies(bob), Texts{"quick"});  // never acknowledged; the later one was not for it
}

TEST(Broker, BroadcastsATopicToItsSubscribersAlsoAfterAResume) {
  BrokerFixture world;
  auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  const auto token = token_of(world, bob);
  const auto carol = world.join("Carol");
  world.say(bob, R"({"v":1,"type":"SUBSCRIBE","id":"s","ts":1,"topic":"review","payload":{}})");
  world.send(alice, "1", "*", "look", R"("topic":"review")");
  EXPECT_EQ(world.bodies(bob), Texts{"look"});
  EXPECT_TRUE(world.bodies(carol).empty());
  world.restart();
  alice = world.join("Alice");
  bob = world.join("Bob", with_token(token));
  world.bodies(bob);
  world.send(alice, "2", "*", "again", R"("topic":"review")");
  EXPECT_EQ(world.bodies(bob), Texts{"again"});
}

TEST(Broker, SubscriptionsAreChangedAndListedByRequest) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice"), bob = world.join_ours("Bob");
  const auto person = world.join_user();
  const auto topics = [&](ConnectionId by, const std::string& question) {
    return world.answer(by, "TOPICS", question);
  };
  EXPECT_EQ(bool_member(topics(bob, R"({"action":"subscribe","topic":"deploys"})"), "success"), true);
  EXPECT_EQ(bool_member(topics(person, R"({"action":"subscribe","topic":"deploys","agent":"Alice"})"), "success"),
            true);
  const auto all = topics(person, "{}");
  ASSERT_EQ(all.at("topics").as_array().size(), 1u);
  EXPECT_EQ(json::serialize(all.at("topics").as_array()[0]), R"({"name":"deploys","subscribers":["Alice","Bob"]})");
  EXPECT_EQ(text(topics(alice, R"({"action":"subscribe","topic":"x","agent":"Bob"})"), "code"), "NOT_OWNER");
  EXPECT_EQ(text(topics(person, R"({"action":"subscribe","topic":"x","agent":"Zoe"})"), "code"), "UNKNOWN_RECIPIENT");
  topics(person, R"({"action":"unsubscribe","topic":"deploys","agent":"Alice"})");
  world.received(alice);
  const auto carol = world.join_ours("Carol");
  world.say(carol, R"({"v":1,"type":"SEND","id":"m1","ts":1,"to":"*","topic":"deploys","payload":{"body":"v2"}})");
  EXPECT_EQ(world.bodies(bob), std::vector<std::string>{"v2"});
  EXPECT_TRUE(world.bodies(alice).empty());
  const auto about = world.answer(person, "MESSAGES_QUERY", R"({"topic":"deploys"})");
  EXPECT_EQ(about.at("messages").as_array().size(), 1u);
  EXPECT_TRUE(world.answer(person, "MESSAGES_QUERY", R"({"topic":"other"})").at("messages").as_array().empty());
  EXPECT_EQ(world.answer(person, "INBOX", R"({"agent":"Bob","topic":"deploys"})").at("messages").as_array().size(), 1u);
}

TEST(Broker, SuggestsNearestNames) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.join("Bobby");
  world.received(alice);
  world.send(alice, "1", "Boby", "hi");
  const auto nack = world.received(alice, "NACK").at(0);
  EXPECT_EQ(text(payload(nack), "code"), "UNKNOWN_RECIPIENT");
  EXPECT_NE(text(payload(nack), "message").find("Bobby"), std::string::npos);
  const auto published = world.join("Dave");
  world.received(published);
  world.send(published, "1", "Nobody", "hi");
  EXPECT_EQ(text(payload(world.received(published, "ERROR").at(0)), "code"), "NOT_FOUND");
}

TEST(Broker, CarriesChannelMessagesToTheMembersOnly) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  const auto carol = world.join("Carol");
  for (const auto id : {alice, bob}) world.request(id, "CHANNEL_JOIN", R"({"channel":"#Dev"})");
  EXPECT_EQ(text(world.received(alice, "CHANNEL_JOIN").at(0), "from"), "Bob");
  world.request(alice, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"hi devs"})", "c1");
  const auto frame = world.received(bob, "CHANNEL_MESSAGE").at(0);
  EXPECT_EQ(text(frame, "from"), "Alice");
  EXPECT_EQ(body(frame), "hi devs");
  EXPECT_TRUE(world.received(carol, "CHANNEL_MESSAGE").empty());
  EXPECT_TRUE(world.received(alice, "CHANNEL_MESSAGE").empty());
  world.take_all_output(bob);  // published clients do not acknowledge these
  EXPECT_EQ(world.broker().roster().at(1).pending, 0u);
  world.request(carol, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"let me in"})", "c2");
  EXPECT_EQ(world.received(carol, "ERROR").size(), 1u);
}

TEST(Broker, KeepsChannelsAcrossARestart) {
  BrokerFixture world;
  world.request(world.join("Bob"), "CHANNEL_JOIN", R"({"channel":"#dev"})");
  world.restart();
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  world.request(alice, "CHANNEL_JOIN", R"({"channel":"#dev"})");
  EXPECT_EQ(world.received(bob, "CHANNEL_JOIN").size(), 1u);
}

TEST(Broker, LetsAShadowHearBothDirections) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  const auto shadow = world.join("Shade");
  world.request(shadow, "SHADOW_BIND", R"({"primaryAgent":"Alice","speakOn":["SESSION_END"]})");
  world.send(alice, "1", "Bob", "out");
  world.send(bob, "2", "Alice", "in");
  const auto frames = world.received(shadow, "DELIVER");
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(text(*object_member(payload(frames[0]), "data"), "_shadowDirection"), "outgoing");
  EXPECT_EQ(text(*object_member(payload(frames[1]), "data"), "_shadowOf"), "Alice");
  world.leave(alice);
  EXPECT_EQ(body(world.received(shadow, "DELIVER").at(0)), "SHADOW_TRIGGER:SESSION_END");
  world.request(shadow, "SHADOW_UNBIND", R"({"primaryAgent":"Alice"})");
  world.send(bob, "3", "Alice", "unseen");
  EXPECT_TRUE(world.bodies(shadow).empty());
}

TEST(Broker, ForwardsTheAnswerToABlockingMessage) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto bob = world.join("Bob");
  world.received(alice);
  const std::string sync = R"("payload_meta":{"sync":{"correlationId":"c1","timeoutMs":1000,"blocking":true}})";
  world.send(alice, "1", "Bob", "ready?", sync);
  const auto frame = world.received(bob, "DELIVER").at(0);
  world.ack(bob, frame);
  EXPECT_TRUE(world.received(alice, "ACK").empty());  // the automatic one carries no correlation id
  world.say(
      bob,
      format(
          R"({{"v":1,"type":"ACK","id":"x","ts":1,"payload":{{"ack_id":"{}","seq":1,"correlationId":"c1","response":"OK"}}}})",
          text(frame, "id")));
  const auto answer = world.received(alice, "ACK").at(0);
  EXPECT_EQ(text(answer, "from"), "Bob");
  EXPECT_EQ(text(payload(answer), "response"), "OK");
  world.send(alice, "2", "Bob", "and now?", sync);
  world.received(alice);
  world.pass(1500ms);
  EXPECT_EQ(text(payload(world.received(alice, "ERROR").at(0)), "code"), "INTERNAL");
}

TEST(Broker, HoldsVoteAndPostsResult) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join("Bob");
  const auto carol = world.join("Carol");
  world.send(alice, "1", "_consensus", R"(PROPOSE: Ship it\nTYPE: majority\nPARTICIPANTS: Bob, Carol\nTIMEOUT: 5000)");
  const auto asked = world.received(bob, "DELIVER").at(0);
  EXPECT_EQ(text(asked, "from"), "Alice");
  const auto text_of = body(asked);
  const auto begin = text_of.find("ID: ") + 4;
  const auto id = text_of.substr(begin, text_of.find('\n', begin) - begin);
  world.send(bob, "2", "_consensus", "VOTE " + id + " approve fine");
  world.send(carol, "3", "_consensus", "VOTE " + id + " approve");
  for (const auto who : {alice, bob, carol}) {
    const auto frames = world.received(who, "DELIVER");
    EXPECT_EQ(text(frames.back(), "from"), "_consensus");
    EXPECT_NE(body(frames.back()).find("APPROVED"), std::string::npos);
  }
  world.send(alice, "4", "_consensus", R"(PROPOSE: Again\nPARTICIPANTS: Bob\nTIMEOUT: 1000)");
  world.received(bob);
  world.restart();  // an open vote survives
  const auto back = world.join("Bob");
  world.pass(2s);
  EXPECT_NE(world.bodies(back).back().find("NO_CONSENSUS"), std::string::npos);
}

TEST(Broker, TakesABlockingMessageAgainAfterARetryableRefusal) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  const auto bob = world.join("Bob");
  const auto mallory = world.join("Mallory");
  world.received(alice);
  const std::string sync = R"("payload_meta":{"sync":{"correlationId":"c1","timeoutMs":9000,"blocking":true}})";
  world.fail_commits(true);
  world.send(alice, "1", "Bob", "ready?", sync);
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "STORAGE");
  world.fail_commits(false);
  world.pass(std::chrono::seconds{1});  // as long as the refusal said
  world.send(alice, "1", "Bob", "ready?", sync);
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
  const auto answer = R"({"v":1,"type":"ACK","id":"x","ts":1,"payload":{"ack_id":"d","seq":1,"correlationId":"c1"}})";
  world.say(mallory, answer);
  EXPECT_TRUE(world.received(alice, "ACK").empty());
  world.say(bob, answer);
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
}

TEST(Broker, PausesSenderOfTooManyUncommittedChanges) {
  BrokerFixture world{{.max_remembered_bytes = 100'000}};
  const auto noisy = world.join("Noisy");
  world.hold_commits();
  for (int i = 0; i < 400; ++i) {
    world.say(noisy, format(R"({{"v":1,"type":"SUBSCRIBE","id":"s","ts":1,"topic":"{}{}","payload":{{}}}})",
                            std::string(200, 't'), i));
  }
  EXPECT_TRUE(world.paused(noisy));
  world.release_commits();
  EXPECT_FALSE(world.paused(noisy));
}

TEST(Broker, SingleSenderMayFillCommitAndSeveralShareIt) {
  BrokerFixture world{{.max_uncommitted_bytes = 100'000, .shared_uncommitted_bytes = 10'000}};
  const auto noisy = world.join_ours("Noisy"), quiet = world.join_ours("Quiet");
  world.join_ours("Bob");
  const auto sent_until_paused = [&](const std::string& name) {
    world.hold_commits();
    int sent = 0;
    while (!world.paused(noisy) && sent < 1'000)
      world.send(noisy, format("{}{}", name, ++sent), "Bob", std::string(500, 'x'));
    world.release_commits();
    return sent;
  };
  world.pass(1s);
  const int alone = sent_until_paused("a");
  world.send(quiet, "one", "Bob", "hi");
  const int beside = sent_until_paused("b");
  EXPECT_GT(alone, 8 * beside);
  EXPECT_GT(beside, 1);
  EXPECT_FALSE(world.paused(quiet));
  EXPECT_FALSE(world.paused(noisy));
}

TEST(Broker, TopicsOfOneClientAreBoundedAndFreeUp) {
  BrokerFixture world{{.max_topic_streams = 10}};
  auto alice = world.join_ours("Alice");
  auto bob = world.join_ours("Bob");
  world.received(alice);
  int sent = 0;
  const auto send = [&] {
    ++sent;
    world.send(alice, format("m{}", sent), "Bob", "x", format(R"("topic":"t{}")", sent));
    const auto nacks = world.received(alice, "NACK");
    return nacks.empty() ? std::string{} : text(payload(nacks[0]), "code");
  };
  for (int i = 0; i < 10; ++i) EXPECT_EQ(send(), "");
  EXPECT_EQ(send(), "BUSY") << "ten wait to be acknowledged";
  std::set<std::string> numbers;
  const auto acknowledge = [&] {
    for (const auto& frame : world.received(bob, "DELIVER")) {
      const auto seq = integer_member(*object_member(frame, "delivery"), "seq").value_or(0);
      numbers.insert(format("{} {}", text(frame, "topic"), seq));
      world.say(bob, format(R"({{"v":1,"type":"ACK","id":"a","ts":1,"payload":{{"ack_id":"{}","seq":{}}}}})",
                            text(frame, "id"), seq));
    }
  };
  acknowledge();
  for (int round = 0; round < 10; ++round) {
    for (int i = 0; i < 5; ++i) EXPECT_EQ(send(), "") << round;
    acknowledge();
  }
  EXPECT_EQ(numbers.size(), 60u);
  world.restart();
  alice = world.join_ours("Alice");
  bob = world.join_ours("Bob");
  for (int i = 0; i < 5; ++i) EXPECT_EQ(send(), "") << "also after a restart";
  sent = 11;  // topics that were forgotten
  for (int i = 0; i < 4; ++i) {
    ++sent;
    world.send(alice, format("again{}", sent), "Bob", "x", format(R"("topic":"t{}")", sent));
  }
  acknowledge();
  EXPECT_EQ(numbers.size(), 69u) << "no number of a stream is given out twice";
}

TEST(Broker, OneSessionHasABoundedNumberOfSubscriptions) {
  BrokerFixture world;
  const auto bob = world.join_ours("Bob"), carol = world.join_ours("Carol");
  const auto subscribe = [&](ConnectionId by, std::size_t topic, std::string_view action = "subscribe") {
    return world.answer(by, "TOPICS", format(R"({{"action":"{}","topic":"t{}"}})", action, topic));
  };
  for (std::size_t topic = 0; topic < protocol::kMaxTopicsPerSession; ++topic)
    ASSERT_EQ(bool_member(subscribe(bob, topic), "success"), true) << topic;
  const auto refused = subscribe(bob, protocol::kMaxTopicsPerSession);
  EXPECT_EQ(bool_member(refused, "success"), false);
  EXPECT_EQ(text(refused, "error"), "at most 1024 topics per session; unsubscribe from one first");
  world.say(bob, R"({"v":1,"type":"SUBSCRIBE","id":"s","ts":1,"topic":"by-frame","payload":{}})");
  EXPECT_EQ(text(payload(world.received(bob, "ERROR").at(0)), "message"), text(refused, "error"));
  EXPECT_EQ(bool_member(subscribe(bob, 7), "success"), true) << "it has that one";
  EXPECT_EQ(bool_member(subscribe(carol, protocol::kMaxTopicsPerSession), "success"), true)
      << "the bound is each one's";
  subscribe(bob, 7, "unsubscribe");
  EXPECT_EQ(bool_member(subscribe(bob, protocol::kMaxTopicsPerSession), "success"), true);
}

TEST(Broker, OneSessionHasABoundedNumberOfShadowBindings) {
  BrokerFixture world;
  const auto shade = world.join_ours("Shade");
  const auto bind = [&](std::size_t primary, const std::string& type = "SHADOW_BIND") {
    world.received(shade);
    world.request(shade, type, format(R"({{"primaryAgent":"Agent{}"}})", primary));
    const auto errors = world.received(shade, "ERROR");
    return errors.empty() ? std::string{} : text(payload(errors.front()), "message");
  };
  for (std::size_t primary = 0; primary < protocol::kMaxShadowsPerSession; ++primary) ASSERT_EQ(bind(primary), "");
  EXPECT_EQ(bind(protocol::kMaxShadowsPerSession), "at most 64 shadow bindings per session; unbind one first");
  EXPECT_EQ(bind(3), "") << "it takes the place of the one it has";
  EXPECT_EQ(bind(3, "SHADOW_UNBIND"), "");
  EXPECT_EQ(bind(protocol::kMaxShadowsPerSession), "");
}

TEST(Broker, NumbersABoundedCountOfStreams) {
  BrokerFixture world{{.max_streams = 10}};
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.received(alice);
  for (int i = 1; i <= 12; ++i) world.send(alice, format("m{}", i), "Bob", "x", format(R"("topic":"t{}")", i));
  EXPECT_EQ(world.received(alice, "ACK").size(), 10u);
  world.send(alice, "again", "Bob", "x", R"("topic":"t3")");
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
}

}  // namespace
}  // namespace relay::broker
