// Being away, saying a thing once, asking and being answered, channels, and the lists people look at.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Conversations : ::testing::Test {
  World world{no_heartbeat()};
  ConnectionId alice = join_sender(world), bob = join_callback(world);

  void ask(const std::string& id, const std::string& more = {}) {
    world.say(alice, format(R"({{"v":1,"type":"SEND","id":"{}","ts":1,"to":"Bob","payload":{{"body":"how many?"{}}},)"
                            R"("payload_meta":{{"sync":{{"correlationId":"c1","blocking":true}}}}}})",
                            id, more));
  }
  /// The answer to what was asked, if it came.
  Frame answer() {
    for (const auto& frame : world.heard(alice, "ACK")) {
      if (!text(payload(frame), "correlationId").empty()) return payload(frame);
    }
    return {};
  }
};

TEST_F(Conversations, TheSenderIsToldSinceWhenSomebodyIsAway) {
  world.heard(alice);
  world.send(alice, "message-1", "Bob", "hi");
  EXPECT_FALSE(payload(world.heard(alice, "ACK").at(0)).contains("offlineSince"));
  world.leave(bob);
  const auto since = world.now().wall;
  world.pass(10s);
  world.send(alice, "message-2", "Bob", "hi");
  const auto ack = payload(world.heard(alice, "ACK").at(0));
  EXPECT_EQ(text(ack, "state"), "queued");
  EXPECT_EQ(number(ack, "offlineSince"), since);
  EXPECT_EQ(text(ack, "deliveryId"), records::delivery_id(ledger(world, "message-2").delivery.key));
}

TEST_F(Conversations, TheSenderIsToldWhySomethingDoesNotGoRightNow) {
  world.heard(alice);
  const auto waits = [&](const std::string& id, const std::string& more = {}) {
    world.send(alice, id, "Bob", "hi", more);
    return text(payload(world.heard(alice, "ACK").at(0)), "waits");
  };
  EXPECT_EQ(waits("message-1"), "");
  EXPECT_EQ(waits("message-2", in_mode("next-message")), "it waits for the session's next message");
  const auto person = world.join_person();
  world.control(person, R"("action":"pause","agent":"Bob","reason":"lunch")");
  EXPECT_EQ(waits("message-3"), "it is paused by a person: lunch");
  world.control(person, R"("action":"unpause","agent":"Bob")");
  world.control(person, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  EXPECT_EQ(waits("message-4"), "the policy of Bob holds it");
}

TEST_F(Conversations, AnAnswerThatAPersonWaitedForIsNotWaitingForThemAsWell) {
  const auto shell = world.connect();
  world.say(shell, R"({"v":1,"type":"SEND","id":"q1","ts":1,"from":"me","to":"Bob","payload":{"body":"how many?"},)"
                   R"("payload_meta":{"sync":{"correlationId":"c7","blocking":true}}})");
  world.send(bob, "the-answer-1", "me", "three", R"("payload_meta":{"replyTo":"q1"})");
  const auto entry = ledger(world, "the-answer-1");
  EXPECT_EQ(entry.delivery.state, records::DeliveryState::Delivered);
  EXPECT_EQ(entry.history.back().way, "answer");
  const auto me = world.join("me");
  EXPECT_TRUE(world.bodies(me).empty());
}

TEST_F(Conversations, QuestionsAndAnswersOfPublishedClientsAreNoLoopHoweverMany) {
  const auto carol = world.join_ours("Carol"), dave = world.join_ours("Dave");
  world.heard(carol);
  world.heard(dave);
  for (int n = 0; n < 100; ++n) {
    const auto say = [&](ConnectionId from, const std::string& to, const std::string& body) {
      world.say(from, format(R"({{"v":1,"type":"SEND","id":"{}{}","ts":1,"to":"{}","payload":)"
                             R"({{"body":"{} {}","data":{{"_correlationId":"c{}"}}}}}})",
                             to, n, to, body, n, n));
    };
    say(carol, "Dave", "q");
    say(dave, "Carol", "re q");
  }
  EXPECT_EQ(world.heard(carol, "ACK").size(), 100u);
  EXPECT_TRUE(world.heard(dave, "NACK").empty());
}

TEST_F(Conversations, WhoIsPutIntoAChannelBeforeItEverCameHearsItThen) {
  world.say(alice, R"({"v":1,"type":"CHANNEL_JOIN","id":"j1","ts":1,"payload":{"channel":"#dev"}})");
  world.say(alice, R"({"v":1,"type":"CHANNEL_JOIN","id":"j2","ts":1,"payload":{"channel":"#dev","member":"Dave"}})");
  world.say(alice, R"({"v":1,"type":"CHANNEL_MESSAGE","id":"c1","ts":1,"payload":{"channel":"#dev","body":"early"}})");
  const auto dave = world.join("Dave");
  const auto heard = world.heard(dave, "CHANNEL_MESSAGE");
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(body(heard[0]), "early");
}

TEST_F(Conversations, TheSameWishIsStoredOnce) {
  const auto wish = in_mode("on-idle", R"("idempotencyKey":"deploy-7")");
  world.send(alice, "message-1", "Bob", "deploy", wish);
  world.send(alice, "message-2", "Bob", "deploy", wish);
  EXPECT_EQ(given(world, bob).size(), 1u);
  EXPECT_EQ(world.heard(alice, "ACK").size(), 2u);
  const auto carol = join_sender(world, "Carol");
  world.send(carol, "message-3", "Bob", "deploy", wish);
  EXPECT_EQ(given(world, bob).size(), 1u) << "another sender's key is another key";

  world.restart();
  alice = join_sender(world);
  world.send(alice, "message-4", "Bob", "deploy", wish);
  EXPECT_EQ(world.heard(alice, "ACK").size(), 1u);
  EXPECT_EQ(inbox_of(world, "Bob").size(), 2u);
}

TEST_F(Conversations, AWishThatCouldNotBeStoredCountsForNothing) {
  const auto wish = in_mode("on-idle", R"("idempotencyKey":"deploy-7")");
  world.heard(alice);
  world.hold_commits();
  world.fail_commits(true);
  world.send(alice, "message-1", "Bob", "deploy", wish);
  world.send(alice, "message-2", "Bob", "deploy", wish);
  world.release_commits();
  world.fail_commits(false);
  for (const auto& nack : world.heard(alice, "NACK")) EXPECT_EQ(text(payload(nack), "code"), "STORAGE");
  world.pass(2s);
  world.send(alice, "message-2", "Bob", "deploy", wish);
  world.send(alice, "message-1", "Bob", "deploy", wish);
  EXPECT_EQ(world.heard(alice, "ACK").size(), 2u);
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Conversations, AMessageThatNamesTheQuestionAnswersIt) {
  ask("question-1");
  world.heard(alice);
  world.send(bob, "message-1", "Alice", "something else");
  EXPECT_TRUE(answer().empty());
  world.send(bob, "message-2", "Alice", "seven", R"("payload_meta":{"replyTo":"question-1"})");
  const auto answered = answer();
  EXPECT_EQ(text(answered, "ack_id"), "question-1");
  EXPECT_EQ(text(answered, "correlationId"), "c1");
  EXPECT_EQ(text(answered, "response"), "seven");
  EXPECT_FALSE(text(answered, "messageId").empty());
  world.send(bob, "message-3", "Alice", "eight", R"("payload_meta":{"replyTo":"question-1"})");
  EXPECT_TRUE(answer().empty()) << "a question is answered once";
}

TEST_F(Conversations, TheShortIdOrTheThreadWillDo) {
  ask("question-1");
  const auto id = text(payload(world.heard(alice, "ACK").at(0)), "short_id");
  world.send(bob, "message-1", "Alice", "seven", format(R"("payload_meta":{{"replyTo":"{}"}})", id));
  EXPECT_EQ(text(answer(), "response"), "seven");

  ask("question-2", R"(,"thread":"numbers")");
  world.heard(alice);
  const auto carol = join_callback(world, "Carol");
  const auto in_thread = [&](ConnectionId from, const std::string& sent) {
    world.say(from, format(R"({{"v":1,"type":"SEND","id":"{}","ts":1,"to":"Alice",)"
                           R"("payload":{{"body":"eight","thread":"numbers"}}}})",
                           sent));
  };
  in_thread(carol, "message-2");
  EXPECT_TRUE(answer().empty()) << "Carol was not asked";
  in_thread(bob, "message-3");
  EXPECT_EQ(text(answer(), "response"), "eight");
}

TEST_F(Conversations, AMemberOfAChannelHearsLaterWhatWasSaidMeanwhile) {
  world.request(alice, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  world.request(bob, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  world.leave(bob);
  world.pass(10min);
  world.send(alice, "message-1", "#ops", "to the channel");
  world.send(alice, "message-2", "#general", "to whoever is here");
  bob = join_callback(world);
  EXPECT_EQ(world.bodies(bob), Texts{"to the channel"});
}

TEST_F(Conversations, ChannelsAreListedWithTheirMembers) {
  const auto person = world.join_person();
  world.request(alice, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  world.request(bob, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  world.leave(bob);
  const auto all = world.answer(person, "CHANNELS");
  std::map<std::string, std::int64_t> counts;
  for (const auto& channel : all.at("channels").as_array())
    counts[text(channel.as_object(), "name")] = number(channel.as_object(), "members");
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"#general", 2}, {"#ops", 2}}));
  const auto one = world.answer(person, "CHANNELS", R"({"channel":"#ops"})");
  const auto& members = one.at("members").as_array();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(text(members[0].as_object(), "name"), "Alice");
  EXPECT_EQ(bool_member(members[0].as_object(), "connected"), true);
  EXPECT_EQ(bool_member(members[1].as_object(), "connected"), false);
}

TEST_F(Conversations, DeadLettersAreListedNewestFirstAndPageByPage) {
  const auto person = world.join_person();
  for (int i = 1; i <= 5; ++i) world.send(alice, format("message-{}", i), "Bob", format("letter {}", i));
  for (const auto& id : given(world, bob)) world.receipt(bob, id, R"("status":"failed","reason":"no way")");
  Texts bodies;
  std::int64_t before = 0;
  bool more = true;
  for (int page = 0; more && page < 5; ++page) {
    const auto answer = world.answer(person, "DEAD", format(R"({{"limit":2,"beforeKey":{}}})", before));
    for (const auto& value : answer.at("letters").as_array()) {
      const auto& letter = value.as_object();
      bodies.push_back(text(letter, "body"));
      before = number(letter, "key");
      EXPECT_EQ(text(letter, "state"), "failed");
      EXPECT_EQ(text(letter, "reason"), "no way");
      EXPECT_EQ(text(letter, "from"), "Alice");
      EXPECT_EQ(text(letter, "to"), "Bob");
    }
    more = bool_member(answer, "more").value_or(false);
  }
  EXPECT_FALSE(more);
  EXPECT_EQ(bodies, (Texts{"letter 5", "letter 4", "letter 3", "letter 2", "letter 1"}));
  EXPECT_TRUE(world.answer(person, "DEAD", R"({"agent":"Alice"})").at("letters").as_array().empty());
  EXPECT_TRUE(world.answer(person, "DEAD", R"({"states":["dead"]})").at("letters").as_array().empty());
}

TEST_F(Conversations, StatusAndTheListOfAgentsTellWhatWaits) {
  const auto person = world.join_person();
  world.send(alice, "message-1", "Bob", "hi");
  world.receipt(bob, given(world, bob).at(0), R"("status":"failed")");
  world.control(person, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  world.control(person, R"("action":"pause","agent":"Bob","reason":"lunch")");
  world.send(alice, "message-2", "Bob", "held");
  world.leave(bob);
  const auto since = world.now().wall;
  world.pass(7s);
  const auto status = world.answer(person, "STATUS");
  EXPECT_EQ(status.at("paused").as_array().at(0).as_string(), "Bob");
  EXPECT_EQ(number(status, "loops"), 0);
  EXPECT_EQ(number(status, "dead"), 1);
  EXPECT_EQ(number(status, "oldestPendingMs"), 7'000);
  const auto list = world.answer(person, "LIST_AGENTS", R"({"includeIdle":true})");
  const auto& agents = list.at("agents").as_array();
  ASSERT_EQ(agents.size(), 2u);
  const auto& listed = agents[1].as_object();
  EXPECT_EQ(bool_member(listed, "paused"), true);
  EXPECT_EQ(text(listed, "pauseReason"), "lunch");
  EXPECT_EQ(number(listed, "held"), 1);
  EXPECT_EQ(number(listed, "offlineSince"), since);
  EXPECT_FALSE(agents[0].as_object().contains("offlineSince"));
}

}  // namespace
}  // namespace relay::broker
