// Being away, saying a thing once, asking and being answered, channels, and the lists people look at.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Conversations : ::testing::Test {
  BrokerFixture world{no_heartbeat()};
  ConnectionId alice = join_sender(world), bob = join_callback(world);

  void ask(const std::string& id, const std::string& more = {}) {
    world.say(alice, format(R"({{"v":1,"type":"SEND","id":"{}","ts":1,"to":"Bob","payload":{{"body":"how many?"{}}},)"
                            R"("payload_meta":{{"sync":{{"correlationId":"c1","blocking":true}}}}}})",
                            id, more));
  }
  /// The answer to what was asked, if it came.
  Frame answer() {
    for (const auto& frame : world.received(alice, "ACK")) {
      if (!text(payload(frame), "correlationId").empty()) return payload(frame);
    }
    return {};
  }
};

TEST_F(Conversations, AckNamesTimeSinceRecipientIsOffline) {
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi");
  EXPECT_FALSE(payload(world.received(alice, "ACK").at(0)).contains("offlineSince"));
  world.leave(bob);
  const auto since = world.now().wall;
  world.pass(10s);
  world.send(alice, "message-2", "Bob", "hi");
  const auto ack = payload(world.received(alice, "ACK").at(0));
  EXPECT_EQ(text(ack, "state"), "queued");
  EXPECT_EQ(number(ack, "offlineSince"), since);
  EXPECT_EQ(text(ack, "deliveryId"), records::delivery_id(ledger(world, "message-2").delivery.key));
}

TEST_F(Conversations, AgentThatLeftBeforeTheDaemonDiedIsOfflineSinceThen) {
  world.pass(10s);
  world.leave(bob);
  const auto since = world.now().wall;
  world.pass(10s);
  world.restart();
  alice = join_sender(world);
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi");
  EXPECT_EQ(number(payload(world.received(alice, "ACK").at(0)), "offlineSince"), since);
}

TEST_F(Conversations, AgentThatTheDeadDaemonLostIsOfflineSinceTheNextStart) {
  world.pass(10s);
  world.restart();
  const auto since = world.now().wall;
  world.pass(10s);
  alice = join_sender(world);
  world.received(alice);
  world.send(alice, "message-1", "Bob", "hi");
  EXPECT_EQ(number(payload(world.received(alice, "ACK").at(0)), "offlineSince"), since);
}

TEST_F(Conversations, AgentThatEndedWhileNoDaemonRanIsOfflineSinceItsEnd) {
  const auto host = world.join_ours("Carol");
  world.settle();
  const auto session = text(payload(world.received(host, "WELCOME").at(0)), "session_id");
  world.pass(10s);
  const auto since = world.now().wall + 5'000;
  world.ended_sessions().push_back({.agent = "Carol", .session = session, .bye = {.ended_at = since}, .events = {}});
  world.now().steady += 20s;  // nobody is there
  world.now().wall += 20'000;
  world.restart();
  world.settle();
  alice = join_sender(world);
  world.received(alice);
  world.send(alice, "message-1", "Carol", "hi");
  EXPECT_EQ(number(payload(world.received(alice, "ACK").at(0)), "offlineSince"), since);
}

TEST_F(Conversations, AckNamesPendingReason) {
  world.received(alice);
  const auto waits = [&](const std::string& id, const std::string& more = {}) {
    world.send(alice, id, "Bob", "hi", more);
    return text(payload(world.received(alice, "ACK").at(0)), "pendingReason");
  };
  EXPECT_EQ(waits("message-1"), "");
  EXPECT_EQ(waits("message-m", in_mode("manual")),
            "it is held until the agent fetches it or `agent-relay flush Bob` lets it go");
  EXPECT_EQ(waits("message-2", in_mode("next-message")), "it waits for the session's next message");
  const auto person = world.join_user();
  world.control(person, R"("action":"pause","agent":"Bob","reason":"lunch")");
  EXPECT_EQ(waits("message-3"), "it is paused by a person: lunch");
  world.control(person, R"("action":"unpause","agent":"Bob")");
  world.control(person, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  EXPECT_EQ(waits("message-4"), "the policy of Bob holds it");
}

TEST_F(Conversations, AnswerToBlockingRequestIsNotPendingForAsker) {
  const auto shell = world.connect();
  world.say(shell, R"({"v":1,"type":"SEND","id":"q1","ts":1,"from":"me","to":"Bob","payload":{"body":"how many?"},)"
                   R"("payload_meta":{"sync":{"correlationId":"c7","blocking":true}}})");
  world.send(bob, "the-answer-1", "me", "three", R"("payload_meta":{"replyTo":"q1"})");
  const auto entry = ledger(world, "the-answer-1");
  EXPECT_EQ(entry.delivery.state, records::DeliveryState::Delivered);
  EXPECT_EQ(entry.history.back().via, "answer");
  const auto me = world.join("me");
  EXPECT_TRUE(world.bodies(me).empty());
}

TEST_F(Conversations, QuestionsAndAnswersOfPublishedClientsAreNoLoopHoweverMany) {
  const auto carol = world.join_ours("Carol"), dave = world.join_ours("Dave");
  world.received(carol);
  world.received(dave);
  for (int n = 0; n < 100; ++n) {
    const auto say = [&](ConnectionId from, const std::string& to, const std::string& body) {
      world.say(from, format(R"({{"v":1,"type":"SEND","id":"{}{}","ts":1,"to":"{}","payload":)"
                             R"({{"body":"{} {}","data":{{"_correlationId":"c{}"}}}}}})",
                             to, n, to, body, n, n));
    };
    say(carol, "Dave", "q");
    say(dave, "Carol", "re q");
  }
  EXPECT_EQ(world.received(carol, "ACK").size(), 100u);
  EXPECT_TRUE(world.received(dave, "NACK").empty());
}

TEST_F(Conversations, AMembershipByTheRouterIsHeldToTheRulesOfAJoin) {
  const auto join = [&](int n, std::string_view channel) {
    world.say(alice, format(R"({{"v":1,"type":"SEND","id":"m{}","ts":1,"to":"_router","payload":{{"kind":"message",)"
                            R"("body":"","data":{{"_channelMembershipUpdate":{{"channel":"{}","member":"Ghost",)"
                            R"("action":"join"}}}}}}}})",
                            n, channel));
  };
  const auto memberships = [&] {
    const auto snapshot = world.store().load().value();
    return static_cast<std::size_t>(
        std::ranges::count(snapshot.memberships, AgentName{"Ghost"}, &records::Membership::member));
  };
  join(1, "#" + std::string(protocol::kMaxTopicBytes, 'c'));
  join(2, "#a\U000E0041");
  EXPECT_EQ(memberships(), 0u);
  for (std::size_t n = 0; n <= protocol::kMaxChannelsPerAgent; ++n) join(static_cast<int>(n) + 3, format("#c{}", n));
  EXPECT_EQ(memberships(), protocol::kMaxChannelsPerAgent);
}

TEST_F(Conversations, MemberAddedBeforeFirstHelloReceivesChannelMessages) {
  world.say(alice, R"({"v":1,"type":"CHANNEL_JOIN","id":"j1","ts":1,"payload":{"channel":"#dev"}})");
  world.say(alice, R"({"v":1,"type":"CHANNEL_JOIN","id":"j2","ts":1,"payload":{"channel":"#dev","member":"Dave"}})");
  world.say(alice, R"({"v":1,"type":"CHANNEL_MESSAGE","id":"c1","ts":1,"payload":{"channel":"#dev","body":"early"}})");
  const auto dave = world.join("Dave");
  const auto heard = world.received(dave, "CHANNEL_MESSAGE");
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(body(heard[0]), "early");
}

TEST_F(Conversations, TheSameWishIsStoredOnce) {
  const auto wish = in_mode("on-idle", R"("idempotencyKey":"deploy-7")");
  world.send(alice, "message-1", "Bob", "deploy", wish);
  world.send(alice, "message-2", "Bob", "deploy", wish);
  EXPECT_EQ(given(world, bob).size(), 1u);
  EXPECT_EQ(world.received(alice, "ACK").size(), 2u);
  const auto carol = join_sender(world, "Carol");
  world.send(carol, "message-3", "Bob", "deploy", wish);
  EXPECT_EQ(given(world, bob).size(), 1u) << "another sender's key is another key";

  world.restart();
  alice = join_sender(world);
  world.send(alice, "message-4", "Bob", "deploy", wish);
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(inbox_of(world, "Bob").size(), 2u);
}

TEST_F(Conversations, AWishThatCouldNotBeStoredCountsForNothing) {
  const auto wish = in_mode("on-idle", R"("idempotencyKey":"deploy-7")");
  world.received(alice);
  world.hold_commits();
  world.fail_commits(true);
  world.send(alice, "message-1", "Bob", "deploy", wish);
  world.send(alice, "message-2", "Bob", "deploy", wish);
  world.release_commits();
  world.fail_commits(false);
  for (const auto& nack : world.received(alice, "NACK")) EXPECT_EQ(text(payload(nack), "code"), "STORAGE");
  world.pass(2s);
  world.send(alice, "message-2", "Bob", "deploy", wish);
  world.send(alice, "message-1", "Bob", "deploy", wish);
  EXPECT_EQ(world.received(alice, "ACK").size(), 2u);
  EXPECT_EQ(given(world, bob).size(), 1u);
}

TEST_F(Conversations, AMessageThatNamesTheQuestionAnswersIt) {
  ask("question-1");
  world.received(alice);
  world.send(bob, "message-1", "Alice", "something else", R"("payload_meta":{"replyTo":"another-message"})");
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
  const auto id = text(payload(world.received(alice, "ACK").at(0)), "short_id");
  world.send(bob, "message-1", "Alice", "seven", format(R"("payload_meta":{{"replyTo":"{}"}})", id));
  EXPECT_EQ(text(answer(), "response"), "seven");

  ask("question-2", R"(,"thread":"numbers")");
  world.received(alice);
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

TEST_F(Conversations, NextPlainMessageAnswersTheOnlyRequest) {
  ask("question-1", R"(,"thread":"ask-1")");
  const auto id = text(payload(world.received(alice, "ACK").at(0)), "short_id");
  const auto say = [&](const std::string& sent, const std::string& kind, const std::string& body) {
    world.say(bob,
              format(R"({{"v":1,"type":"SEND","id":"{}","ts":1,"to":"Alice","payload":{{"kind":"{}","body":"{}"}},)"
                     R"("payload_meta":{{"ttl_ms":60000}}}})",
                     sent, kind, body));
  };
  say("message-1", "state", "I am busy");
  say("message-2", "thinking", "let me count");
  world.send(bob, "message-3", "Carol", "to somebody else");
  EXPECT_TRUE(answer().empty());
  /// The last of what Alice heard of that type.
  const auto last = [](const std::vector<Frame>& frames, std::string_view type) {
    Frame found;
    for (const auto& frame : frames)
      if (text(frame, "type") == type) found = frame;
    return found;
  };
  say("message-4", "message", "seven");
  const auto heard = world.received(alice);
  const auto answered = payload(last(heard, "ACK"));
  EXPECT_EQ(text(answered, "response"), "seven");
  EXPECT_EQ(text(answered, "matchedBy"), "only-request");
  const auto mark = [&](const Frame& deliver) { return text(*object_member(deliver, "payload_meta"), "replyTo"); };
  EXPECT_EQ(mark(last(heard, "DELIVER")), id) << "also for readers of the history";
  say("message-5", "message", "and another thing");
  const auto later = world.received(alice);
  EXPECT_TRUE(last(later, "ACK").empty());
  EXPECT_EQ(mark(last(later, "DELIVER")), "");
}

TEST_F(Conversations, PlainMessageAnswersNoneOfSeveralRequests) {
  const auto shell = world.connect();
  const auto ask_as = [&](const std::string& from, const std::string& id) {
    world.say(shell,
              format(R"({{"v":1,"type":"SEND","id":"{0}","ts":1,"from":"{1}","to":"Bob","payload":{{"body":"?"}},)"
                     R"("payload_meta":{{"sync":{{"correlationId":"c-{0}","blocking":true}}}}}})",
                     id, from));
  };
  const auto answers = [&] {
    std::size_t count = 0;
    for (const auto& frame : world.received(shell, "ACK")) count += payload(frame).contains("response") ? 1u : 0u;
    return count;
  };
  ask_as("me", "q1");
  ask_as("me", "q2");
  ask_as("you", "q3");
  world.send(bob, "message-1", "me", "three");
  EXPECT_EQ(answers(), 0u) << "which of the two?";
  world.send(bob, "message-2", "me", "three", R"("payload_meta":{"replyTo":"q2"})");
  world.send(bob, "message-3", "me", "four");
  EXPECT_EQ(answers(), 2u) << "one is left";
  world.send(bob, "message-4", "you", "five");
  EXPECT_EQ(answers(), 1u) << "another asker's requests do not count";
}

TEST_F(Conversations, MessageOfAnEarlierTurnIsNoAnswer) {
  const auto host = join_host(world, "Carol");
  world.request(host, "SESSION_STATE", R"({"state":"active"})");
  world.say(alice, R"({"v":1,"type":"SEND","id":"q1","ts":1,"to":"Carol","payload":{"body":"how many?"},)"
                   R"("payload_meta":{"sync":{"correlationId":"c1","blocking":true}}})");
  const auto delivery = given(world, host).at(0);
  world.receipt(host, delivery, R"("status":"accepted")");
  world.send(host, "message-1", "Alice", "the earlier task is done");
  EXPECT_TRUE(answer().empty()) << "it has not been given the question";
  world.receipt(host, delivery, R"("status":"delivered","proof":"submitted")");
  world.send(host, "message-2", "Alice", "seven");
  EXPECT_EQ(text(answer(), "response"), "seven");
}

TEST_F(Conversations, RequestEndsWithItsAskersConnection) {
  const auto shell = world.connect();
  world.say(shell, R"({"v":1,"type":"SEND","id":"q1","ts":1,"from":"me","to":"Bob","payload":{"body":"?"},)"
                   R"("payload_meta":{"sync":{"correlationId":"c7","timeoutMs":86400000,"blocking":true}}})");
  world.leave(shell);
  const auto again = world.connect();
  world.say(again, R"({"v":1,"type":"SEND","id":"q2","ts":1,"from":"me","to":"Bob","payload":{"body":"?"},)"
                   R"("payload_meta":{"sync":{"correlationId":"c7","blocking":true}}})");
  EXPECT_TRUE(world.received(again, "NACK").empty()) << "its correlation id is free";
  world.send(bob, "message-1", "me", "three");
  EXPECT_EQ(text(payload(world.received(again, "ACK").back()), "response"), "three");
}

TEST_F(Conversations, PlainAnswerThatCouldNotBeStoredAnswersWhenItComesAgain) {
  ask("question-1");
  world.hold_commits();
  world.fail_commits(true);
  world.send(bob, "message-1", "Alice", "seven");
  world.release_commits();
  world.fail_commits(false);
  EXPECT_TRUE(answer().empty());
  world.pass(2s);
  world.send(bob, "message-1", "Alice", "seven");
  EXPECT_EQ(text(answer(), "response"), "seven");
}

TEST_F(Conversations, OneClientHasABoundedNumberOfRequests) {
  world.received(alice);
  for (int n = 0; n <= 1'000; ++n)
    world.say(alice, format(R"({{"v":1,"type":"SEND","id":"q{0}","ts":1,"to":"Bob","payload":{{"body":"? {0}"}},)"
                            R"("payload_meta":{{"sync":{{"correlationId":"c{0}","blocking":true}}}}}})",
                            n));
  const auto refused = world.received(alice, "NACK");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(text(payload(refused[0]), "code"), "BUSY");
}

TEST_F(Conversations, AckNamesBestProofOfRecipientSession) {
  const auto proves = [&](const std::string& id, const std::string& to) {
    world.received(alice);
    world.send(alice, id, to, "hi");
    return text(payload(world.received(alice, "ACK").at(0)), "proves");
  };
  EXPECT_EQ(proves("message-1", "Bob"), "accepted") << "it is the agent itself and declares no more";
  const auto host = join_host(world, "Carol");
  EXPECT_EQ(proves("message-2", "Carol"), "") << "it has not told yet";
  world.request(host, "SESSION_STATE", R"({"state":"idle","capabilities":{"proof":"submitted"}})");
  EXPECT_EQ(proves("message-3", "Carol"), "submitted");
  world.join("Dave", R"("capabilities":{"ack":true,"delivery":{"modes":["on-idle"],"proof":"seen"}})");
  EXPECT_EQ(proves("message-4", "Dave"), "seen");
  world.leave(bob);
  EXPECT_EQ(proves("message-5", "Bob"), "") << "its next session may be another";
}

TEST_F(Conversations, OfflineMemberReceivesChannelMessagesLater) {
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
  const auto person = world.join_user();
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

TEST_F(Conversations, DeadDeliveriesAreListedNewestFirstInPages) {
  const auto person = world.join_user();
  for (int i = 1; i <= 5; ++i) world.send(alice, format("message-{}", i), "Bob", format("letter {}", i));
  for (const auto& id : given(world, bob)) world.receipt(bob, id, R"("status":"failed","reason":"no way")");
  Texts bodies;
  std::int64_t before = 0;
  bool more = true;
  for (int page = 0; more && page < 5; ++page) {
    const auto answer = world.answer(person, "DEAD", format(R"({{"limit":2,"beforeKey":{}}})", before));
    for (const auto& value : answer.at("deliveries").as_array()) {
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
  EXPECT_TRUE(world.answer(person, "DEAD", R"({"agent":"Alice"})").at("deliveries").as_array().empty());
  EXPECT_TRUE(world.answer(person, "DEAD", R"({"states":["dead"]})").at("deliveries").as_array().empty());
}

TEST_F(Conversations, StatusAndTheListOfAgentsTellWhatWaits) {
  const auto person = world.join_user();
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
