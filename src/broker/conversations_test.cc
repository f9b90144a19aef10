// Offline recipients, idempotency keys, blocking messages and their answers, channels, and listings for the user.
#include <gtest/gtest.h>

#include "broker/testing/sessions.h"
#include "records/short_id.h"

namespace relay::broker {
namespace {

using namespace std::chrono_literals;
using namespace testing;

struct Conversations : ::testing::Test {
  BrokerFixture fixture{no_heartbeat()};
  ConnectionId alice = join_sender(fixture), bob = join_callback(fixture);

  /// ACK of a message that Alice sends.
  Frame ack_of(const std::string& id, const std::string& to, const std::string& more = {}) {
    fixture.drop_received(alice);
    fixture.send(alice, id, to, "hi", more);
    return payload(fixture.first_frame(alice, "ACK"));
  }
  /// A blocking message from Alice to Bob, with `more` members of its payload.
  void send_blocking(const std::string& id, const std::string& more = {}) {
    fixture.send_payload(alice, id, "Bob", R"("body":"how many?")" + more, with_blocking("c1"));
  }
  /// The answer to Alice's blocking message, if there is one.
  Frame answer() {
    for (const auto& frame : fixture.received(alice, "ACK")) {
      if (!string_field(payload(frame), "correlationId").empty()) return payload(frame);
    }
    return {};
  }
};

TEST_F(Conversations, AckNamesTimeSinceRecipientIsOffline) {
  EXPECT_FALSE(ack_of("message-1", "Bob").contains("offlineSince"));
  fixture.disconnect(bob);
  const auto since = fixture.now().wall;
  fixture.advance(10s);
  const auto ack = ack_of("message-2", "Bob");
  EXPECT_EQ(string_field(ack, "state"), "queued");
  EXPECT_EQ(integer_field(ack, "offlineSince"), since);
  EXPECT_EQ(string_field(ack, "deliveryId"), records::delivery_id(trace_entry(fixture, "message-2").delivery.key));
}

TEST_F(Conversations, AgentThatDisconnectedBeforeDaemonDiedIsOfflineSinceThen) {
  fixture.advance(10s);
  fixture.disconnect(bob);
  const auto since = fixture.now().wall;
  fixture.advance(10s);
  fixture.restart();
  alice = join_sender(fixture);
  EXPECT_EQ(integer_field(ack_of("message-1", "Bob"), "offlineSince"), since);
}

TEST_F(Conversations, AgentConnectedWhenDaemonDiedIsOfflineSinceNextStart) {
  fixture.advance(10s);
  fixture.restart();
  const auto since = fixture.now().wall;
  fixture.advance(10s);
  alice = join_sender(fixture);
  EXPECT_EQ(integer_field(ack_of("message-1", "Bob"), "offlineSince"), since);
}

TEST_F(Conversations, AgentThatEndedWithoutDaemonIsOfflineSinceItsEnd) {
  const auto host = fixture.join_with_acks("Carol");
  fixture.settle();
  const auto session = string_field(payload(fixture.first_frame(host, "WELCOME")), "session_id");
  fixture.advance(10s);
  const auto since = fixture.now().wall + 5'000;
  fixture.ended_sessions().push_back({.agent = "Carol", .session = session, .bye = {.ended_at = since}, .events = {}});
  fixture.restart_after(20s);
  alice = join_sender(fixture);
  EXPECT_EQ(integer_field(ack_of("message-1", "Carol"), "offlineSince"), since);
}

TEST_F(Conversations, AckNamesPendingReason) {
  const auto pending_reason = [&](const std::string& id, const std::string& more = {}) {
    return string_field(ack_of(id, "Bob", more), "pendingReason");
  };
  EXPECT_EQ(pending_reason("message-1"), "");
  EXPECT_EQ(pending_reason("message-m", with_mode("manual")),
            "it is pending until the agent fetches it or `agent-relay flush Bob` releases it");
  EXPECT_EQ(pending_reason("message-2", with_mode("next-message")), "it is pending until the session's next message");
  const auto user = fixture.join_user();
  fixture.control(user, R"("action":"pause","agent":"Bob","reason":"lunch")");
  EXPECT_EQ(pending_reason("message-3"), "it is paused by the user: lunch");
  fixture.control(user, R"("action":"unpause","agent":"Bob")");
  fixture.control(user, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  EXPECT_EQ(pending_reason("message-4"), "the policy of Bob holds it");
}

TEST_F(Conversations, AnswerToBlockingMessageIsNotPendingForItsSender) {
  const auto shell = fixture.connect();
  fixture.send(shell, "q1", "Bob", "how many?", R"("from":"me",)" + with_blocking("c7"));
  fixture.send(bob, "the-answer-1", "me", "three", R"("payload_meta":{"replyTo":"q1"})");
  const auto entry = trace_entry(fixture, "the-answer-1");
  EXPECT_EQ(entry.delivery.state, records::DeliveryState::Delivered);
  EXPECT_EQ(entry.history.back().via, "answer");
  const auto me = fixture.join("me");
  EXPECT_TRUE(fixture.bodies(me).empty());
}

TEST_F(Conversations, ManyRequestsAndAnswersOfPublishedClientsAreNoLoop) {
  const auto carol = fixture.join_with_acks("Carol"), dave = fixture.join_with_acks("Dave");
  fixture.drop_received(carol);
  fixture.drop_received(dave);
  for (int n = 0; n < 100; ++n) {
    const auto send = [&](ConnectionId from, const std::string& to, const std::string& body) {
      fixture.send_payload(from, format("{}{}", to, n), to,
                           format(R"("body":"{} {}","data":{{"_correlationId":"c{}"}})", body, n, n));
    };
    send(carol, "Dave", "q");
    send(dave, "Carol", "re q");
  }
  EXPECT_EQ(fixture.received(carol, "ACK").size(), 100u);
  EXPECT_TRUE(fixture.received(dave, "NACK").empty());
}

TEST_F(Conversations, RouterMembershipObeysRulesOfJoin) {
  const auto join = [&](int n, std::string_view channel) {
    fixture.send_payload(alice, format("m{}", n), "_router",
                         format(R"("kind":"message","body":"","data":{{"_channelMembershipUpdate":)"
                                R"({{"channel":"{}","member":"Ghost","action":"join"}}}})",
                                channel));
  };
  const auto memberships = [&] {
    const auto snapshot = fixture.store().load().value();
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
  fixture.request(alice, "CHANNEL_JOIN", R"({"channel":"#dev"})");
  fixture.request(alice, "CHANNEL_JOIN", R"({"channel":"#dev","member":"Dave"})");
  fixture.request(alice, "CHANNEL_MESSAGE", R"({"channel":"#dev","body":"early"})", "c1");
  const auto dave = fixture.join("Dave");
  const auto messages = fixture.received(dave, "CHANNEL_MESSAGE");
  ASSERT_EQ(messages.size(), 1u);
  EXPECT_EQ(body(messages[0]), "early");
}

TEST_F(Conversations, RepeatedIdempotencyKeyIsStoredOnce) {
  const auto options = with_mode("on-idle", R"("idempotencyKey":"deploy-7")");
  fixture.send(alice, "message-1", "Bob", "deploy", options);
  fixture.send(alice, "message-2", "Bob", "deploy", options);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 2u);
  const auto carol = join_sender(fixture, "Carol");
  fixture.send(carol, "message-3", "Bob", "deploy", options);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u) << "another sender's key is another key";

  fixture.restart();
  alice = join_sender(fixture);
  fixture.send(alice, "message-4", "Bob", "deploy", options);
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(inbox_of(fixture, "Bob").size(), 2u);
}

TEST_F(Conversations, IdempotencyKeyOfFailedCommitIsFree) {
  const auto options = with_mode("on-idle", R"("idempotencyKey":"deploy-7")");
  fixture.drop_received(alice);
  fixture.hold_commits();
  fixture.fail_commits();
  fixture.send(alice, "message-1", "Bob", "deploy", options);
  fixture.send(alice, "message-2", "Bob", "deploy", options);
  fixture.release_commits();
  fixture.accept_commits();
  for (const auto& nack : fixture.received(alice, "NACK")) EXPECT_EQ(code_of(nack), "STORAGE");
  fixture.advance(2s);
  fixture.send(alice, "message-2", "Bob", "deploy", options);
  fixture.send(alice, "message-1", "Bob", "deploy", options);
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 2u);
  EXPECT_EQ(delivered_ids(fixture, bob).size(), 1u);
}

TEST_F(Conversations, ReplyToBlockingMessageAnswersIt) {
  send_blocking("question-1");
  fixture.drop_received(alice);
  fixture.send(bob, "message-1", "Alice", "something else", R"("payload_meta":{"replyTo":"another-message"})");
  EXPECT_TRUE(answer().empty());
  fixture.send(bob, "message-2", "Alice", "seven", R"("payload_meta":{"replyTo":"question-1"})");
  const auto received = answer();
  EXPECT_EQ(string_field(received, "ack_id"), "question-1");
  EXPECT_EQ(string_field(received, "correlationId"), "c1");
  EXPECT_EQ(string_field(received, "response"), "seven");
  EXPECT_FALSE(string_field(received, "messageId").empty());
  fixture.send(bob, "message-3", "Alice", "eight", R"("payload_meta":{"replyTo":"question-1"})");
  EXPECT_TRUE(answer().empty()) << "a blocking message is answered once";
}

TEST_F(Conversations, ReplyMayNameShortIdOrThread) {
  send_blocking("question-1");
  const auto id = string_field(payload(fixture.first_frame(alice, "ACK")), "short_id");
  fixture.send(bob, "message-1", "Alice", "seven", format(R"("payload_meta":{{"replyTo":"{}"}})", id));
  EXPECT_EQ(string_field(answer(), "response"), "seven");

  send_blocking("question-2", R"(,"thread":"numbers")");
  fixture.drop_received(alice);
  const auto carol = join_callback(fixture, "Carol");
  constexpr auto kInThread = R"("body":"eight","thread":"numbers")";
  fixture.send_payload(carol, "message-2", "Alice", kInThread);
  EXPECT_TRUE(answer().empty()) << "the blocking message was not for Carol";
  fixture.send_payload(bob, "message-3", "Alice", kInThread);
  EXPECT_EQ(string_field(answer(), "response"), "eight");
}

TEST_F(Conversations, NextMessageAnswersOnlyOpenRequest) {
  send_blocking("question-1", R"(,"thread":"ask-1")");
  const auto id = string_field(payload(fixture.first_frame(alice, "ACK")), "short_id");
  const auto send = [&](const std::string& sent, const std::string& kind, const std::string& body) {
    fixture.send_payload(bob, sent, "Alice", format(R"("kind":"{}","body":"{}")", kind, body),
                         R"("payload_meta":{"ttl_ms":60000})");
  };
  send("message-1", "state", "I am busy");
  send("message-2", "thinking", "let me count");
  fixture.send(bob, "message-3", "Carol", "to another agent");
  EXPECT_TRUE(answer().empty());
  const auto last = [](const std::vector<Frame>& frames, std::string_view type) {
    Frame found;
    for (const auto& frame : frames)
      if (type_of(frame) == type) found = frame;
    return found;
  };
  send("message-4", "message", "seven");
  const auto frames = fixture.received(alice);
  const auto received = payload(last(frames, "ACK"));
  EXPECT_EQ(string_field(received, "response"), "seven");
  EXPECT_EQ(string_field(received, "matchedBy"), "only-request");
  const auto reply_to = [&](const Frame& deliver) {
    return string_field(*object_member(deliver, "payload_meta"), "replyTo");
  };
  EXPECT_EQ(reply_to(last(frames, "DELIVER")), id) << "the message is stored as a reply";
  send("message-5", "message", "and another thing");
  const auto later = fixture.received(alice);
  EXPECT_TRUE(last(later, "ACK").empty());
  EXPECT_EQ(reply_to(last(later, "DELIVER")), "");
}

TEST_F(Conversations, MessageAnswersNoneOfSeveralOpenRequests) {
  const auto shell = fixture.connect();
  const auto block = [&](const std::string& from, const std::string& id) {
    fixture.send(shell, id, "Bob", "?", format(R"("from":"{}",)", from) + with_blocking("c-" + id));
  };
  const auto answers = [&] {
    std::size_t count = 0;
    for (const auto& frame : fixture.received(shell, "ACK")) count += payload(frame).contains("response") ? 1u : 0u;
    return count;
  };
  block("me", "q1");
  block("me", "q2");
  block("you", "q3");
  fixture.send(bob, "message-1", "me", "three");
  EXPECT_EQ(answers(), 0u) << "two requests of the same sender are open";
  fixture.send(bob, "message-2", "me", "three", R"("payload_meta":{"replyTo":"q2"})");
  fixture.send(bob, "message-3", "me", "four");
  EXPECT_EQ(answers(), 2u) << "one request of this sender was left";
  fixture.send(bob, "message-4", "you", "five");
  EXPECT_EQ(answers(), 1u) << "requests of another sender do not count";
}

TEST_F(Conversations, MessageOfEarlierTurnIsNoAnswer) {
  const auto host = join_host(fixture, "Carol");
  fixture.request(host, "SESSION_STATE", R"({"state":"active"})");
  fixture.send(alice, "q1", "Carol", "how many?", with_blocking("c1"));
  const auto delivery = delivered_ids(fixture, host).at(0);
  fixture.send_receipt(host, delivery, R"("status":"accepted")");
  fixture.send(host, "message-1", "Alice", "the earlier task is done");
  EXPECT_TRUE(answer().empty()) << "the agent has not received the request";
  fixture.send_receipt(host, delivery, R"("status":"delivered","proof":"submitted")");
  fixture.send(host, "message-2", "Alice", "seven");
  EXPECT_EQ(string_field(answer(), "response"), "seven");
}

TEST_F(Conversations, OpenRequestEndsWithConnectionOfItsSender) {
  const auto shell = fixture.connect();
  fixture.send(shell, "q1", "Bob", "?", R"("from":"me",)" + with_blocking("c7", R"("timeoutMs":86400000)"));
  fixture.disconnect(shell);
  const auto again = fixture.connect();
  fixture.send(again, "q2", "Bob", "?", R"("from":"me",)" + with_blocking("c7"));
  EXPECT_TRUE(fixture.received(again, "NACK").empty()) << "its correlation id is free";
  fixture.send(bob, "message-1", "me", "three");
  EXPECT_EQ(string_field(payload(fixture.received(again, "ACK").back()), "response"), "three");
}

TEST_F(Conversations, AnswerOfFailedCommitAnswersWhenRepeated) {
  send_blocking("question-1");
  fixture.hold_commits();
  fixture.fail_commits();
  fixture.send(bob, "message-1", "Alice", "seven");
  fixture.release_commits();
  fixture.accept_commits();
  EXPECT_TRUE(answer().empty());
  fixture.advance(2s);
  fixture.send(bob, "message-1", "Alice", "seven");
  EXPECT_EQ(string_field(answer(), "response"), "seven");
}

TEST_F(Conversations, OpenRequestsOfOneClientAreBounded) {
  fixture.drop_received(alice);
  for (int n = 0; n <= 1'000; ++n)
    fixture.send(alice, format("q{}", n), "Bob", format("? {}", n), with_blocking(format("c{}", n)));
  const auto refused = fixture.received(alice, "NACK");
  ASSERT_EQ(refused.size(), 1u);
  EXPECT_EQ(code_of(refused[0]), "BUSY");
}

TEST_F(Conversations, AckNamesBestProofOfRecipientSession) {
  const auto proves = [&](const std::string& id, const std::string& to) {
    return string_field(ack_of(id, to), "proves");
  };
  EXPECT_EQ(proves("message-1", "Bob"), "accepted") << "a callback session that declares no better proof";
  const auto host = join_host(fixture, "Carol");
  EXPECT_EQ(proves("message-2", "Carol"), "") << "it has not reported its proof yet";
  fixture.request(host, "SESSION_STATE", R"({"state":"idle","capabilities":{"proof":"submitted"}})");
  EXPECT_EQ(proves("message-3", "Carol"), "submitted");
  fixture.join("Dave", R"("capabilities":{"ack":true,"delivery":{"modes":["on-idle"],"proof":"seen"}})");
  EXPECT_EQ(proves("message-4", "Dave"), "seen");
  fixture.disconnect(bob);
  EXPECT_EQ(proves("message-5", "Bob"), "") << "its next session may differ";
}

TEST_F(Conversations, OfflineMemberReceivesChannelMessagesLater) {
  fixture.request(alice, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  fixture.request(bob, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  fixture.disconnect(bob);
  fixture.advance(10min);
  fixture.send(alice, "message-1", "#ops", "to the channel");
  fixture.send(alice, "message-2", "#general", "to connected members");
  bob = join_callback(fixture);
  EXPECT_EQ(fixture.bodies(bob), Strings{"to the channel"});
}

TEST_F(Conversations, ChannelsAreListedWithTheirMembers) {
  const auto user = fixture.join_user();
  fixture.request(alice, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  fixture.request(bob, "CHANNEL_JOIN", R"({"channel":"#ops"})");
  fixture.disconnect(bob);
  const auto all = fixture.response(user, "CHANNELS");
  std::map<std::string, std::int64_t> counts;
  for (const auto& channel : all.at("channels").as_array())
    counts[string_field(channel.as_object(), "name")] = integer_field(channel.as_object(), "members");
  EXPECT_EQ(counts, (std::map<std::string, std::int64_t>{{"#general", 2}, {"#ops", 2}}));
  const auto one = fixture.response(user, "CHANNELS", R"({"channel":"#ops"})");
  const auto& members = one.at("members").as_array();
  ASSERT_EQ(members.size(), 2u);
  EXPECT_EQ(string_field(members[0].as_object(), "name"), "Alice");
  EXPECT_EQ(bool_member(members[0].as_object(), "connected"), true);
  EXPECT_EQ(bool_member(members[1].as_object(), "connected"), false);
}

TEST_F(Conversations, DeadDeliveriesAreListedNewestFirstInPages) {
  const auto user = fixture.join_user();
  for (int i = 1; i <= 5; ++i) fixture.send(alice, format("message-{}", i), "Bob", format("body {}", i));
  for (const auto& id : delivered_ids(fixture, bob))
    fixture.send_receipt(bob, id, R"("status":"failed","reason":"no way")");
  Strings bodies;
  std::int64_t before = 0;
  bool more = true;
  for (int page = 0; more && page < 5; ++page) {
    const auto dead = fixture.response(user, "DEAD", format(R"({{"limit":2,"beforeKey":{}}})", before));
    for (const auto& value : dead.at("deliveries").as_array()) {
      const auto& delivery = value.as_object();
      bodies.push_back(string_field(delivery, "body"));
      before = integer_field(delivery, "key");
      EXPECT_EQ(string_field(delivery, "state"), "failed");
      EXPECT_EQ(string_field(delivery, "reason"), "no way");
      EXPECT_EQ(string_field(delivery, "from"), "Alice");
      EXPECT_EQ(string_field(delivery, "to"), "Bob");
    }
    more = bool_member(dead, "more").value_or(false);
  }
  EXPECT_FALSE(more);
  EXPECT_EQ(bodies, (Strings{"body 5", "body 4", "body 3", "body 2", "body 1"}));
  EXPECT_TRUE(fixture.response(user, "DEAD", R"({"agent":"Alice"})").at("deliveries").as_array().empty());
  EXPECT_TRUE(fixture.response(user, "DEAD", R"({"states":["dead"]})").at("deliveries").as_array().empty());
}

TEST_F(Conversations, StatusAndAgentListShowPendingDeliveries) {
  const auto user = fixture.join_user();
  fixture.send(alice, "message-1", "Bob", "hi");
  fixture.send_receipt(bob, delivered_ids(fixture, bob).at(0), R"("status":"failed")");
  fixture.control(user, R"("action":"policy","agent":"Bob","rules":[{"from":"*","action":"hold"}])");
  fixture.control(user, R"("action":"pause","agent":"Bob","reason":"lunch")");
  fixture.send(alice, "message-2", "Bob", "held");
  fixture.disconnect(bob);
  const auto since = fixture.now().wall;
  fixture.advance(7s);
  const auto status = fixture.response(user, "STATUS");
  EXPECT_EQ(status.at("paused").as_array().at(0).as_string(), "Bob");
  EXPECT_EQ(integer_field(status, "loops"), 0);
  EXPECT_EQ(integer_field(status, "dead"), 1);
  EXPECT_EQ(integer_field(status, "oldestPendingMs"), 7'000);
  const auto list = fixture.response(user, "LIST_AGENTS", R"({"includeIdle":true})");
  const auto& agents = list.at("agents").as_array();
  ASSERT_EQ(agents.size(), 2u);
  const auto& listed = agents[1].as_object();
  EXPECT_EQ(bool_member(listed, "paused"), true);
  EXPECT_EQ(string_field(listed, "pauseReason"), "lunch");
  EXPECT_EQ(integer_field(listed, "held"), 1);
  EXPECT_EQ(integer_field(listed, "offlineSince"), since);
  EXPECT_FALSE(agents[0].as_object().contains("offlineSince"));
}

}  // namespace
}  // namespace relay::broker
