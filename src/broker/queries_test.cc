// Requests for status, listings and history; EVENTS_SUBSCRIBE; REMOVE_AGENT; shutdown.
#include <gtest/gtest.h>

#include "broker/testing/stored_records.h"

namespace relay::broker {
namespace {

using namespace testing;

TEST(Broker, DamageIsReportedInStatusHealthAndEvent) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  const auto response = [&](const std::string& type) {
    fixture.request(alice, type, "{}");
    return payload(fixture.received(alice, type + "_RESPONSE").at(0));
  };
  EXPECT_FALSE(response("STATUS").at("storage").as_object().contains("damage"));
  const StoreDamage damage{.finding = "page 7 is damaged; restart the daemon",
                           .reason = "page 7 is damaged; restart the daemon; 1 message is lost",
                           .lost_messages = 1,
                           .refused_changes = 2};
  fixture.report_damage(damage);
  fixture.report_damage(damage);
  const auto status = response("STATUS");
  const auto& storage = status.at("storage").as_object();
  EXPECT_EQ(string_field(storage, "damage"), damage.finding) << "reported once";
  EXPECT_EQ(integer_member(storage, "lostMessages"), 2);
  EXPECT_EQ(integer_member(storage, "refusedChanges"), 2);
  EXPECT_NE(string_field(response("HEALTH"), "summary").find("page 7"), std::string::npos);
  const auto events = stored_events(fixture, "relay.damaged");
  EXPECT_EQ(events.size(), 2u);
  for (const auto& event : events) EXPECT_NE(json::serialize(event).find(damage.reason), std::string::npos);
}

TEST(Broker, StatusHasUptimeOfDaemonAndWorkspace) {
  BrokerFixture fixture;
  fixture.daemon_started = fixture.now().steady - std::chrono::minutes{10};
  fixture.restart();
  fixture.advance(std::chrono::seconds{5});
  const auto status = fixture.response(fixture.join_user(), "STATUS");
  EXPECT_EQ(integer_member(status, "uptime"), 605'000);
  EXPECT_EQ(integer_member(status, "workspaceUptime"), 5'000);
}

TEST(Broker, ResponseHasIdOfRequest) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice", R"("cli":"claude")");
  fixture.disconnect(fixture.join("Bob"));
  fixture.send(alice, "1", "Bob", "first");
  fixture.drop_received(alice);
  const std::map<std::string, std::string> responses{{"STATUS", "STATUS_RESPONSE"},
                                                     {"LIST_AGENTS", "LIST_AGENTS_RESPONSE"},
                                                     {"LIST_CONNECTED_AGENTS", "LIST_CONNECTED_AGENTS_RESPONSE"},
                                                     {"HEALTH", "HEALTH_RESPONSE"},
                                                     {"METRICS", "METRICS_RESPONSE"},
                                                     {"MESSAGES_QUERY", "MESSAGES_RESPONSE"}};
  for (const auto& [request, response] : responses) {
    fixture.request(alice, request, "{}", "id-" + request);
    const auto frames = fixture.received(alice);
    ASSERT_EQ(frames.size(), 1u) << request;
    EXPECT_EQ(type_of(frames[0]), response);
    EXPECT_EQ(string_field(frames[0], "id"), "id-" + request);
  }
  fixture.request(alice, "INBOX", R"({"agent":"Bob"})");
  const auto inbox = fixture.first_frame(alice, "INBOX_RESPONSE");
  EXPECT_EQ(string_field(payload(inbox).at("messages").as_array().at(0).as_object(), "body"), "first");
  fixture.request(alice, "LIST_AGENTS", R"({"includeIdle":true})");
  EXPECT_EQ(payload(fixture.received(alice).at(0)).at("agents").as_array().size(), 2u);
}

TEST(Broker, ListsSessionOfConnectedAgent) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.disconnect(fixture.join("Bob"));
  fixture.request(alice, "LIST_AGENTS", R"({"includeIdle":true})");
  const auto listing = payload(fixture.first_frame(alice, "LIST_AGENTS_RESPONSE"));
  const auto& agents = listing.at("agents").as_array();
  EXPECT_FALSE(string_field(agents.at(0).as_object(), "sessionId").empty());
  EXPECT_FALSE(agents.at(1).as_object().contains("sessionId"));
}

TEST(Broker, MessageCountsSurviveRestart) {
  BrokerFixture fixture;
  auto alice = fixture.join("Alice");
  auto bob = fixture.join("Bob");
  for (const char* id : {"1", "2", "3"}) fixture.send(alice, id, "Bob", "hello");
  for (const auto& frame : fixture.received(bob, "DELIVER")) fixture.ack(bob, frame);
  const auto counts = [&] {
    std::string all;
    const auto listing = fixture.response(alice, "LIST_AGENTS", R"({"includeIdle":true})");
    for (const auto& agent : listing.at("agents").as_array()) {
      const auto& row = agent.as_object();
      all += format("{} {} {}; ", string_field(row, "name"), row.at("messagesSent").as_int64(),
                    row.at("messagesReceived").as_int64());
    }
    return all;
  };
  EXPECT_EQ(counts(), "Alice 3 0; Bob 0 3; ");
  fixture.restart();
  alice = fixture.join("Alice");
  EXPECT_EQ(counts(), "Alice 3 0; Bob 0 3; ");
}

TEST(Broker, UnstoredMessageIsNotCounted) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.disconnect(fixture.join("Bob"));
  fixture.fail_commits();
  fixture.send(alice, "1", "Bob", "hello");
  fixture.accept_commits();
  const auto listing = fixture.response(alice, "LIST_AGENTS", "{}");
  EXPECT_EQ(listing.at("agents").as_array().at(0).as_object().at("messagesSent").as_int64(), 0);
}

TEST(Broker, ListsAgentsInPagesAndFindsOneByName) {
  constexpr int kAgents = 400;  // with their tasks more than fits one response
  BrokerFixture fixture;
  const auto user = fixture.join("cli", R"("_isSystemComponent":true)");
  const auto details = format(R"("task":"{}")", std::string(4'000, 't'));
  const auto name_of_agent = [](int i) { return format("agent-{:03}", i); };
  for (int i = 0; i < kAgents; ++i) fixture.disconnect(fixture.join(name_of_agent(i), details));

  std::vector<std::string> names;
  for (bool more = true; more;) {
    const auto after = names.empty() ? std::string{} : names.back();
    const auto page = fixture.response(user, "LIST_AGENTS", format(R"({{"includeIdle":true,"after":"{}"}})", after));
    for (const auto& row : page.at("agents").as_array()) names.emplace_back(string_field(row.as_object(), "name"));
    more = page.contains("more");
    EXPECT_TRUE(more == (names.size() < kAgents)) << names.size();
  }
  ASSERT_EQ(names.size(), static_cast<std::size_t>(kAgents));
  EXPECT_TRUE(std::ranges::is_sorted(names));

  const auto one = fixture.response(user, "LIST_AGENTS", R"({"includeIdle":true,"agent":"agent-399"})");
  ASSERT_EQ(one.at("agents").as_array().size(), 1u);
  EXPECT_EQ(string_field(one.at("agents").as_array().at(0).as_object(), "name"), "agent-399");
  EXPECT_TRUE(fixture.response(user, "LIST_AGENTS", R"({"agent":"agent-399"})").at("agents").as_array().empty());
  EXPECT_TRUE(
      fixture.response(user, "LIST_AGENTS", R"({"includeIdle":true,"agent":"x"})").at("agents").as_array().empty());
}

TEST(Broker, ErrorNamesFailedRequestOfCommandLine) {
  BrokerFixture fixture;
  const auto cli = fixture.join_user();
  fixture.request(cli, "MESSAGES_QUERY", R"({"limit":"many"})", "q1");
  const auto frames = fixture.received(cli, "ERROR");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(string_field(frames[0], "id"), "q1");
}

TEST(Broker, QueryErrorSeparatesNotFoundFromStorage) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  EXPECT_EQ(string_field(fixture.response(alice, "TRACE", R"({"id":"zzzzzzzz"})"), "code"), "NOT_FOUND");
  EXPECT_EQ(string_field(fixture.response(alice, "SESSION_QUERY", R"({"id":"unknown"})"), "code"), "NOT_FOUND");
}

TEST(Broker, RemovesOfflineAgent) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.disconnect(fixture.join("Bob"));
  fixture.send(alice, "1", "Bob", "never read");
  fixture.drop_received(alice);
  fixture.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_EQ(bool_member(payload(fixture.first_frame(alice, "REMOVE_AGENT_RESPONSE")), "removed"), true);
  fixture.send(alice, "2", "Bob", "x");
  EXPECT_EQ(code_of(fixture.first_frame(alice, "NACK")), "UNKNOWN_RECIPIENT");
  fixture.request(alice, "REMOVE_AGENT", R"({"name":"Alice"})");
  EXPECT_EQ(bool_member(payload(fixture.first_frame(alice, "REMOVE_AGENT_RESPONSE")), "success"), false);
}

TEST(Broker, SubscriberReceivesStoredThenNewEventsWithoutGapOrRepeat) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  for (int i = 0; i < 450; ++i) fixture.send(alice, format("a{}", i), "Bob", format("{}", i));
  const auto cli = fixture.join("cli", R"("_isSystemComponent":true)");
  fixture.drop_received(cli);
  fixture.hold_commits();
  fixture.request(cli, "EVENTS_SUBSCRIBE", R"({"types":["message"],"since":0})");
  fixture.send(alice, "b", "Bob", "450");
  fixture.release_commits();
  fixture.send(alice, "c", "Bob", "451");
  Strings bodies;
  for (const auto& frame : fixture.received(cli, "AGENT_EVENT"))
    bodies.push_back(string_field(event_of(frame), "body"));
  ASSERT_EQ(bodies.size(), 452u);
  for (std::size_t i = 0; i < bodies.size(); ++i) EXPECT_EQ(bodies[i], format("{}", i));
}

TEST(Broker, SubscriberBeyondEndOfLogReceivesNewEvents) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  fixture.send(alice, "a", "Bob", "before");
  const auto cli = fixture.join("cli", R"("_isSystemComponent":true)");
  fixture.request(cli, "EVENTS_SUBSCRIBE", R"({"types":["message"],"since":1000000})");
  fixture.send(alice, "b", "Bob", "after");
  const auto events = fixture.received(cli, "AGENT_EVENT");
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(string_field(event_of(events[0]), "body"), "after");
}

TEST(Broker, AnnouncesNewAgentsToPublishedClients) {
  BrokerFixture fixture;
  const auto alice = fixture.join("Alice");
  fixture.drop_received(alice);
  fixture.join("Bob", R"("cli":"codex")");
  EXPECT_EQ(string_field(payload(fixture.first_frame(alice, "AGENT_READY")), "name"), "Bob");
}

TEST(Broker, SendsByeAfterLastCommit) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  fixture.drop_received(alice);
  fixture.hold_commits();
  fixture.send(alice, "1", "Bob", "last message");
  fixture.broker().shut_down(fixture.now());
  fixture.settle();
  EXPECT_FALSE(fixture.broker().is_idle());
  fixture.release_commits();
  const auto frames = fixture.received(alice);
  EXPECT_EQ(type_of(frames.at(0)), "ACK");
  EXPECT_EQ(type_of(frames.at(1)), "BYE");
  EXPECT_EQ(string_field(payload(frames.at(1)), "reason"), "the daemon is stopping");
  EXPECT_TRUE(fixture.closed(alice));
}

TEST(Broker, SendsByeWithReasonOfShutdown) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.drop_received(alice);
  fixture.broker().shut_down(fixture.now(), protocol::kWorkspaceClosed);
  fixture.settle();
  EXPECT_EQ(string_field(payload(fixture.first_frame(alice, "BYE")), "reason"), protocol::kWorkspaceClosed);
}

TEST(Broker, KeepsNumbersOfAgentThatWasRemovedAndJoinedAgain) {
  BrokerFixture fixture;
  auto alice = fixture.join_with_outbox("Alice");
  const auto bob = fixture.join_with_acks("Bob");
  for (int i = 1; i <= 3; ++i) fixture.send(alice, format("e-{}", i), "Bob", "x");
  fixture.disconnect(alice);
  fixture.request(bob, "REMOVE_AGENT", R"({"name":"Alice"})");
  fixture.drop_received(bob);
  alice = fixture.join_with_outbox("Alice");
  fixture.drop_received(alice);
  fixture.send(alice, "e-4", "Bob", "back");
  EXPECT_EQ(fixture.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(seq_of(fixture.first_frame(bob, "DELIVER")), 4u);
}

TEST(Broker, KeepsAgentWhoseRemovalWasNotStored) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.disconnect(fixture.join("Bob"));
  fixture.send(alice, "1", "Bob", "stored");
  fixture.drop_received(alice);
  fixture.fail_commits();
  fixture.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_EQ(bool_member(payload(fixture.first_frame(alice, "REMOVE_AGENT_RESPONSE")), "success"), false);
  fixture.accept_commits();
  fixture.advance(std::chrono::seconds{2});
  EXPECT_EQ(fixture.bodies(fixture.join("Bob")), Strings{"stored"});
}

TEST(Broker, AgentIsRemovedOnce) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.disconnect(fixture.join("Bob"));
  fixture.drop_received(alice);
  fixture.hold_commits();
  for (int n = 0; n < 2; ++n) fixture.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  fixture.release_commits();
  const auto responses = fixture.received(alice, "REMOVE_AGENT_RESPONSE");
  ASSERT_EQ(responses.size(), 2u);
  EXPECT_EQ(string_field(payload(responses[0]), "message"), "Bob is already being removed");
  EXPECT_EQ(bool_member(payload(responses[1]), "removed"), true);
}

TEST(Broker, ListingsShowMetadataAndAttachments) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  fixture.send(alice, "1", "Bob", "hi", R"("payload_meta":{"importance":80,"replyTo":"q1","requires_ack":true})");
  fixture.send_payload(alice, "2", "Bob",
                       R"("body":"see","attachments":[{"name":"a.txt","path":"/tmp/a.txt","bytes":3}])");
  fixture.drop_received(alice);
  fixture.request(alice, "MESSAGES_QUERY", R"({"order":"asc"})");
  const auto rows = payload(fixture.first_frame(alice, "MESSAGES_RESPONSE")).at("messages").as_array();
  ASSERT_EQ(rows.size(), 2u);
  const auto& first = rows[0].as_object();
  EXPECT_EQ(integer_member(first, "importance"), 80);
  EXPECT_EQ(string_member(first, "replyTo"), "q1");
  EXPECT_EQ(bool_member(first, "requiresAck"), true);
  EXPECT_EQ(json::serialize(rows[1].at("attachments")), R"([{"name":"a.txt","path":"/tmp/a.txt","bytes":3}])");
}

TEST(Broker, TruncatedResponseHasMore) {
  BrokerFixture fixture;
  const auto alice = fixture.join_with_acks("Alice");
  fixture.join_with_acks("Bob");
  for (int i = 0; i < 3; ++i) fixture.send(alice, format("{}", i), "Bob", std::string(500'000, 'x'));
  fixture.drop_received(alice);
  fixture.request(alice, "MESSAGES_QUERY");
  const auto response = payload(fixture.first_frame(alice, "MESSAGES_RESPONSE"));
  EXPECT_EQ(response.at("messages").as_array().size(), 1u);
  EXPECT_EQ(bool_member(response, "more"), true);
}

}  // namespace
}  // namespace relay::broker
