#include "store/queue/threaded_queue.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"
#include "store/memory/store.h"
#include "store/sqlite/store.h"
#include "store/testing/forwarding_store.h"
#include "store/testing/recording_listener.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"
#include "store/testing/task_queue.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

using Calls = std::vector<std::string>;

/// Blocks the writer until the test opens the gate, so that a test decides which requests share a commit.
class GatedStore final : public ForwardingStore {
 public:
  explicit GatedStore(std::unique_ptr<MessageStore> store) : store_{std::move(store)} {}
  void open_gate() { gate_.store(true), gate_.notify_all(); }

  Result<void> begin(CommitDurability durability) override {
    return gate_.wait(false), ++groups, store_->begin(durability);
  }
  Result<bool> index_step(std::size_t rows) override { return ++index_steps, store_->index_step(rows); }
  Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t rows) override {
    const auto more = store_->prune_step(retention, now, rows);
    if (more && !*more) pruned.store(true), pruned.notify_all();
    return more;
  }
  Result<bool> check_some(std::size_t bytes) override { return ++check_steps, store_->check_some(bytes); }

  std::atomic<int> groups{0};
  std::atomic<int> index_steps{0};
  std::atomic<int> check_steps{0};
  std::atomic<bool> pruned{false};

 private:
  MessageStore& target() override { return *store_; }

  std::unique_ptr<MessageStore> store_;
  std::atomic<bool> gate_{false};
};

std::unique_ptr<GatedStore> with_open_gate(std::unique_ptr<MessageStore> store) {
  auto gated = std::make_unique<GatedStore>(std::move(store));
  gated->open_gate();
  return gated;
}

class ThreadedQueue : public testing::Test {
 protected:
  void start(std::unique_ptr<MessageStore> store) {
    auto gated = std::make_unique<GatedStore>(std::move(store));
    gate_ = gated.get();
    queue_ = std::make_unique<ThreadedStoreQueue>(std::move(gated), inbox_.post(), listener_,
                                                  QueueTuning{.idle_delay = std::chrono::hours{1}});
  }

  TaskQueue inbox_;
  RecordingListener listener_;
  GatedStore* gate_ = nullptr;
  std::unique_ptr<ThreadedStoreQueue> queue_;
};

TEST_F(ThreadedQueue, ReportsCommitFirstThenResultsInOrder) {
  start(std::make_unique<MemoryStore>());
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a", 1));
  queue_->load_backlog(backlog_of("Bob"));
  queue_->expire({kStart, 10});
  queue_->query(QueryId{9}, MessageQuery{});
  gate_->open_gate();
  queue_->stop();
  inbox_.run_all();
  EXPECT_EQ(listener_.calls, (Calls{"committed 1", "backlog Bob 1", "expired 0", "result 9 1"}));
}

TEST_F(ThreadedQueue, ReadsHeldAndDeadDeliveries) {
  start(std::make_unique<MemoryStore>());
  auto held = change(2, DeliveryState::Deferred);
  held.hold = Hold::Policy;
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a", 1));
  queue_->persist(CommitTicket{2}, direct(3, "Alice", "Bob", "b", 2));
  queue_->persist(CommitTicket{3}, {held, change(4, DeliveryState::Dead)});
  HeldRequest request;
  request.to = AgentName{"Bob"};
  queue_->query(QueryId{1}, request);
  queue_->query(QueryId{2}, DeliveryQuery{});
  gate_->open_gate();
  queue_->stop();
  inbox_.run_all();
  ASSERT_GE(listener_.calls.size(), 2u);
  EXPECT_EQ((Calls{listener_.calls.end() - 2, listener_.calls.end()}), (Calls{"result 1 1", "result 2 1"}));
}

TEST_F(ThreadedQueue, CommitsWaitingRequestsInOneGroup) {
  start(std::make_unique<MemoryStore>());
  for (std::uint64_t ticket = 1; ticket <= 50; ++ticket) {
    queue_->persist(CommitTicket{ticket}, direct(static_cast<std::int64_t>(2 * ticket), "Alice", "Bob", "a", ticket));
  }
  EXPECT_GT(queue_->pending_bytes(), 50u * 30);
  gate_->open_gate();
  queue_->stop();
  EXPECT_LE(gate_->groups, 3) << "the writer may have started with the first";
  EXPECT_EQ(queue_->pending_bytes(), 0u);
  inbox_.run_all();
  EXPECT_EQ(listener_.calls.back(), "committed 50");
}

TEST_F(ThreadedQueue, StopDrainsAndPostsNothingAfterwards) {
  start(std::make_unique<MemoryStore>());
  gate_->open_gate();
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"));
  queue_->query(QueryId{1}, records::StatsQuery{});
  queue_->stop();
  EXPECT_EQ(inbox_.size(), 2u);
  queue_->persist(CommitTicket{2}, direct(3, "Alice", "Bob", "b"));
  queue_->query(QueryId{2}, records::StatsQuery{});
  queue_->stop();
  EXPECT_EQ(inbox_.size(), 2u);
  queue_.reset();
  inbox_.run_all();  // the results do not need the queue
  EXPECT_EQ(listener_.calls, (Calls{"committed 1", "result 1 0"}));
}

TEST_F(ThreadedQueue, IndexesOnlyWhenIdle) {
  start(std::make_unique<MemoryStore>());
  gate_->open_gate();
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"));
  queue_->stop();
  EXPECT_EQ(gate_->index_steps, 0);
}

TEST_F(ThreadedQueue, PrunesInBackground) {
  start(std::make_unique<MemoryStore>());
  gate_->open_gate();
  queue_->persist(CommitTicket{1}, {AddMessage{message(1, "Alice", "#log", "old")}});
  inbox_.wait_one();
  queue_->prune({.max_age_ms = 1}, kStart + 1'000);
  gate_->pruned.wait(false);
  queue_->query(QueryId{1}, MessageQuery{});
  queue_->stop();
  inbox_.run_all();
  EXPECT_EQ(listener_.calls.back(), "result 1 0");
}

TEST_F(ThreadedQueue, FailsEverythingPersistedBeforeFailureIsReported) {
  start(std::make_unique<MemoryStore>());
  gate_->open_gate();
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a", 1));
  inbox_.wait_one();
  queue_->persist(CommitTicket{2}, direct(1, "Alice", "Bob", "the same key again", 1));
  while (inbox_.size() == 0) std::this_thread::yield();  // the commit failed, and its report is queued
  queue_->persist(CommitTicket{3}, direct(5, "Alice", "Bob", "builds on it", 2));
  queue_->load_backlog(backlog_of("Bob"));
  inbox_.wait_one();
  EXPECT_EQ(queue_->pending_bytes(), 0u);
  queue_->persist(CommitTicket{4}, direct(7, "Alice", "Bob", "after the report", 2));
  queue_->stop();
  inbox_.run_all();
  auto calls = listener_.calls;
  std::erase_if(calls, [](const auto& line) { return line == "no backlog Bob"; });  // it would lack the failed changes
  EXPECT_EQ(calls, (Calls{"committed 1", "failed 2-3", "committed 4"}));
  EXPECT_EQ(listener_.calls.size(), 4u);
}

TEST_F(ThreadedQueue, StopBeforeFailureIsReportedFailsRemainingRequests) {
  start(std::make_unique<MemoryStore>());
  queue_->persist(CommitTicket{1}, {AddDelivery{delivery(2, 1, "Bob")}});
  gate_->open_gate();
  while (inbox_.size() == 0) std::this_thread::yield();
  queue_->persist(CommitTicket{2}, direct(5, "Alice", "Bob", "builds on it"));
  queue_->stop();
  inbox_.run_all();
  EXPECT_EQ(listener_.calls, (Calls{"failed 1-1", "failed 2-2"}));
  EXPECT_EQ(queue_->pending_bytes(), 0u);
}

TEST(ThreadedQueueTuning, PiggybackWriteJoinsNextImmediateCommit) {
  TaskQueue inbox;
  RecordingListener listener;
  auto gated = with_open_gate(std::make_unique<MemoryStore>());
  const auto* store = gated.get();
  ThreadedStoreQueue queue{std::move(gated), inbox.post(), listener,
                           QueueTuning{.commit_delay = std::chrono::hours{1}}};
  queue.persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"), CommitMode::Piggyback);
  queue.persist(CommitTicket{2}, direct(3, "Alice", "Bob", "b", 2), CommitMode::Piggyback);
  queue.persist(CommitTicket{3}, direct(5, "Alice", "Bob", "c", 3));
  inbox.wait_one();
  EXPECT_EQ(listener.calls, Calls{"committed 3"});
  EXPECT_EQ(store->groups, 1);
  queue.persist(CommitTicket{4}, direct(7, "Alice", "Bob", "d", 4), CommitMode::Piggyback);
  queue.stop();
  inbox.run_all();
  EXPECT_EQ(listener.calls.back(), "committed 4") << "the piggyback write is committed";
}

TEST(ThreadedQueueTuning, PiggybackWriteCommitsAloneAfterDelay) {
  TaskQueue inbox;
  RecordingListener listener;
  ThreadedStoreQueue queue{std::make_unique<MemoryStore>(), inbox.post(), listener,
                           QueueTuning{.commit_delay = std::chrono::milliseconds{1}}};
  queue.persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"), CommitMode::Piggyback);
  inbox.wait_one();
  EXPECT_EQ(listener.calls, Calls{"committed 1"});
}

TEST(ThreadedQueueTuning, IndexesAfterIdleDelay) {
  TaskQueue inbox;
  RecordingListener listener;
  auto gated = with_open_gate(std::make_unique<MemoryStore>());
  const auto* store = gated.get();
  ThreadedStoreQueue queue{std::move(gated), inbox.post(), listener,
                           QueueTuning{.idle_delay = std::chrono::milliseconds{0}}};
  queue.persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"));
  inbox.wait_one();
  while (store->index_steps == 0) std::this_thread::yield();
}

/// A database that is too large to be checked when it is opened.
class LargeDatabase : public testing::Test {
 protected:
  static constexpr std::size_t kPageBytes = 8192;

  void SetUp() override {
    auto store = open();
    for (std::int64_t key = 1; key < 200; key += 2)
      ASSERT_TRUE(
          commit(*store, direct(key, "Alice", "Bob", std::string(2'000, 'x'), static_cast<std::uint64_t>(key))));
  }
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open({.path = "db",
                                    .vfs = disk_.vfs(),
                                    .sharing = Sharing::Exclusive,
                                    .verified_bytes = 0,
                                    .verified_after_crash_bytes = 0});
    RELAY_ASSERT(store);
    return *std::move(store);
  }
  /// Damages a page in the middle, which the opening does not read.
  void damage() {
    auto bytes = disk_.read("db").value();
    bytes[bytes.size() / kPageBytes / 2 * kPageBytes + 4'000] ^= 1;
    disk_.put("db", bytes);
  }
  SimDisk disk_;
  TaskQueue inbox_;
  RecordingListener listener_;
};

TEST_F(LargeDatabase, DamageIsFoundInBackgroundAndRecoveredAtNextStart) {
  damage();
  EXPECT_EQ(open()->warning(), "") << "the damage is not found yet";
  {
    ThreadedStoreQueue queue{with_open_gate(open()), inbox_.post(), listener_,
                             QueueTuning{.check_pause = std::chrono::milliseconds{0}}};
    inbox_.wait_one();
  }
  ASSERT_EQ(listener_.calls.size(), 1u);
  EXPECT_NE(listener_.calls[0].find("of db is damaged; restart the daemon"), std::string::npos) << listener_.calls[0];
  EXPECT_EQ(listener_.calls[0].find("no acknowledged message is lost"), std::string::npos)
      << "the losses are not counted yet";
  const auto store = open();
  EXPECT_NE(store->warning().find("it was moved to"), std::string::npos) << store->warning();
}

TEST_F(LargeDatabase, IntactDatabaseIsCheckedWithoutReport) {
  auto gated = with_open_gate(open());
  const auto* store = gated.get();
  const auto pages = static_cast<int>(disk_.read("db")->size() / kPageBytes);
  ThreadedStoreQueue queue{std::move(gated), inbox_.post(), listener_,
                           QueueTuning{.check_step_bytes = kPageBytes, .check_pause = std::chrono::milliseconds{0}}};
  queue.persist(CommitTicket{1}, direct(1'001, "Alice", "Bob", "meanwhile", 1));
  while (store->check_steps < pages) std::this_thread::yield();
  queue.stop();
  inbox_.run_all();
  EXPECT_EQ(listener_.calls, Calls{"committed 1"});
}

TEST_F(LargeDatabase, StopInterruptsCheck) {
  damage();
  auto gated = with_open_gate(open());
  const auto* store = gated.get();
  {
    ThreadedStoreQueue queue{std::move(gated), inbox_.post(), listener_,
                             QueueTuning{.check_step_bytes = kPageBytes, .check_pause = std::chrono::hours{1}}};
    while (store->check_steps == 0) std::this_thread::yield();
    queue.persist(CommitTicket{1}, direct(1'001, "Alice", "Bob", "meanwhile", 1));
  }
  inbox_.run_all();
  EXPECT_EQ(listener_.calls, Calls{"committed 1"}) << "requests are executed; the check stops before the damage";
  EXPECT_EQ(open()->warning(), "") << "the next start checks from the first page";
}

TEST_F(LargeDatabase, PageHeldByLogIsNoDamage) {
  auto store = open();
  ASSERT_TRUE(commit(*store, direct(1'001, "Alice", "Bob", "in the log", 1)));
  auto bytes = disk_.read("db").value();
  bytes[2 * kPageBytes - 100] ^= 1;  // of the second page, which every growth changes: as torn by a crash
  disk_.kill();
  store.reset();
  disk_.put("db", bytes);
  store = open();
  Result<bool> more = true;
  while (more && *more) more = store->check_some(kPageBytes);
  EXPECT_TRUE(more) << more.error().message();
}

/// Real files: a reader beside the writer.
class ThreadedSqlite : public testing::Test {
 protected:
  void SetUp() override {
    directory_ = std::filesystem::temp_directory_path() / ("relay-queue-" + SystemRandom{}.hex(8));
    std::filesystem::create_directory(directory_);
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }
  std::filesystem::path directory_;
};

TEST_F(ThreadedSqlite, ReaderSeesEveryEarlierRequest) {
  TaskQueue inbox;
  RecordingListener listener;
  auto store = SqliteStore::open({.path = directory_ / "messages.sqlite", .durability = Durability::Process});
  ASSERT_TRUE(store) << store.error().message();
  ThreadedStoreQueue queue{*std::move(store), inbox.post(), listener};
  constexpr std::uint64_t kMessages = 100;
  for (std::uint64_t ticket = 1; ticket <= kMessages; ++ticket) {
    queue.persist(CommitTicket{ticket}, direct(static_cast<std::int64_t>(2 * ticket), "Alice", "Bob", "word", ticket));
    MessageQuery all;
    all.limit = 1'000;
    if (ticket % 3 == 0) all.search = "word";
    queue.query(QueryId{ticket}, all);
  }
  queue.stop();
  inbox.run_all();
  std::uint64_t committed = 0, results = 0;
  for (const auto& line : listener.calls) {
    if (line.starts_with("committed ")) committed = std::stoull(line.substr(10));
    if (!line.starts_with("result ")) continue;
    ++results;
    std::uint64_t id = 0, rows = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "result %lu %lu", &id, &rows), 2);
    EXPECT_EQ(id, results) << "results keep the order of the queries";
    EXPECT_GE(rows, id) << "and include earlier requests";
    EXPECT_LE(id, committed) << "after the report of the commit";
  }
  EXPECT_EQ(committed, kMessages);
  EXPECT_EQ(results, kMessages);
}

}  // namespace
}  // namespace relay::store
