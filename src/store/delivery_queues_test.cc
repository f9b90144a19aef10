// The queues of every store: ready, held, requeued and dead deliveries; see message_store_suite.h.
#include "store/message_store_suite.h"

namespace relay::store {

using namespace records;
using namespace sample;
using protocol::DeliveryMode;
using protocol::Lane;
using protocol::Priority;

namespace {

constexpr Lane kUrgent{DeliveryMode::OnIdle, Priority::Urgent};
constexpr Lane kManual{DeliveryMode::Manual, Priority::Normal};

/// A message to Bob with key 2n-1, and its delivery with key 2n.
Changes to_bob(std::int64_t n, const std::string& from = "Alice", Lane lane = {}, Hold hold = Hold::None,
               WallMs available_at = 0) {
  auto row = delivery(2 * n, 2 * n - 1, "Bob", static_cast<std::uint64_t>(n), from);
  row.lane = lane;
  row.hold = hold;
  row.available_at = available_at;
  return {AddMessage{message(2 * n - 1, from, "Bob", "hello")}, AddDelivery{row}};
}

ChangeDelivery proven(std::int64_t key, Proof proof) {
  auto changed = change(key, DeliveryState::Delivered);
  changed.proof = proof;
  return changed;
}

ChangeDelivery deferred(std::int64_t key, Hold hold, WallMs available_at = 0) {
  auto changed = change(key, DeliveryState::Deferred);
  changed.hold = hold;
  changed.available_at = available_at;
  return changed;
}

RequeueDelivery requeue(std::int64_t key, std::int64_t rank, Lane lane = {}) {
  return {Key{key}, lane, Key{rank}, Seq{static_cast<std::uint64_t>(rank)}, kStart + 600, "again"};
}

HeldRequest held_of(const std::string& to, std::optional<DeliveryMode> mode = {}, std::int64_t after = 0) {
  HeldRequest request;
  request.to = AgentName{to};
  request.mode = mode;
  request.after = Key{after};
  return request;
}

HeldRequest due_by(WallMs time, std::size_t max_rows = 100) {
  HeldRequest request;
  request.due_by = time;
  request.max_rows = max_rows;
  return request;
}

}  // namespace

TEST_P(MessageStoreSuite, EachSenderAndLaneHasItsQueue) {
  commit(to_bob(1, "Alice"));
  commit(to_bob(2, "Carol"));
  commit(to_bob(3, "Alice", kUrgent));
  commit(to_bob(4, "Alice", kManual));
  commit(to_bob(5, "Alice"));
  EXPECT_EQ(backlog_keys("Bob"), (Keys{2, 10}));
  EXPECT_EQ(backlog_keys("Bob", 2), Keys{10});
  EXPECT_EQ(backlog_keys("Bob", 0, "Carol"), Keys{4});
  EXPECT_EQ(backlog_keys("Bob", 0, "Alice", kUrgent), Keys{6});
  EXPECT_EQ(backlog_keys("Bob", 0, "Carol", kUrgent), Keys{});
  EXPECT_EQ(backlog_keys("Bob", 0, "Nobody"), Keys{});
  const auto page = store_->backlog(backlog_of("Bob", 0, "Alice", kManual));
  ASSERT_TRUE(page);
  EXPECT_EQ(page->lane, kManual);
  EXPECT_EQ(page->from, AgentName{"Alice"});
  ASSERT_EQ(page->items.size(), 1u);
  EXPECT_EQ(page->items[0].delivery.lane, kManual);
  EXPECT_EQ(page->items[0].delivery.from, AgentName{"Alice"});
  EXPECT_EQ(page->items[0].delivery.rank, Key{8});
}

TEST_P(MessageStoreSuite, KeepsAStreamForEachLane) {
  const auto stream = [](Lane lane, std::uint64_t last) {
    return SetStream{{Topic{"t"}, AgentName{"Alice"}, AgentName{"Bob"}, lane, Seq{last}, Seq{}}};
  };
  commit({stream({}, 3), stream(kUrgent, 1), stream({}, 4)});
  commit({stream(kUrgent, 2)});
  const auto streams = load().streams;
  ASSERT_EQ(streams.size(), 2u);
  EXPECT_EQ(streams[0].lane, Lane{});
  EXPECT_EQ(streams[0].last, Seq{4});
  EXPECT_EQ(streams[1].lane, kUrgent);
  EXPECT_EQ(streams[1].last, Seq{2});
}

TEST_P(MessageStoreSuite, RequeuesDeliveryAtEnd) {
  for (std::int64_t n = 1; n <= 3; ++n) commit(to_bob(n));
  auto failed = deferred(2, Hold::Time, kStart + 900);
  failed.attempts = 3;
  commit({failed});
  EXPECT_EQ(backlog_keys("Bob"), (Keys{4, 6}));
  commit({requeue(2, 7)});
  EXPECT_EQ(backlog_keys("Bob"), (Keys{4, 6, 2}));
  EXPECT_EQ(backlog_keys("Bob", 6), Keys{2}) << "by rank, not by key";
  EXPECT_EQ(backlog_keys("Bob", 7), Keys{});
  const auto again = entry(2);
  EXPECT_EQ(again.delivery.state, DeliveryState::Queued);
  EXPECT_EQ(again.delivery.proof, Proof::Stored);
  EXPECT_EQ(again.delivery.hold, Hold::None);
  EXPECT_EQ(again.delivery.available_at, 0);
  EXPECT_EQ(again.delivery.attempts, 3u);
  EXPECT_EQ(again.delivery.rank, Key{7});
  EXPECT_EQ(again.delivery.seq, Seq{7});
  ASSERT_EQ(again.history.size(), 3u);
  EXPECT_EQ(again.history[2].state, DeliveryState::Queued);
  EXPECT_EQ(again.history[2].at, kStart + 600);
  EXPECT_EQ(again.history[2].reason, "again");
  EXPECT_EQ(load().newest, Key{7}) << "a rank is a key, and keys are never reused";
  EXPECT_EQ(store_->held(due_by(kStart + 10'000))->items.size(), 0u);
}

TEST_P(MessageStoreSuite, RequeueMovesDeliveryToAnotherLane) {
  commit(to_bob(1, "Alice", kManual));
  commit(to_bob(2));
  commit({change(2, DeliveryState::Accepted), requeue(2, 5)});
  EXPECT_EQ(backlog_keys("Bob", 0, "Alice", kManual), Keys{});
  EXPECT_EQ(backlog_keys("Bob"), (Keys{4, 2}));
  commit({requeue(4, 6, kUrgent)});
  EXPECT_EQ(backlog_keys("Bob"), Keys{2});
  EXPECT_EQ(backlog_keys("Bob", 0, "Alice", kUrgent), Keys{4});
}

TEST_P(MessageStoreSuite, RequeueIgnoresFinalAndUnknownDeliveries) {
  commit(to_bob(1));
  commit({change(2, DeliveryState::Failed), requeue(2, 9), requeue(88, 10)});
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
  EXPECT_EQ(entry(2).delivery.state, DeliveryState::Failed);
  EXPECT_EQ(entry(2).history.size(), 2u);
}

TEST_P(MessageStoreSuite, RollbackRestoresQueues) {
  commit(to_bob(1));
  commit(to_bob(2));
  ASSERT_TRUE(store_->begin());
  ASSERT_TRUE(store_->apply(requeue(2, 9, kUrgent)));
  ASSERT_TRUE(store_->apply(deferred(4, Hold::Time, kStart + 5)));
  ASSERT_TRUE(store_->apply(change(4, DeliveryState::Dead)));
  store_->rollback();
  EXPECT_EQ(backlog_keys("Bob"), (Keys{2, 4}));
  EXPECT_EQ(load().newest, Key{4});
  EXPECT_EQ(load().next_due, 0);
  EXPECT_EQ(dead({}), Keys{});
  commit(to_bob(3));
  EXPECT_EQ(load().newest, Key{6});
}

TEST_P(MessageStoreSuite, HeldDeliveryLeavesQueueAndStaysPending) {
  commit(to_bob(1, "Alice", {}, Hold::Policy));
  commit(to_bob(2, "Alice", {}, Hold::Time, kStart + 500));
  commit(to_bob(3));
  commit(to_bob(4));
  commit({deferred(8, Hold::Time, kStart + 300)});
  EXPECT_EQ(backlog_keys("Bob"), Keys{6});
  EXPECT_EQ(keys(QueryBuilder{}.delivered_to("Bob").unread_only()), (Keys{7, 5, 3, 1}));
  EXPECT_EQ(store_->stats()->pending, 4u);
  const auto snapshot = load();
  ASSERT_EQ(snapshot.backlogs.size(), 1u);
  EXPECT_EQ(snapshot.backlogs[0].pending, 4u);
  EXPECT_EQ(snapshot.backlogs[0].held, 3u);
  EXPECT_EQ(snapshot.next_due, kStart + 300);
  const auto row = entry(8).delivery;
  EXPECT_EQ(row.hold, Hold::Time);
  EXPECT_EQ(row.available_at, kStart + 300);
  commit({RemoveAgent{AgentName{"Bob"}, false, kStart + 9}});
  for (const std::int64_t key : {2, 4, 6, 8}) EXPECT_EQ(entry(key).delivery.state, DeliveryState::Cancelled);
  EXPECT_TRUE(load().backlogs.empty());
  EXPECT_EQ(load().next_due, 0);
  EXPECT_EQ(held(held_of("Bob")), Keys{});
}

TEST_P(MessageStoreSuite, HeldDeliveryExpires) {
  for (const auto hold : {Hold::Time, Hold::Policy}) {
    auto changes = to_bob(hold == Hold::Time ? 1 : 2, "Alice", {}, hold, kStart + 90'000);
    std::get<AddDelivery>(changes[1]).delivery.expires_at = kStart + 50;
    commit(changes);
  }
  EXPECT_EQ(load().next_expiry, kStart + 50);
  ASSERT_TRUE(store_->begin());
  const auto result = store_->expire({kStart + 50, 100});
  ASSERT_TRUE(result && store_->commit());
  ASSERT_EQ(result->expired.size(), 2u);
  EXPECT_EQ(result->expired[0].hold, Hold::Time);
  EXPECT_EQ(result->expired[1].hold, Hold::Policy);
  EXPECT_EQ(held(held_of("Bob")), Keys{});
  EXPECT_EQ(load().next_due, 0);
  EXPECT_EQ(entry(2).delivery.hold, Hold::None);
  EXPECT_EQ(dead({}), (Keys{4, 2}));
}

TEST_P(MessageStoreSuite, ReadsDueDeliveriesAndNextDueTime) {
  commit(to_bob(1, "Alice", {}, Hold::Time, kStart + 30));
  commit(to_bob(2, "Carol", kUrgent, Hold::Time, kStart + 10));
  commit(to_bob(3, "Alice", {}, Hold::Time, kStart + 20));
  commit(to_bob(4, "Alice", {}, Hold::Policy));
  commit(to_bob(5, "Alice", kManual));
  auto page = store_->held(due_by(kStart + 9)).value();
  EXPECT_EQ(keys_of(page), Keys{});
  EXPECT_EQ(page.next_due, kStart + 10);
  page = store_->held(due_by(kStart + 25)).value();
  EXPECT_EQ(keys_of(page), (Keys{4, 6}));
  EXPECT_FALSE(page.more);
  EXPECT_EQ(page.next_due, kStart + 30);
  EXPECT_EQ(page.items[0].delivery.from, AgentName{"Carol"});
  EXPECT_EQ(page.items[0].delivery.to, AgentName{"Bob"});
  EXPECT_EQ(page.items[0].delivery.lane, kUrgent);
  page = store_->held(due_by(kStart + 25, 1)).value();
  EXPECT_EQ(keys_of(page), Keys{4});
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.next_due, kStart + 20);
  page = store_->held(due_by(kStart + 30)).value();
  EXPECT_EQ(keys_of(page), (Keys{4, 6, 2}));
  EXPECT_EQ(page.next_due, 0);
}

TEST_P(MessageStoreSuite, ListsDeliveriesHeldByPolicyOrManualLane) {
  auto about = to_bob(1, "Alice", {}, Hold::Policy);
  std::get<AddMessage>(about[0]).message.topic = Topic{"review"};
  commit(about);
  commit(to_bob(2, "Carol", kManual));
  commit(to_bob(3, "Alice", kUrgent, Hold::Time, kStart + 20));
  commit(to_bob(4, "Alice"));
  commit(to_bob(5, "Alice", {DeliveryMode::Manual, Priority::Urgent}, Hold::Policy));
  commit({AddMessage{message(11, "Alice", "Dave", "other")}, AddDelivery{[] {
            auto other = delivery(12, 11, "Dave");
            other.hold = Hold::Policy;
            return other;
          }()}});
  EXPECT_EQ(held(held_of("Bob")), (Keys{2, 4, 6, 10}));
  EXPECT_EQ(held(held_of("Bob", {}, 4)), (Keys{6, 10}));
  EXPECT_EQ(held(held_of("Bob", DeliveryMode::Manual)), (Keys{4, 10}));
  EXPECT_EQ(held(held_of("Bob", DeliveryMode::OnIdle)), (Keys{2, 6}));
  EXPECT_EQ(held(held_of("Bob", DeliveryMode::Immediate)), Keys{});
  EXPECT_EQ(held(held_of("Nobody")), Keys{});
  auto request = held_of("Bob");
  request.max_rows = 3;
  const auto page = store_->held(request).value();
  EXPECT_EQ(keys_of(page), (Keys{2, 4, 6}));
  EXPECT_TRUE(page.more);
  EXPECT_EQ(page.items[0].topic, Topic{"review"});
  EXPECT_EQ(page.next_due, 0);
  request.after = Key{6};
  EXPECT_FALSE(store_->held(request)->more);
}

TEST_P(MessageStoreSuite, DeliveredRowOnlyGainsProof) {
  commit(to_bob(1));
  auto first = proven(2, Proof::Accepted);
  first.via = "pty";
  first.evidence = "status working";
  commit({first, proven(2, Proof::Accepted), proven(2, Proof::Stored)});
  EXPECT_EQ(entry(2).history.size(), 2u) << "an equal or weaker proof adds no entry";
  EXPECT_EQ(entry(2).history[1].via, "pty");
  EXPECT_EQ(entry(2).history[1].evidence, "status working");
  commit({proven(2, Proof::Seen)});
  EXPECT_EQ(entry(2).delivery.proof, Proof::Seen);
  EXPECT_EQ(entry(2).history.size(), 3u);
  EXPECT_EQ(entry(2).history[2].via, "");
  commit({proven(2, Proof::Submitted), change(2, DeliveryState::Accepted), change(2, DeliveryState::Failed),
          change(2, DeliveryState::Cancelled), deferred(2, Hold::Time, kStart + 5)});
  EXPECT_EQ(entry(2).delivery.state, DeliveryState::Delivered);
  EXPECT_EQ(entry(2).delivery.proof, Proof::Seen);
  EXPECT_EQ(entry(2).history.size(), 3u);
  EXPECT_EQ(store_->stats()->pending, 0u);
}

TEST_P(MessageStoreSuite, UndeliveredFinalRowOnlyBecomesCancelled) {
  using enum DeliveryState;
  std::int64_t n = 0;
  for (const auto state : {Failed, Dead}) {
    commit(to_bob(++n));
    const auto key = 2 * n;
    commit({change(key, state), change(key, Queued), change(key, Accepted), proven(key, Proof::Seen),
            change(key, state), deferred(key, Hold::Policy)});
    EXPECT_EQ(entry(key).delivery.state, state);
    EXPECT_EQ(entry(key).history.size(), 2u);
    commit({change(key, Cancelled)});
    EXPECT_EQ(entry(key).delivery.state, Cancelled);
    EXPECT_EQ(entry(key).history.size(), 3u);
  }
  EXPECT_EQ(dead({}), Keys{});
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
}

TEST_P(MessageStoreSuite, CancelledDeliveryAcceptsLateReceipt) {
  using enum DeliveryState;
  std::int64_t n = 0;
  for (const auto receipt : {Delivered, InDoubt}) {
    commit(to_bob(++n));
    const auto key = 2 * n;
    commit({change(key, Cancelled), change(key, Queued), change(key, Accepted), change(key, Failed), change(key, Dead),
            change(key, Expired), change(key, Cancelled), deferred(key, Hold::Policy)});
    EXPECT_EQ(entry(key).delivery.state, Cancelled);
    EXPECT_EQ(entry(key).history.size(), 2u);
    commit({change(key, receipt)});
    EXPECT_EQ(entry(key).delivery.state, receipt);
    EXPECT_EQ(entry(key).history.size(), 3u);
  }
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
}

TEST_P(MessageStoreSuite, ExpiredDeliveryAcceptsLateReceipt) {
  using enum DeliveryState;
  std::int64_t n = 0;
  for (const auto late : {Expired, InDoubt}) {
    for (const auto receipt : {Delivered, Failed, Expired, InDoubt, Dead, Cancelled}) {
      commit(to_bob(++n));
      const auto key = 2 * n;
      commit({change(key, late), change(key, Queued), change(key, Accepted), change(key, late),
              deferred(key, Hold::Policy)});
      EXPECT_EQ(entry(key).delivery.state, late);
      EXPECT_EQ(entry(key).history.size(), 2u);
      commit({change(key, receipt)});
      EXPECT_EQ(entry(key).delivery.state, receipt);
      EXPECT_EQ(entry(key).history.size(), receipt == late ? 2u : 3u);
    }
  }
  EXPECT_EQ(dead({}).size(), 8u);
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
}

TEST_P(MessageStoreSuite, AttemptsChangeOnlyWhenGiven) {
  commit(to_bob(1));
  auto tried = change(2, DeliveryState::Deferred);
  tried.attempts = 2;
  commit({tried, change(2, DeliveryState::Accepted)});
  EXPECT_EQ(entry(2).delivery.attempts, 2u);
  tried.attempts = 0;
  commit({tried});
  EXPECT_EQ(entry(2).delivery.attempts, 0u);
}

TEST_P(MessageStoreSuite, ReleasedDeliveryReturnsToQueue) {
  commit(to_bob(1));
  commit({deferred(2, Hold::Policy)});
  EXPECT_EQ(backlog_keys("Bob"), Keys{});
  commit({change(2, DeliveryState::Accepted)});
  EXPECT_EQ(backlog_keys("Bob"), Keys{2});
  EXPECT_EQ(held(held_of("Bob")), Keys{});
}

TEST_P(MessageStoreSuite, FirstHistoryEntryHasReason) {
  auto refused = delivery(2, 1, "Bob");
  refused.state = DeliveryState::Deferred;
  refused.hold = Hold::Policy;
  commit({AddMessage{message(1, "Alice", "Bob", "hello")}, AddDelivery{refused, "Bob's policy holds it"},
          AddDelivery{delivery(3, 1, "Bob"), {}, kStart + 7'000}, change(3, DeliveryState::Accepted)});
  ASSERT_EQ(entry(2).history.size(), 1u);
  EXPECT_EQ(entry(2).history[0].state, DeliveryState::Deferred);
  EXPECT_EQ(entry(2).history[0].reason, "Bob's policy holds it");
  EXPECT_EQ(entry(2).history[0].at, kStart + 1);
  ASSERT_EQ(entry(3).history.size(), 2u);
  EXPECT_EQ(entry(3).history[0].state, DeliveryState::Queued);
  EXPECT_EQ(entry(3).history[0].at, kStart + 7'000) << "redelivered, long after its message";
  const auto whole = entry(2).delivery;
  EXPECT_EQ(whole.from, AgentName{"Alice"});
  EXPECT_EQ(whole.to, AgentName{"Bob"});
  EXPECT_EQ(whole.message, Key{1});
  EXPECT_EQ(whole.hold, Hold::Policy);
}

TEST_P(MessageStoreSuite, ListsDeadLettersNewestFirst) {
  using enum DeliveryState;
  const std::pair<const char*, DeliveryState> ends[] = {{"Alice", Failed},  {"Carol", Expired},   {"Alice", InDoubt},
                                                        {"Alice", Dead},    {"Carol", Cancelled}, {"Alice", Delivered},
                                                        {"Carol", Accepted}};
  std::int64_t n = 0;
  for (const auto& [from, state] : ends) {
    commit(to_bob(++n, from));
    commit({change(2 * n, state)});
  }
  commit({AddMessage{message(15, "Bob", "Dave", "to dave")}, AddDelivery{delivery(16, 15, "Dave", 1, "Bob")}});
  auto died = change(16, Dead, kStart + 77);
  died.via = "pty";
  died.evidence = "exit 1";
  died.attempts = 8;
  commit({change(16, Accepted), died});
  EXPECT_EQ(dead({}), (Keys{16, 8, 6, 4, 2}));
  EXPECT_EQ(store_->stats()->dead, 5u);
  DeliveryQuery query;
  query.limit = 2;
  EXPECT_EQ(dead(query), (Keys{16, 8}));
  query.before = Key{8};
  EXPECT_EQ(dead(query), (Keys{6, 4}));
  query.before = Key{4};
  EXPECT_EQ(dead(query), Keys{2});
  query = {};
  query.oldest_first = true;
  query.limit = 2;
  EXPECT_EQ(dead(query), (Keys{2, 4}));
  query.after = Key{4};
  EXPECT_EQ(dead(query), (Keys{6, 8}));
  query.to = "Bob";
  EXPECT_EQ(dead(query), (Keys{6, 8}));
  query.before = Key{8};
  EXPECT_EQ(dead(query), Keys{6});
  query.before = Key{3};
  EXPECT_EQ(dead(query), Keys{}) << "an empty range";
  query = {};
  query.to = "Bob";
  EXPECT_EQ(dead(query), (Keys{8, 6, 4, 2}));
  query.before = Key{7};
  EXPECT_EQ(dead(query), (Keys{6, 4, 2}));
  query.from = "Carol";
  EXPECT_EQ(dead(query), Keys{4});
  query = {};
  query.from = "Alice";
  query.states = {Dead, Failed};
  EXPECT_EQ(dead(query), (Keys{8, 2}));
  query.states = {Cancelled, Delivered, Queued};
  EXPECT_EQ(dead(query), Keys{}) << "these states are not dead";
  query = {};
  query.to = "Nobody";
  EXPECT_EQ(dead(query), Keys{});
  query.deliveries = {Key{12}};
  const auto one = store_->deliveries(query);
  ASSERT_TRUE(one);
  ASSERT_EQ(one->size(), 1u) << "selected by key, whatever its state";
  EXPECT_EQ(one->at(0).delivery.state, Delivered);
  query.deliveries = {Key{99}};
  EXPECT_EQ(dead(query), Keys{});
  const auto newest = store_->deliveries({}).value().front();
  EXPECT_EQ(newest.message.key, Key{15});
  EXPECT_EQ(newest.message.payload, message(15, "Bob", "Dave", "to dave").payload);
  EXPECT_EQ(newest.delivery.attempts, 8u);
  EXPECT_EQ(newest.last.at, kStart + 77);
  EXPECT_EQ(newest.last.reason, "because");
  EXPECT_EQ(newest.last.via, "pty");
  EXPECT_EQ(newest.last.evidence, "exit 1");
}

TEST_P(MessageStoreSuite, DeliveryQueryByKeysKeepsTheirOrder) {
  for (std::int64_t n = 1; n <= 3; ++n) commit(to_bob(n));
  DeliveryQuery query;
  query.deliveries = {Key{6}, Key{99}, Key{2}};
  EXPECT_EQ(dead(query), (Keys{6, 2}));
}

TEST_P(MessageStoreSuite, ListsReadyDeliveriesOfModeWithLastReason) {
  constexpr Lane kNextMessage{DeliveryMode::NextMessage},
      kUrgently{DeliveryMode::NextMessage, protocol::Priority::Urgent};
  commit(to_bob(1, "Alice", kNextMessage));
  commit(to_bob(2, "Carol", kUrgently));
  commit(to_bob(3));
  commit(to_bob(4, "Alice", kNextMessage, Hold::Policy));
  commit(to_bob(5, "Alice", kNextMessage));
  commit({ChangeDelivery{.key = Key{4}, .state = DeliveryState::Deferred, .at = kStart, .reason = "busy"},
          change(10, DeliveryState::Delivered)});
  auto request = held_of("Bob", DeliveryMode::NextMessage);
  request.ready = true;
  request.max_rows = 1;
  auto page = store_->held(request).value();
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].delivery.key, Key{2});
  EXPECT_EQ(page.items[0].last_reason, "");
  EXPECT_TRUE(page.more);
  request.after = Key{2};
  request.max_rows = 9;
  page = store_->held(request).value();
  ASSERT_EQ(page.items.size(), 1u);
  EXPECT_EQ(page.items[0].delivery.key, Key{4});
  EXPECT_EQ(page.items[0].last_reason, "busy");
  EXPECT_FALSE(page.more);
}

TEST_P(MessageStoreSuite, ReadsImplicitFirstEntry) {
  commit(to_bob(1));
  DeliveryQuery query;
  query.deliveries = {Key{2}};
  const auto one = store_->deliveries(query).value().at(0);
  EXPECT_EQ(one.last.state, DeliveryState::Queued);
  EXPECT_EQ(one.last.at, kStart + 1);
}

TEST_P(MessageStoreSuite, RedeliversDeadDelivery) {
  commit(to_bob(1));
  commit({change(2, DeliveryState::Dead)});
  auto cancelled = change(2, DeliveryState::Cancelled);
  cancelled.reason = "redelivered as d-x";
  commit({AddDelivery{delivery(3, 1, "Bob", 2), "redelivered", kStart + 50}, cancelled});
  EXPECT_EQ(backlog_keys("Bob"), Keys{3});
  EXPECT_EQ(dead({}), Keys{});
  EXPECT_EQ(store_->stats()->dead, 0u);
  EXPECT_EQ(entry(2).history.back().reason, "redelivered as d-x");
}

TEST_P(MessageStoreSuite, DeliveryQueryReturnsAtLeastOneRowOfAnySize) {
  for (std::int64_t key = 1; key < 7; key += 2) {
    commit(direct(key, "Alice", "Bob", std::string(3 << 20, 'x')));
    commit({change(key + 1, DeliveryState::Dead)});
  }
  const auto some = dead({});
  EXPECT_GE(some.size(), 1u);
  EXPECT_LT(some.size(), 3u) << "a result is bounded in bytes";
  DeliveryQuery rest;
  rest.before = Key{some.back()};
  EXPECT_FALSE(dead(rest).empty());
}

TEST_P(MessageStoreSuite, LoadsTheSizeOfEachFlow) {
  commit(to_bob(1, "Carol"));
  commit(to_bob(2, "Alice", kUrgent));
  commit(to_bob(3, "Alice", {}, Hold::Time, kStart + 5));
  commit(to_bob(4, "Alice"));
  commit(to_bob(5, "Alice", kManual, Hold::Policy));
  commit(to_bob(6, "Alice"));
  commit({change(12, DeliveryState::Delivered)});
  const auto backlogs = load().backlogs;
  ASSERT_EQ(backlogs.size(), 4u);
  const auto summary_of = [&](std::size_t at) {
    const auto& flow = backlogs[at];
    return format("{}<{}:{} {}/{}", flow.to.value(), flow.from.value(), protocol::lane_code(flow.lane), flow.held,
                  flow.pending);
  };
  EXPECT_EQ(summary_of(0), "Bob<Alice:0 1/2");
  EXPECT_EQ(summary_of(1), "Bob<Carol:0 0/1");
  EXPECT_EQ(summary_of(2), "Bob<Alice:1 0/1");
  EXPECT_EQ(summary_of(3), "Bob<Alice:8 1/1");
  EXPECT_EQ(store_->stats()->oldest_pending, kStart + 1);
  commit({change(2, DeliveryState::Delivered)});
  EXPECT_EQ(store_->stats()->oldest_pending, kStart + 3);
  commit({RemoveAgent{AgentName{"Bob"}, false, kStart}});
  EXPECT_EQ(store_->stats()->oldest_pending, 0);
}

TEST_P(MessageStoreSuite, LoadsTheKeysOfIdempotentMessages) {
  auto first = message(1, "Alice", "Bob", "a");
  first.payload_meta = R"({"delivery":{"idempotencyKey":"k1","mode":"manual"}})";
  auto other = message(2, "Alice", "Bob", "b");
  other.payload_meta = R"({"importance":7})";
  auto broken = message(3, "Alice", "Bob", "c");
  broken.payload_meta = R"({"note":"idempotencyKey"})";
  auto last = message(4, "Carol", "Bob", "d");
  last.payload_meta = R"({"delivery":{"idempotencyKey":"k2"}})";
  commit({AddMessage{first}, AddMessage{other}, AddMessage{broken}, AddMessage{last}});
  const auto recent = load().recent_keys;
  ASSERT_EQ(recent.size(), 2u);
  EXPECT_EQ(recent[0].from, AgentName{"Alice"});
  EXPECT_EQ(recent[0].idempotency_key, "k1");
  EXPECT_EQ(recent[1].from, AgentName{"Carol"});
  EXPECT_EQ(recent[1].idempotency_key, "k2");
}

TEST_P(MessageStoreSuite, StoresPauseAndPolicyOfAgents) {
  auto paused = agent("Alice");
  paused.paused = true;
  paused.pause_reason = "lunch";
  paused.policy = {{"Bob", protocol::DeliveryPolicyAction::Refuse}, {"*", protocol::DeliveryPolicyAction::Hold}};
  commit({PutAgent{paused}, PutAgent{agent("Bob")}});
  const auto agents = load().agents;
  ASSERT_EQ(agents.size(), 2u);
  EXPECT_TRUE(agents[0].paused);
  EXPECT_EQ(agents[0].pause_reason, "lunch");
  EXPECT_EQ(agents[0].policy, paused.policy);
  EXPECT_FALSE(agents[1].paused);
  EXPECT_TRUE(agents[1].policy.empty());
}

TEST_P(MessageStoreSuite, StoresCapabilitiesOfSession) {
  auto able = session("s1", "Alice");
  able.capabilities.modes.emplace();
  able.capabilities.modes->add(DeliveryMode::Immediate);
  able.capabilities.modes->add(DeliveryMode::Manual);
  able.capabilities.queue = true;
  able.capabilities.pause = true;
  able.capabilities.receipt_steps = true;
  able.capabilities.contract = R"({"delivery":{"modes":["immediate","manual"],"queue":true}})";
  auto none = session("s2", "Bob");
  none.capabilities.modes.emplace();
  commit({PutSession{able}, PutSession{none}, PutSession{session("s3", "Carol")}});
  const auto sessions = load().sessions;
  ASSERT_EQ(sessions.size(), 3u);
  EXPECT_EQ(sessions[0].capabilities.modes, able.capabilities.modes);
  EXPECT_TRUE(sessions[0].capabilities.queue);
  EXPECT_TRUE(sessions[0].capabilities.pause);
  EXPECT_TRUE(sessions[0].capabilities.receipt_steps);
  EXPECT_EQ(sessions[0].capabilities.contract, able.capabilities.contract);
  ASSERT_TRUE(sessions[1].capabilities.modes) << "an empty set differs from an absent one";
  EXPECT_TRUE(sessions[1].capabilities.modes->empty());
  EXPECT_FALSE(sessions[2].capabilities.modes);
  EXPECT_FALSE(sessions[2].capabilities.queue);
}

}  // namespace relay::store
