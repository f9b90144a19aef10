#include <gtest/gtest.h>

#include "broker/testing/broker_fixture.h"

namespace relay::broker {
namespace {

using testing::body;
using testing::BrokerFixture;
using testing::payload;
using testing::seq_of;
using testing::text;
using Texts = std::vector<std::string>;

TEST(Broker, DamageIsReportedInStatusHealthAndEvent) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  const auto answer = [&](const std::string& question) {
    world.request(alice, question, "{}");
    return payload(world.received(alice, question + "_RESPONSE").at(0));
  };
  EXPECT_FALSE(answer("STATUS").at("storage").as_object().contains("damage"));
  const StoreDamage damage{.finding = "page 7 is damaged; restart the daemon",
                           .reason = "page 7 is damaged; restart the daemon; 1 message is lost",
                           .lost_messages = 1,
                           .refused_changes = 2};
  world.find_damage(damage);
  world.find_damage(damage);
  const auto status = answer("STATUS");
  const auto& storage = status.at("storage").as_object();
  EXPECT_EQ(text(storage, "damage"), damage.finding) << "said once";
  EXPECT_EQ(integer_member(storage, "lostMessages"), 2);
  EXPECT_EQ(integer_member(storage, "refusedChanges"), 2);
  EXPECT_NE(text(answer("HEALTH"), "summary").find("page 7"), std::string::npos);
  records::EventQuery query;
  query.limit = 100;
  std::size_t told = 0;
  const auto page = world.store().events(query).value();
  for (const auto& event : page.events)
    told += event.type == "relay.damaged" && event.json.find(damage.reason) != std::string::npos ? 1u : 0u;
  EXPECT_EQ(told, 2u);
}

TEST(Broker, StatusHasUptimeOfDaemonAndWorkspace) {
  BrokerFixture world;
  world.daemon_started = world.now().steady - std::chrono::minutes{10};
  world.restart();
  world.pass(std::chrono::seconds{5});
  const auto status = world.answer(world.join_user(), "STATUS");
  EXPECT_EQ(integer_member(status, "uptime"), 605'000);
  EXPECT_EQ(integer_member(status, "workspaceUptime"), 5'000);
}

TEST(Broker, AnswersQuestionsUnderTheRequestsId) {
  BrokerFixture world;
  const auto alice = world.join("Alice", R"("cli":"claude")");
  world.leave(world.join("Bob"));
  world.send(alice, "1", "Bob", "first");
  world.received(alice);
  const std::map<std::string, std::string> questions{{"STATUS", "STATUS_RESPONSE"},
                                                     {"LIST_AGENTS", "LIST_AGENTS_RESPONSE"},
                                                     {"LIST_CONNECTED_AGENTS", "LIST_CONNECTED_AGENTS_RESPONSE"},
                                                     {"HEALTH", "HEALTH_RESPONSE"},
                                                     {"METRICS", "METRICS_RESPONSE"},
                                                     {"MESSAGES_QUERY", "MESSAGES_RESPONSE"}};
  for (const auto& [question, answer] : questions) {
    world.request(alice, question, "{}", "id-" + question);
    const auto frames = world.received(alice);
    ASSERT_EQ(frames.size(), 1u) << question;
    EXPECT_EQ(text(frames[0], "type"), answer);
    EXPECT_EQ(text(frames[0], "id"), "id-" + question);
  }
  world.request(alice, "INBOX", R"({"agent":"Bob"})");
  const auto inbox = world.received(alice, "INBOX_RESPONSE").at(0);
  EXPECT_EQ(text(payload(inbox).at("messages").as_array().at(0).as_object(), "body"), "first");
  world.request(alice, "LIST_AGENTS", R"({"includeIdle":true})");
  EXPECT_EQ(payload(world.received(alice).at(0)).at("agents").as_array().size(), 2u);
}

TEST(Broker, ListsSessionOfConnectedAgent) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.leave(world.join("Bob"));
  world.request(alice, "LIST_AGENTS", R"({"includeIdle":true})");
  const auto listing = payload(world.received(alice, "LIST_AGENTS_RESPONSE").at(0));
  const auto& agents = listing.at("agents").as_array();
  EXPECT_FALSE(text(agents.at(0).as_object(), "sessionId").empty());
  EXPECT_FALSE(agents.at(1).as_object().contains("sessionId"));
}

TEST(Broker, CountsOfMessagesSurviveARestart) {
  BrokerFixture world;
  auto alice = world.join("Alice");
  auto bob = world.join("Bob");
  for (const char* id : {"1", "2", "3"}) world.send(alice, id, "Bob", "hello");
  for (const auto& frame : world.received(bob, "DELIVER")) world.ack(bob, frame);
  const auto counts = [&] {
    std::string all;
    const auto listing = world.answer(alice, "LIST_AGENTS", R"({"includeIdle":true})");
    for (const auto& agent : listing.at("agents").as_array()) {
      const auto& row = agent.as_object();
      all += format("{} {} {}; ", text(row, "name"), row.at("messagesSent").as_int64(),
                    row.at("messagesReceived").as_int64());
    }
    return all;
  };
  EXPECT_EQ(counts(), "Alice 3 0; Bob 0 3; ");
  world.restart();
  alice = world.join("Alice");
  EXPECT_EQ(counts(), "Alice 3 0; Bob 0 3; ");
}

TEST(Broker, AMessageThatCouldNotBeStoredIsNotCounted) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.leave(world.join("Bob"));
  world.fail_commits(true);
  world.send(alice, "1", "Bob", "hello");
  world.fail_commits(false);
  const auto listing = world.answer(alice, "LIST_AGENTS", "{}");
  EXPECT_EQ(listing.at("agents").as_array().at(0).as_object().at("messagesSent").as_int64(), 0);
}

TEST(Broker, ListsAgentsPageByPageAndFindsOneBeyondTheFirst) {
  constexpr int kAgents = 400;  // with their tasks more than one answer takes
  BrokerFixture world;
  const auto asker = world.join("cli", R"("_isSystemComponent":true)");
  const auto details = format(R"("task":"{}")", std::string(4'000, 't'));
  const auto name_of_agent = [](int i) { return format("agent-{:03}", i); };
  for (int i = 0; i < kAgents; ++i) world.leave(world.join(name_of_agent(i), details));

  std::vector<std::string> names;
  for (bool more = true; more;) {
    const auto after = names.empty() ? std::string{} : names.back();
    const auto page = world.answer(asker, "LIST_AGENTS", format(R"({{"includeIdle":true,"after":"{}"}})", after));
    for (const auto& row : page.at("agents").as_array()) names.emplace_back(text(row.as_object(), "name"));
    more = page.contains("more");
    EXPECT_TRUE(more == (names.size() < kAgents)) << names.size();
  }
  ASSERT_EQ(names.size(), static_cast<std::size_t>(kAgents));
  EXPECT_TRUE(std::ranges::is_sorted(names));

  const auto one = world.answer(asker, "LIST_AGENTS", R"({"includeIdle":true,"agent":"agent-399"})");
  ASSERT_EQ(one.at("agents").as_array().size(), 1u);
  EXPECT_EQ(text(one.at("agents").as_array().at(0).as_object(), "name"), "agent-399");
  EXPECT_TRUE(world.answer(asker, "LIST_AGENTS", R"({"agent":"agent-399"})").at("agents").as_array().empty());
  EXPECT_TRUE(
      world.answer(asker, "LIST_AGENTS", R"({"includeIdle":true,"agent":"x"})").at("agents").as_array().empty());
}

TEST(Broker, ErrorNamesFailedRequestOfCommandLine) {
  BrokerFixture world;
  const auto cli = world.join("cli", R"("_isSystemComponent":true,"capabilities":{"send_ack":true})");
  world.request(cli, "MESSAGES_QUERY", R"({"limit":"many"})", "q1");
  const auto frames = world.received(cli, "ERROR");
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(text(frames[0], "id"), "q1");
}

TEST(Broker, QueryErrorSeparatesNotFoundFromStorage) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  EXPECT_EQ(text(world.answer(alice, "TRACE", R"({"id":"zzzzzzzz"})"), "code"), "NOT_FOUND");
  EXPECT_EQ(text(world.answer(alice, "SESSION_QUERY", R"({"id":"nobody's"})"), "code"), "NOT_FOUND");
}

TEST(Broker, RemovesAnAgentThatIsAway) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.leave(world.join("Bob"));
  world.send(alice, "1", "Bob", "never read");
  world.received(alice);
  world.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_EQ(bool_member(payload(world.received(alice, "REMOVE_AGENT_RESPONSE").at(0)), "removed"), true);
  world.send(alice, "2", "Bob", "x");
  EXPECT_EQ(text(payload(world.received(alice, "NACK").at(0)), "code"), "UNKNOWN_RECIPIENT");
  world.request(alice, "REMOVE_AGENT", R"({"name":"Alice"})");
  EXPECT_EQ(bool_member(payload(world.received(alice, "REMOVE_AGENT_RESPONSE").at(0)), "success"), false);
}

TEST(Broker, ShowsAWatcherThePastAndThenThePresentWithoutGapOrRepeat) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  for (int i = 0; i < 450; ++i) world.send(alice, format("a{}", i), "Bob", format("{}", i));
  const auto cli = world.join("cli", R"("_isSystemComponent":true)");
  world.received(cli);
  world.hold_commits();
  world.request(cli, "EVENTS_SUBSCRIBE", R"({"types":["message"],"since":0})");
  world.send(alice, "b", "Bob", "450");
  world.release_commits();
  world.send(alice, "c", "Bob", "451");
  Texts seen;
  for (const auto& frame : world.received(cli, "AGENT_EVENT")) seen.push_back(text(testing::event_in(frame), "body"));
  ASSERT_EQ(seen.size(), 452u);
  for (std::size_t i = 0; i < seen.size(); ++i) EXPECT_EQ(seen[i], format("{}", i));
}

TEST(Broker, ShowsWhatComesToAWatcherWhoseNumberIsBeyondTheLog) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.send(alice, "a", "Bob", "before");
  const auto cli = world.join("cli", R"("_isSystemComponent":true)");
  world.request(cli, "EVENTS_SUBSCRIBE", R"({"types":["message"],"since":1000000})");
  world.send(alice, "b", "Bob", "after");
  const auto heard = world.received(cli, "AGENT_EVENT");
  ASSERT_EQ(heard.size(), 1u);
  EXPECT_EQ(text(testing::event_in(heard[0]), "body"), "after");
}

TEST(Broker, AnnouncesNewcomersToPublishedClients) {
  BrokerFixture world;
  const auto alice = world.join("Alice");
  world.received(alice);
  world.join("Bob", R"("cli":"codex")");
  EXPECT_EQ(text(payload(world.received(alice, "AGENT_READY").at(0)), "name"), "Bob");
}

TEST(Broker, SendsByeAfterLastCommit) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.received(alice);
  world.hold_commits();
  world.send(alice, "1", "Bob", "last words");
  world.broker().shut_down(world.now());
  world.settle();
  EXPECT_FALSE(world.broker().is_idle());
  world.release_commits();
  const auto frames = world.received(alice);
  EXPECT_EQ(text(frames.at(0), "type"), "ACK");
  EXPECT_EQ(text(frames.at(1), "type"), "BYE");
  EXPECT_EQ(text(payload(frames.at(1)), "reason"), "the daemon is stopping");
  EXPECT_TRUE(world.closed(alice));
}

TEST(Broker, SendsByeWithReasonOfShutdown) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.received(alice);
  world.broker().shut_down(world.now(), protocol::kWorkspaceClosed);
  world.settle();
  EXPECT_EQ(text(payload(world.received(alice, "BYE").at(0)), "reason"), protocol::kWorkspaceClosed);
}

TEST(Broker, KeepsTheNumbersOfAnAgentThatWasRemovedAndCameBack) {
  BrokerFixture world;
  const std::string ours = R"("capabilities":{"send_ack":true,"outbox":"e"})";
  auto alice = world.join("Alice", ours);
  const auto bob = world.join_ours("Bob");
  for (int i = 1; i <= 3; ++i) world.send(alice, format("e-{}", i), "Bob", "x");
  world.leave(alice);
  world.request(bob, "REMOVE_AGENT", R"({"name":"Alice"})");
  world.received(bob);
  alice = world.join("Alice", ours);
  world.received(alice);
  world.send(alice, "e-4", "Bob", "back");
  EXPECT_EQ(world.received(alice, "ACK").size(), 1u);
  EXPECT_EQ(seq_of(world.received(bob, "DELIVER").at(0)), 4u);
}

TEST(Broker, KeepsAnAgentWhoseRemovalCouldNotBeStored) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.leave(world.join("Bob"));
  world.send(alice, "1", "Bob", "kept");
  world.received(alice);
  world.fail_commits(true);
  world.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  EXPECT_EQ(bool_member(payload(world.received(alice, "REMOVE_AGENT_RESPONSE").at(0)), "success"), false);
  world.fail_commits(false);
  world.pass(std::chrono::seconds{2});
  EXPECT_EQ(world.bodies(world.join("Bob")), std::vector<std::string>{"kept"});
}

TEST(Broker, AnAgentIsRemovedOnce) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.leave(world.join("Bob"));
  world.received(alice);
  world.hold_commits();
  for (int n = 0; n < 2; ++n) world.request(alice, "REMOVE_AGENT", R"({"name":"Bob"})");
  world.release_commits();
  const auto answers = world.received(alice, "REMOVE_AGENT_RESPONSE");
  ASSERT_EQ(answers.size(), 2u);
  EXPECT_EQ(text(payload(answers[0]), "message"), "Bob is being removed already");
  EXPECT_EQ(bool_member(payload(answers[1]), "removed"), true);
}

TEST(Broker, ListingsShowMetadataAndAttachments) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  world.send(alice, "1", "Bob", "hi", R"("payload_meta":{"importance":80,"replyTo":"q1","requires_ack":true})");
  world.say(alice, R"({"v":1,"type":"SEND","id":"2","ts":1,"to":"Bob","payload":{"body":"see",)"
                   R"("attachments":[{"name":"a.txt","path":"/tmp/a.txt","bytes":3}]}})");
  world.received(alice);
  world.request(alice, "MESSAGES_QUERY", R"({"order":"asc"})");
  const auto rows = payload(world.received(alice, "MESSAGES_RESPONSE").at(0)).at("messages").as_array();
  ASSERT_EQ(rows.size(), 2u);
  const auto& first = rows[0].as_object();
  EXPECT_EQ(integer_member(first, "importance"), 80);
  EXPECT_EQ(string_member(first, "replyTo"), "q1");
  EXPECT_EQ(bool_member(first, "requiresAck"), true);
  EXPECT_EQ(json::serialize(rows[1].at("attachments")), R"([{"name":"a.txt","path":"/tmp/a.txt","bytes":3}])");
}

TEST(Broker, TruncatedResponseHasMore) {
  BrokerFixture world;
  const auto alice = world.join_ours("Alice");
  world.join_ours("Bob");
  for (int i = 0; i < 3; ++i) world.send(alice, format("{}", i), "Bob", std::string(500'000, 'x'));
  world.received(alice);
  world.request(alice, "MESSAGES_QUERY");
  const auto answer = world.received(alice, "MESSAGES_RESPONSE").at(0);
  EXPECT_EQ(payload(answer).at("messages").as_array().size(), 1u);
  EXPECT_EQ(bool_member(payload(answer), "more"), true);
}

}  // namespace
}  // namespace relay::broker
