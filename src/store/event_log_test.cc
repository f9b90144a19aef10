// The event log of every store; see message_store_suite.h.
#include "base/format.h"
#include "base/json.h"
#include "store/message_store_suite.h"

namespace relay::store {

using namespace records;
using namespace sample;

namespace {

EventPage page(MessageStore& store, const EventQuery& query = {}) { return store.events(query).value(); }

std::vector<std::string> lines_of(MessageStore& store, const EventQuery& query = {}) {
  std::vector<std::string> lines;
  for (const auto& event : page(store, query).events) lines.push_back(format("{} {}", event.number, event.type));
  return lines;
}

json::object first(MessageStore& store, std::string type) {
  EventQuery query;
  query.filter.types = {std::move(type)};
  const auto events = page(store, query).events;
  return events.empty() ? json::object{} : parse_json_object(events.front().json).value();
}

AddEvent happened(std::string type, WallMs at, std::string body = "{}", std::string agent = "Alice",
                  std::string session = "s1") {
  return {{std::move(type), at, AgentName{std::move(agent)}, SessionId{std::move(session)}, std::move(body)}};
}

/// A message to Bob, key 2n-1, with the delivery 2n.
Changes greeting(std::int64_t n) {
  return {AddMessage{message(2 * n - 1, "Alice", "Bob", "hello")}, AddDelivery{delivery(2 * n, 2 * n - 1, "Bob")}};
}

using Lines = std::vector<std::string>;

}  // namespace

TEST_P(MessageStoreSuite, NumbersEveryMessageAndHistoryEntryWithoutGap) {
  commit(greeting(1));
  commit({change(2, DeliveryState::Accepted), change(2, DeliveryState::Delivered)});
  EXPECT_EQ(lines_of(*store_),
            (Lines{"1 message.exchanged", "2 delivery.created", "3 delivery.accepted", "4 delivery.delivered"}));
  const auto message = first(*store_, "message.exchanged");
  EXPECT_EQ(string_member(message, "from"), "Alice");
  EXPECT_EQ(string_member(message, "to"), "Bob");
  EXPECT_EQ(integer_member(message, "_seq"), 1);
  EXPECT_EQ(string_member(message, "_agentName"), "Alice");
  const auto delivered = first(*store_, "delivery.delivered");
  EXPECT_EQ(string_member(delivered, "_agentName"), "Bob");
  EXPECT_EQ(string_member(delivered, "state"), "delivered");
  EXPECT_EQ(string_member(*object_member(delivered, "message"), "text"), string_member(message, "body"));
}

TEST_P(MessageStoreSuite, DeliveryEventsNameUserAsHuman) {
  const auto kinds = [&](std::int64_t key, const std::string& from, const std::string& to) {
    commit({AddMessage{message(key, from, to, "hello")}, AddDelivery{delivery(key + 1, key, to, 1, from)}});
    commit({change(key + 1, DeliveryState::Delivered)});
    EventQuery query;
    query.newest = true;
    query.limit = 2;
    query.filter.types = {"delivery"};
    std::string all;
    for (const auto& event : page(*store_, query).events) {
      const auto object = parse_json_object(event.json).value();
      const auto& sender = *object_member(*object_member(object, "message"), "from");
      all += format("{}: {} to {}; ", event.type, string_member(sender, "kind").value_or("nobody"),
                    string_member(*object_member(object, "agent"), "kind").value_or("nobody"));
    }
    return all;
  };
  EXPECT_EQ(kinds(1, "Alice", "human"), "delivery.created: agent to human; delivery.delivered: agent to human; ");
  EXPECT_EQ(kinds(3, "human", "Alice"), "delivery.created: human to agent; delivery.delivered: human to agent; ");
  EXPECT_EQ(kinds(5, "Alice", "Bob"), "delivery.created: agent to agent; delivery.delivered: agent to agent; ");
}

TEST_P(MessageStoreSuite, RollbackLeavesNoGapInEventNumbers) {
  commit(greeting(1));
  ASSERT_TRUE(store_->begin());
  ASSERT_TRUE(store_->apply(happened("item.started", 1)));
  store_->rollback();
  commit({happened("item.completed", 2)});
  EXPECT_EQ(lines_of(*store_), (Lines{"1 message.exchanged", "2 delivery.created", "3 item.completed"}));
  EXPECT_EQ(page(*store_).newest, 3u);
}

TEST_P(MessageStoreSuite, UnchangedDeliveryEmitsNoEvent) {
  commit(greeting(1));
  commit({change(2, DeliveryState::Delivered)});
  commit({change(2, DeliveryState::Accepted), change(99, DeliveryState::Accepted)});
  EXPECT_EQ(page(*store_).newest, 3u);
}

TEST_P(MessageStoreSuite, ReadsEventsAfterNumber) {
  for (int n = 1; n <= 5; ++n) commit({happened("item.started", n)});
  EventQuery query;
  query.limit = 2;
  auto seen = page(*store_, query);
  EXPECT_TRUE(seen.more);
  EXPECT_EQ(seen.next_after, 2u);
  query.after = seen.next_after;
  EXPECT_EQ(lines_of(*store_, query), (Lines{"3 item.started", "4 item.started"}));
  query.after = 4;
  seen = page(*store_, query);
  EXPECT_FALSE(seen.more);
  EXPECT_EQ(seen.next_after, 5u);
  query.after = 77;
  EXPECT_TRUE(lines_of(*store_, query).empty());
}

TEST_P(MessageStoreSuite, ReadsNewestEvents) {
  for (int n = 1; n <= 5; ++n) commit({happened(n % 2 == 0 ? "item.started" : "item.delta", n)});
  EventQuery query;
  query.newest = true;
  query.limit = 2;
  EXPECT_EQ(lines_of(*store_, query), (Lines{"4 item.started", "5 item.delta"}));
  query.filter.types = {"item.delta"};
  EXPECT_EQ(lines_of(*store_, query), (Lines{"3 item.delta", "5 item.delta"}));
  EXPECT_EQ(page(*store_, query).next_after, 5u);
  EXPECT_TRUE(page(*store_, query).more);
  query.before = page(*store_, query).next_before;
  EXPECT_EQ(lines_of(*store_, query), Lines{"1 item.delta"});
  EXPECT_FALSE(page(*store_, query).more);
  query.before = 1;
  EXPECT_TRUE(lines_of(*store_, query).empty());
  query.newest = false;
  query.before = 4;
  EXPECT_EQ(lines_of(*store_, query), (Lines{"1 item.delta", "3 item.delta"}));
}

TEST_P(MessageStoreSuite, FiltersEventsByTypeGroupAgentAndSession) {
  commit({happened("item.started", 1), happened("item.delta", 2, "{}", "Bob", "s2"), happened("tokens.used", 3)});
  EventQuery query;
  query.filter.types = {"item"};
  EXPECT_EQ(lines_of(*store_, query), (Lines{"1 item.started", "2 item.delta"}));
  EXPECT_EQ(page(*store_, query).next_after, 3u) << "the rest need not be scanned again";
  query.filter.agents = {"Bob"};
  EXPECT_EQ(lines_of(*store_, query), Lines{"2 item.delta"});
  query.filter = {};
  query.filter.sessions = {"s1"};
  EXPECT_EQ(lines_of(*store_, query), (Lines{"1 item.started", "3 tokens.used"}));
  query.filter.types = {"tokens.used", "file"};
  EXPECT_EQ(lines_of(*store_, query), Lines{"3 tokens.used"});
}

TEST_P(MessageStoreSuite, FindsEventsByTimeAndTimesNeverGoBack) {
  for (const WallMs at : {100, 200, 150, 300}) commit({happened("item.started", at)});
  EventQuery query;
  query.since = 200;
  EXPECT_EQ(lines_of(*store_, query), (Lines{"2 item.started", "3 item.started", "4 item.started"}));
  query.until = 300;
  EXPECT_EQ(lines_of(*store_, query), (Lines{"2 item.started", "3 item.started"}));
  query.since = 301;
  query.until = 0;
  EXPECT_TRUE(lines_of(*store_, query).empty());
  EXPECT_EQ(page(*store_, query).next_after, 4u);
}

TEST_P(MessageStoreSuite, RedactsSecretsInEvents) {
  const std::string key = "ghp_" + std::string(36, 'a');
  commit({happened("item.started", 1, R"({"metadata":{"headers":{"Cookie":"sid=ghp_none"},"password":"hunter22"}})")});
  EXPECT_EQ(page(*store_).events.at(0).json.find("hunter22"), std::string::npos) << page(*store_).events.at(0).json;
  EXPECT_EQ(page(*store_).events.at(0).json.find("sid=ghp"), std::string::npos) << page(*store_).events.at(0).json;
  commit({happened("command.executed", 1, format(R"({{"command":"curl -H \"Authorization: Bearer x{}\""}})", key))});
  auto changes = greeting(1);
  std::get<AddMessage>(changes[0]).message.payload = format(R"({{"body":"use\n{} please"}})", key);
  commit(changes);
  for (const auto& event : page(*store_).events) {
    EXPECT_EQ(event.json.find(key), std::string::npos) << event.json;
    EXPECT_TRUE(parse_json_object(event.json)) << event.json;
  }
}

TEST_P(MessageStoreSuite, PrunesEventsByAgeAndKeepsNumbering) {
  for (const WallMs at : {100, 200, 300}) commit({happened("item.started", at)});
  const Retention retention{.max_event_age_ms = 50};
  while (store_->prune_step(retention, 300, 1).value()) {}
  EXPECT_EQ(lines_of(*store_), Lines{"3 item.started"});
  EXPECT_EQ(page(*store_).oldest, 3u);
  while (store_->prune_step(retention, 1'000, 10).value()) {}
  EXPECT_TRUE(lines_of(*store_).empty());
  commit({happened("item.delta", 400)});
  EXPECT_EQ(lines_of(*store_), Lines{"4 item.delta"});
}

TEST_P(MessageStoreSuite, LargeEventLogIsPrunedBeforeMessages) {
  commit(greeting(1));
  commit({change(2, DeliveryState::Delivered)});
  const std::string much(60'000, 'x');
  for (int n = 0; n < 40; ++n) commit({happened("item.started", kStart + n, format(R"({{"a":"{}"}})", much))});
  prune_all({.max_bytes = 2 << 20}, kStart);
  EXPECT_EQ(rows({}).size(), 1u);
}

TEST_P(MessageStoreSuite, ReadsEventsOfPrunedMessages) {
  commit(greeting(1));
  commit({change(2, DeliveryState::Delivered)});
  while (store_->prune_step({.max_age_ms = 1}, kStart + 1'000'000'000, 100).value()) {}
  const auto message = first(*store_, "message.exchanged");
  EXPECT_EQ(bool_member(message, "truncated"), true);
  EXPECT_EQ(string_member(message, "from"), "Alice");
  EXPECT_EQ(bool_member(*object_member(first(*store_, "delivery.delivered"), "message"), "truncated"), true);
}

TEST_P(MessageStoreSuite, CountsUsageOfRequestOnceAndSumsByAllNames) {
  const auto used = [](std::string session, std::string request, std::int64_t input, WallMs at) {
    return PutUsage{{.session = SessionId{std::move(session)},
                     .request = std::move(request),
                     .agent = AgentName{"Alice"},
                     .model = "m",
                     .thread = {},
                     .source = "transcript",
                     .at = at,
                     .input = input,
                     .output = 1}};
  };
  commit({used("s1", "a", 10, 100), used("s1", "a", 15, 110), used("s1", "b", 1, 200), used("s2", "a", 100, 300)});
  const auto all = store_->usage({}).value();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].input, 16);
  EXPECT_EQ(all[0].answers, 2);
  EXPECT_EQ(all[1].session, SessionId{"s2"});
  EXPECT_EQ(store_->usage({.since = 150}).value().at(0).input, 1);
  EXPECT_EQ(store_->usage({.until = 150}).value().size(), 1u);
  EXPECT_TRUE(store_->usage({.agent = "Bob"}).value().empty());
  EXPECT_EQ(store_->usage({.session = "s2"}).value().at(0).input, 100);
}

TEST_P(MessageStoreSuite, SessionEndedEventHasSummary) {
  Session session;
  session.id = SessionId{"s1"};
  session.agent = AgentName{"Alice"};
  session.started = 1'000;
  commit({PutSession{session}, AddSessionStats{session.id, {2, 1, {"b.cc", "a.cc"}}, 1'100},
          AddSessionStats{session.id, {1, 0, {"a.cc"}}, 1'200},
          PutUsage{
              {.session = session.id, .request = "r", .agent = session.agent, .model = "m", .input = 7, .output = 3}}});
  session.ended = 3'000;
  commit({PutSession{session}, happened("session.ended", 3'000, R"({"endedAt":3000,"reason":"released"})")});
  EXPECT_EQ(json::serialize(first(*store_, "session.ended").at("summary")),
            R"({"duration":2000,"itemCount":3,"filesModified":["a.cc","b.cc"],"commandsRun":1,"totalTokens":10})");
  const PriceOf ten_cents_a_token = [](const std::vector<UsageSum>& sums) {
    return std::optional{0.1 * static_cast<double>(sums.at(0).input + sums.at(0).output)};
  };
  EventQuery query;
  query.price_of = ten_cents_a_token;
  const auto priced = store_->events(query).value();
  EXPECT_NE(priced.events.back().json.find(R"("totalTokens":10,"estimatedCost":1E0)"), std::string::npos)
      << priced.events.back().json;
  const auto row = store_->session(session.id).value();
  EXPECT_EQ(row.stats.items, 3);
  EXPECT_EQ(row.session.ended, 3'000);
  EXPECT_FALSE(store_->session(SessionId{"nobody"}));
}

}  // namespace relay::store
