#include "store/message_store.h"

#include "store/memory/store.h"
#include "store/message_store_suite.h"
#include "store/sqlite/store.h"
#include "store/testing/forwarding_store.h"
#include "store/testing/sim_disk.h"

namespace relay::store {

using namespace records;
using namespace sample;

TEST_P(MessageStoreSuite, CountsWhatKnownAgentsSentAndReceived) {
  commit({PutAgent{agent("Alice")}, PutAgent{agent("Bob")}});
  commit({AddMessage{message(1, "Alice", "Bob", "one")}, AddDelivery{delivery(2, 1, "Bob")},
          AddMessage{message(3, "Carol", "Bob", "from an unknown agent")}});
  commit({ChangeDelivery{Key{2}, DeliveryState::Delivered, Proof::Accepted, kStart}});
  commit({ChangeDelivery{Key{2}, DeliveryState::Delivered, Proof::Seen, kStart}, PutAgent{agent("Alice")},
          PutAgent{agent("Carol")}});
  auto counts = store_->load()->counts;
  ASSERT_EQ(counts.size(), 2u);
  EXPECT_EQ(counts[0].agent.value(), "Alice");
  EXPECT_EQ(counts[0].sent, 1u);
  EXPECT_EQ(counts[0].received, 0u);
  EXPECT_EQ(counts[1].agent.value(), "Bob");
  EXPECT_EQ(counts[1].received, 1u) << "a stronger proof does not count again";
  commit({RemoveAgent{AgentName{"Alice"}, false, kStart}, PutAgent{agent("Alice")}});
  EXPECT_EQ(store_->load()->counts.size(), 1u) << "a removed name starts again at 0";
}

TEST_P(MessageStoreSuite, ReturnsMessageByteForByte) {
  auto sent = message(1, "Alice", "Bob", "build is green");
  sent.topic = Topic{"ci"};
  sent.kind = "state";
  sent.thread = "t1";
  sent.payload_meta = R"({"importance":7})";
  sent.payload = "{\"kind\":\"state\", \"body\":\"\\u00e9\xc3\xa9\",\"data\":{ }}";
  commit({AddMessage{sent}});
  const auto found = rows(QueryBuilder{});
  ASSERT_EQ(found.size(), 1u);
  const auto& back = found[0].message;
  EXPECT_EQ(back.key, sent.key);
  EXPECT_EQ(back.id, sent.id);
  EXPECT_EQ(back.ts, sent.ts);
  EXPECT_EQ(back.from, sent.from);
  EXPECT_EQ(back.to, sent.to);
  EXPECT_EQ(back.topic, sent.topic);
  EXPECT_EQ(back.kind, sent.kind);
  EXPECT_EQ(back.thread, sent.thread);
  EXPECT_EQ(back.payload, sent.payload);
  EXPECT_EQ(back.payload_meta, sent.payload_meta);
  EXPECT_EQ(back.session, sent.session);
}

TEST_P(MessageStoreSuite, RollbackRemovesGroup) {
  commit(direct(1, "Alice", "Bob", "first", 1));
  ASSERT_TRUE(store_->begin());
  for (const auto& one : direct(3, "Alice", "Bob", "second", 2)) ASSERT_TRUE(store_->apply(one));
  ASSERT_TRUE(store_->apply(change(2, DeliveryState::Delivered)));
  ASSERT_TRUE(store_->apply(PutAgent{agent("New")}));
  ASSERT_TRUE(store_->apply(RemoveAgent{AgentName{"Alice"}, true, kStart}));
  store_->rollback();
  EXPECT_EQ(keys(QueryBuilder{}), Keys{1});
  EXPECT_EQ(backlog_keys("Bob"), Keys{2});
  const auto snapshot = load();
  EXPECT_EQ(snapshot.newest, Key{2});
  EXPECT_TRUE(snapshot.agents.empty());
  ASSERT_EQ(snapshot.streams.size(), 1u);
  EXPECT_EQ(snapshot.streams[0].last, Seq{1});
  commit(direct(3, "Alice", "Bob", "second again", 2));
  EXPECT_EQ(backlog_keys("Bob"), (Keys{2, 4}));
}

TEST_P(MessageStoreSuite, RefusesDuplicateKeyAndStaysUsable) {
  commit(direct(1, "Alice", "Bob", "first"));
  const auto again = sample::commit(*store_, direct(1, "Mallory", "Bob", "other"));
  ASSERT_FALSE(again);
  EXPECT_TRUE(is(again.error(), Errc::BadChange)) << again.error().message();
  EXPECT_EQ(rows(QueryBuilder{}).at(0).message.from, AgentName{"Alice"});
  commit(direct(3, "Alice", "Bob", "second"));
}

TEST_P(MessageStoreSuite, RefusesDeliveryWithoutMessage) {
  const auto done = sample::commit(*store_, {AddDelivery{delivery(5, 4, "Bob")}});
  ASSERT_FALSE(done);
  EXPECT_TRUE(is(done.error(), Errc::BadChange));
}

TEST_P(MessageStoreSuite, LoadsPendingDeliveriesOfRecipientInOrder) {
  for (std::int64_t key = 1; key <= 9; key += 2) commit(direct(key, "Alice", "Bob", "to bob"));
  commit(direct(11, "Alice", "Carol", "to carol"));
  commit({change(4, DeliveryState::Delivered), change(6, DeliveryState::Accepted)});
  EXPECT_EQ(backlog_keys("Bob"), (Keys{2, 6, 8, 10}));
  EXPECT_EQ(backlog_keys("Bob", 6), (Keys{8, 10}));
  EXPECT_EQ(backlog_keys("Nobody"), Keys{});
  auto request = backlog_of("Bob");
  request.max_rows = 2;
  const auto page = store_->backlog(request);
  ASSERT_EQ(page->items.size(), 2u);
  EXPECT_TRUE(page->more);
  EXPECT_EQ(page->items[1].delivery.state, DeliveryState::Accepted);
  EXPECT_EQ(page->items[1].message.key, Key{5});
  EXPECT_EQ(page->items[1].delivery.to, AgentName{"Bob"});
}

TEST_P(MessageStoreSuite, BacklogReturnsAtLeastOneRowOfAnySize) {
  commit(direct(1, "Alice", "Bob", std::string(10'000, 'x')));
  commit(direct(3, "Alice", "Bob", "small"));
  auto request = backlog_of("Bob");
  request.max_bytes = 100;
  const auto page = store_->backlog(request);
  ASSERT_EQ(page->items.size(), 1u);
  EXPECT_TRUE(page->more);
}

TEST_P(MessageStoreSuite, BacklogIncludesOpenGroup) {
  ASSERT_TRUE(store_->begin());
  for (const auto& one : direct(1, "Alice", "Bob", "hello")) ASSERT_TRUE(store_->apply(one));
  EXPECT_EQ(backlog_keys("Bob"), Keys{2});
  store_->rollback();
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
}

TEST_P(MessageStoreSuite, ExpiresDueDeliveriesAndReturnsNextExpiry) {
  auto soon = delivery(2, 1, "Bob");
  soon.expires_at = kStart + 10;
  auto later = delivery(4, 3, "Bob", 1, "Carol");
  later.expires_at = kStart + 20;
  auto done = delivery(6, 5, "Bob", 2, "Carol");
  done.expires_at = kStart + 5;
  commit({AddMessage{message(1, "Alice", "Bob", "a")}, AddDelivery{soon}, AddMessage{message(3, "Carol", "Bob", "b")},
          AddDelivery{later}, AddMessage{message(5, "Carol", "Bob", "c")}, AddDelivery{done},
          change(6, DeliveryState::Delivered)});
  EXPECT_EQ(load().next_expiry, kStart + 10);
  ASSERT_TRUE(store_->begin());
  const auto result = store_->expire({kStart + 10, 100});
  ASSERT_TRUE(result && store_->commit());
  ASSERT_EQ(result->expired.size(), 1u);
  EXPECT_EQ(result->expired[0].delivery, Key{2});
  EXPECT_EQ(result->expired[0].message, Key{1});
  EXPECT_EQ(result->expired[0].from, AgentName{"Alice"});
  EXPECT_EQ(result->expired[0].to, AgentName{"Bob"});
  EXPECT_EQ(result->expired[0].message_id, "id-1");
  EXPECT_EQ(result->next_expiry, kStart + 20);
  EXPECT_EQ(backlog_keys("Bob", 0, "Carol"), Keys{4});
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
  ASSERT_TRUE(store_->begin());
  const auto rest = store_->expire({kStart + 1'000, 100});
  ASSERT_TRUE(rest && store_->commit());
  EXPECT_EQ(rest->next_expiry, 0);
}

TEST_P(MessageStoreSuite, KeepsHistoryOfEachDelivery) {
  commit(direct(1, "Alice", "Bob", "hello"));
  commit({change(2, DeliveryState::Accepted, kStart + 50), change(2, DeliveryState::Delivered, kStart + 60),
          change(99, DeliveryState::Delivered)});
  const auto trace = store_->trace(short_id(Key{1}));
  ASSERT_TRUE(trace) << trace.error().message();
  ASSERT_EQ(trace->deliveries.size(), 1u);
  const auto& history = trace->deliveries[0].history;
  ASSERT_EQ(history.size(), 3u);
  EXPECT_EQ(history[0].at, kStart + 1);
  EXPECT_EQ(history[0].state, DeliveryState::Queued);
  EXPECT_EQ(history[1].state, DeliveryState::Accepted);
  EXPECT_EQ(history[2].at, kStart + 60);
  EXPECT_EQ(history[2].reason, "because");
  EXPECT_EQ(trace->deliveries[0].delivery.state, DeliveryState::Delivered);
}

TEST_P(MessageStoreSuite, GroupSeesItsOwnChanges) {
  ASSERT_TRUE(store_->begin());
  for (const auto& one : direct(1, "Alice", "Bob", "hello")) ASSERT_TRUE(store_->apply(one));
  EXPECT_EQ(backlog_keys("Bob"), Keys{2});
  ASSERT_TRUE(store_->apply(change(2, DeliveryState::Accepted)));
  EXPECT_EQ(entry(2).history.size(), 2u);
  ASSERT_TRUE(store_->apply(change(2, DeliveryState::Delivered)));
  for (const auto& one : direct(3, "Alice", "Bob", "again")) ASSERT_TRUE(store_->apply(one));
  EXPECT_EQ(backlog_keys("Bob"), Keys{4});
  EXPECT_EQ(store_->expire({kStart + 2'000'000, 10})->expired.size(), 1u);
  EXPECT_EQ(store_->events({})->events.size(), 7u);
  ASSERT_TRUE(store_->commit());
  EXPECT_EQ(entry(2).history.size(), 3u);
  EXPECT_EQ(entry(4).delivery.state, DeliveryState::Expired);
  EXPECT_EQ(store_->newest_event().value(), 7u);
}

TEST_P(MessageStoreSuite, StoresDeliveryAddedAsAccepted) {
  auto accepted = delivery(2, 1, "Bob");
  accepted.state = DeliveryState::Accepted;
  accepted.proof = Proof::Accepted;
  commit({AddMessage{message(1, "Alice", "Bob", "hello")}, AddDelivery{accepted}, change(2, DeliveryState::Delivered)});
  const auto trace = store_->trace(delivery_id(Key{2}));
  ASSERT_TRUE(trace);
  ASSERT_EQ(trace->deliveries.at(0).history.size(), 2u);
  EXPECT_EQ(trace->deliveries[0].history[0].state, DeliveryState::Accepted);
}

TEST_P(MessageStoreSuite, RemovingAgentCancelsItsPendingDeliveries) {
  commit({PutAgent{agent("Bob")}, PutSession{session("s", "Bob")}, JoinChannel{{"#a", AgentName{"Bob"}}}});
  commit(direct(1, "Alice", "Bob", "hello"));
  commit(direct(3, "Bob", "Alice", "from bob, stays pending"));
  commit({RemoveAgent{AgentName{"Bob"}, true, kStart + 9}});
  const auto snapshot = load();
  EXPECT_TRUE(snapshot.agents.empty());
  EXPECT_TRUE(snapshot.sessions.empty());
  EXPECT_TRUE(snapshot.memberships.empty());
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
  EXPECT_EQ(backlog_keys("Alice", 0, "Bob"), Keys{4}) << "still pending for Alice";
  const auto trace = store_->trace(short_id(Key{1}));
  EXPECT_EQ(trace->deliveries.at(0).delivery.state, DeliveryState::Cancelled);
  EXPECT_EQ(trace->deliveries.at(0).history.back().at, kStart + 9);
}

TEST_P(MessageStoreSuite, RemovingAgentWithMessagesRemovesThem) {
  commit(direct(1, "Bob", "Alice", "old words"));
  commit({change(2, DeliveryState::Delivered)});
  index_all();
  commit(direct(3, "Bob", "Alice", "newer words"));
  commit({change(4, DeliveryState::Delivered), RemoveAgent{AgentName{"Bob"}, true, kStart}});
  EXPECT_EQ(keys(QueryBuilder{}), Keys{});
  EXPECT_EQ(keys(QueryBuilder{}.search("words")), Keys{});
  EXPECT_EQ(load().newest, Key{4}) << "keys are never reused";
}

TEST_P(MessageStoreSuite, PrunesByAgeButKeepsPending) {
  for (std::int64_t key = 1; key < 40; key += 2) commit(direct(key, "Alice", "Bob", "note"));
  index_all();
  Changes done;
  for (std::int64_t key = 2; key <= 40; key += 2) {
    if (key != 6) done.push_back(change(key, DeliveryState::Delivered));
  }
  commit(done);
  prune_all({.max_age_ms = 1'000}, kStart + 1'000 + 20);
  EXPECT_EQ(keys(QueryBuilder{}.ascending()), (Keys{5, 21, 23, 25, 27, 29, 31, 33, 35, 37, 39}));
  EXPECT_EQ(keys(QueryBuilder{}.ascending().search("note")).size(), 11u);
  EXPECT_EQ(backlog_keys("Bob"), Keys{6});
  EXPECT_FALSE(store_->trace(short_id(Key{1})));
  prune_all({.max_age_ms = 1'000}, kStart + 100'000);
  EXPECT_EQ(keys(QueryBuilder{}), Keys{5});
  EXPECT_EQ(load().newest, Key{40});
}

TEST_P(MessageStoreSuite, RefusesDeliveryOfPrunedMessage) {
  commit(direct(1, "Alice", "Bob", "hello"));
  commit({change(2, DeliveryState::Delivered)});
  prune_all({.max_age_ms = 1}, kStart + 1'000'000'000);
  const auto again = sample::commit(*store_, {AddDelivery{delivery(3, 1, "Bob")}});
  ASSERT_FALSE(again);
  EXPECT_TRUE(is(again.error(), Errc::BadChange)) << again.error().message();
}

TEST_P(MessageStoreSuite, PrunesOldestWhenTooLarge) {
  const std::string body(20'000, 'x');
  for (std::int64_t key = 1; key < 200; key += 2) commit({AddMessage{message(key, "Alice", "#log", body)}});
  prune_all({.max_bytes = 1 << 20}, kStart);
  const auto remaining = keys(QueryBuilder{}.limit(1'000));
  EXPECT_LT(remaining.size(), 60u);
  EXPECT_GT(remaining.size(), 10u);
  EXPECT_EQ(remaining.front(), 199) << "the newest stay";
  EXPECT_LE(store_->stats()->bytes, 3u << 20);
}

TEST_P(MessageStoreSuite, PrunesEndedSessionsAndUnusedOutboxMarks) {
  const WallMs now = kStart + 400LL * 24 * 3600 * 1000;
  auto ended = session("s", "A");
  ended.ended = kStart;
  commit({PutSession{ended}, SetOutboxMark{{AgentName{"A"}, "old", 1, {}, kStart}},
          SetOutboxMark{{AgentName{"A"}, "new", 1, {}, now - 1}}});
  prune_all({.max_age_ms = 1'000}, now);
  const auto snapshot = load();
  ASSERT_EQ(snapshot.marks.size(), 1u);
  EXPECT_EQ(snapshot.marks[0].epoch, "new");
}

TEST_P(MessageStoreSuite, OutboxMarkNeverGoesBack) {
  commit({SetOutboxMark{{AgentName{"A"}, "e", 5, {}, kStart}}, SetOutboxMark{{AgentName{"A"}, "e", 4, {}, kStart}}});
  commit({SetOutboxMark{{AgentName{"A"}, "e", 3, {}, kStart + 1}}});
  ASSERT_EQ(load().marks.size(), 1u);
  EXPECT_EQ(load().marks[0].high, 5u) << "an earlier commit, applied again, does not lower the mark";
}

namespace {

/// A SQLite store with its disk.
class SimDiskStore final : public ForwardingStore {
 public:
  SimDiskStore() {
    auto store = SqliteStore::open({.path = "messages.sqlite",
                                    .durability = Durability::Process,
                                    .vfs = disk_.vfs(),
                                    .sharing = Sharing::Exclusive});
    RELAY_ASSERT(store);
    store_ = *std::move(store);
  }

 private:
  MessageStore& target() override { return *store_; }

  SimDisk disk_;
  std::unique_ptr<SqliteStore> store_;
};

const StoreKind kKinds[] = {
    {"memory", [] { return std::make_unique<MemoryStore>(); }},
    {"sqlite", [] { return std::make_unique<SimDiskStore>(); }},
};

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, MessageStoreSuite, testing::ValuesIn(kKinds),
                         [](const auto& kind) { return kind.param.name; });

}  // namespace relay::store
