#include "store/queue/threaded_queue.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/random.h"
#include "store/memory/store.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"
#include "store/testing/task_queue.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

/// Writes down what it hears.
class Listener final : public StoreListener {
 public:
  void on_committed(CommitTicket up_to, EventSeq) override { calls.push_back(format("committed {}", up_to.value())); }
  void on_commit_failed(CommitTicket from, CommitTicket to, const Error&) override {
    calls.push_back(format("failed {}-{}", from.value(), to.value()));
  }
  void on_backlog(Result<BacklogPage> page, const BacklogRequest& request) override {
    calls.push_back(page ? format("backlog {} {}", request.to.value(), page->items.size())
                         : format("no backlog {}", request.to.value()));
  }
  void on_expired(Result<ExpireResult> result) override {
    calls.push_back(result ? format("expired {}", result->expired.size()) : "not expired");
  }
  void on_query_result(QueryId id, Result<QueryResult> result) override {
    std::size_t rows = 0;
    if (result) {
      if (const auto* found = std::get_if<std::vector<MessageRow>>(&*result)) rows = found->size();
      if (const auto* found = std::get_if<HeldPage>(&*result)) rows = found->items.size();
      if (const auto* found = std::get_if<std::vector<DeadLetter>>(&*result)) rows = found->size();
    }
    calls.push_back(result ? format("answer {} {}", id.value(), rows) : format("no answer {}", id.value()));
  }
  void on_damage(const Damage& damage) override { calls.push_back("damage: " + damage.sentence()); }
  std::vector<std::string> calls;
};

using Calls = std::vector<std::string>;

/// Holds the writer at a gate, so that a test decides what waits together.
class Gated final : public MessageStore {
 public:
  explicit Gated(std::unique_ptr<MessageStore> store) : store_{std::move(store)} {}
  void open_gate() { gate_.store(true), gate_.notify_all(); }

  Result<void> begin(CommitDurability durability) override {
    return gate_.wait(false), ++groups, store_->begin(durability);
  }
  Result<void> set_journal_position(JournalReach reach) override { return store_->set_journal_position(reach); }
  Result<WorkspaceState> load() override { return store_->load(); }
  Result<void> apply(const Change& change) override { return store_->apply(change); }
  Result<void> commit() override { return store_->commit(); }
  Result<EventSeq> newest_event() override { return store_->newest_event(); }
  void rollback() override { store_->rollback(); }
  Result<BacklogPage> backlog(const BacklogRequest& request) override { return store_->backlog(request); }
  Result<ExpireResult> expire(const ExpireRequest& request) override { return store_->expire(request); }
  Result<bool> index_step(std::size_t rows) override { return ++index_steps, store_->index_step(rows); }
  Result<bool> prune_step(const Retention& retention, WallMs now, std::size_t rows) override {
    const auto more = store_->prune_step(retention, now, rows);
    if (more && !*more) forgotten.store(true), forgotten.notify_all();
    return more;
  }
  Result<std::vector<MessageRow>> messages(const MessageQuery& query) override { return store_->messages(query); }
  Result<Trace> trace(const std::string& id) override { return store_->trace(id); }
  Result<StoreStats> stats() override { return store_->stats(); }
  Result<HeldPage> held(const HeldRequest& request) override { return store_->held(request); }
  Result<std::vector<DeadLetter>> dead(const DeadQuery& query) override { return store_->dead(query); }
  Result<EventPage> events(const EventQuery& query) override { return store_->events(query); }
  Result<std::vector<UsageSum>> usage(const UsageQuery& query) override { return store_->usage(query); }
  Result<SessionRow> session(const SessionId& id) override { return store_->session(id); }
  Result<std::unique_ptr<MessageReader>> open_reader() override { return store_->open_reader(); }

  std::atomic<int> groups{0};
  Result<bool> check_some(std::size_t bytes) override { return ++check_steps, store_->check_some(bytes); }

  std::atomic<int> index_steps{0};
  std::atomic<int> check_steps{0};
  std::atomic<bool> forgotten{false};

 private:
  std::unique_ptr<MessageStore> store_;
  std::atomic<bool> gate_{false};
};

class ThreadedQueue : public testing::Test {
 protected:
  void start(std::unique_ptr<MessageStore> store) {
    auto gated = std::make_unique<Gated>(std::move(store));
    gate_ = gated.get();
    queue_ = std::make_unique<ThreadedStoreQueue>(std::move(gated), inbox_.post(), listener_,
                                                  QueueTuning{.idle_delay = std::chrono::hours{1}});
  }

  TaskQueue inbox_;
  Listener listener_;
  Gated* gate_ = nullptr;
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
  EXPECT_EQ(listener_.calls, (Calls{"committed 1", "backlog Bob 1", "expired 0", "answer 9 1"}));
}

TEST_F(ThreadedQueue, AnswersHeldAndDeadQueries) {
  start(std::make_unique<MemoryStore>());
  auto held = change(2, DeliveryState::Deferred);
  held.hold = Hold::Policy;
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a", 1));
  queue_->persist(CommitTicket{2}, direct(3, "Alice", "Bob", "b", 2));
  queue_->persist(CommitTicket{3}, {held, change(4, DeliveryState::Dead)});
  HeldRequest request;
  request.to = AgentName{"Bob"};
  queue_->query(QueryId{1}, request);
  queue_->query(QueryId{2}, DeadQuery{});
  gate_->open_gate();
  queue_->stop();
  inbox_.run_all();
  ASSERT_GE(listener_.calls.size(), 2u);
  EXPECT_EQ((Calls{listener_.calls.end() - 2, listener_.calls.end()}), (Calls{"answer 1 1", "answer 2 1"}));
}

TEST_F(ThreadedQueue, CommitsWaitingRequestsInOneGroup) {
  start(std::make_unique<MemoryStore>());
  for (std::uint64_t ticket = 1; ticket <= 50; ++ticket) {
    queue_->persist(CommitTicket{ticket}, direct(static_cast<std::int64_t>(2 * ticket), "Alice", "Bob", "a", ticket));
  }
  EXPECT_GT(queue_->pending_bytes(), 50u * 30);
  gate_->open_gate();
  queue_->stop();
  EXPECT_LE(gate_->groups, 3) << "the writer may have taken the first before the rest came";
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
  inbox_.run_all();  // the answers do not need the queue
  EXPECT_EQ(listener_.calls, (Calls{"committed 1", "answer 1 0"}));
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
  gate_->forgotten.wait(false);
  queue_->query(QueryId{1}, MessageQuery{});
  queue_->stop();
  inbox_.run_all();
  EXPECT_EQ(listener_.calls.back(), "answer 1 0");
}

TEST_F(ThreadedQueue, FailsEverythingPersistedBeforeFailureIsReported) {
  start(std::make_unique<MemoryStore>());
  gate_->open_gate();
  queue_->persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a", 1));
  inbox_.wait_one();
  queue_->persist(CommitTicket{2}, direct(1, "Alice", "Bob", "the same key again", 1));
  while (inbox_.size() == 0) std::this_thread::yield();  // it has failed, and nobody has calls of it
  queue_->persist(CommitTicket{3}, direct(5, "Alice", "Bob", "builds on it", 2));
  queue_->load_backlog(backlog_of("Bob"));
  inbox_.wait_one();
  EXPECT_EQ(queue_->pending_bytes(), 0u);
  queue_->persist(CommitTicket{4}, direct(7, "Alice", "Bob", "knows of it", 2));
  queue_->stop();
  inbox_.run_all();
  auto calls = listener_.calls;
  std::erase_if(calls, [](const auto& line) { return line == "no backlog Bob"; });  // it would not see what failed
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
  Listener listener;
  auto gated = std::make_unique<Gated>(std::make_unique<MemoryStore>());
  auto* gate = gated.get();
  gate->open_gate();
  ThreadedStoreQueue queue{std::move(gated), inbox.post(), listener,
                           QueueTuning{.commit_delay = std::chrono::hours{1}}};
  queue.persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"), CommitMode::Piggyback);
  queue.persist(CommitTicket{2}, direct(3, "Alice", "Bob", "b", 2), CommitMode::Piggyback);
  queue.persist(CommitTicket{3}, direct(5, "Alice", "Bob", "c", 3));
  inbox.wait_one();
  EXPECT_EQ(listener.calls, Calls{"committed 3"});
  EXPECT_EQ(gate->groups, 1);
  queue.persist(CommitTicket{4}, direct(7, "Alice", "Bob", "d", 4), CommitMode::Piggyback);
  queue.stop();
  inbox.run_all();
  EXPECT_EQ(listener.calls.back(), "committed 4") << "nothing is left behind";
}

TEST(ThreadedQueueTuning, PiggybackWriteCommitsAloneAfterDelay) {
  TaskQueue inbox;
  Listener listener;
  ThreadedStoreQueue queue{std::make_unique<MemoryStore>(), inbox.post(), listener,
                           QueueTuning{.commit_delay = std::chrono::milliseconds{1}}};
  queue.persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"), CommitMode::Piggyback);
  inbox.wait_one();
  EXPECT_EQ(listener.calls, Calls{"committed 1"});
}

TEST(ThreadedQueueTuning, IndexesAfterIdleDelay) {
  TaskQueue inbox;
  Listener listener;
  auto gated = std::make_unique<Gated>(std::make_unique<MemoryStore>());
  auto* gate = gated.get();
  gate->open_gate();
  ThreadedStoreQueue queue{std::move(gated), inbox.post(), listener,
                           QueueTuning{.idle_delay = std::chrono::milliseconds{0}}};
  queue.persist(CommitTicket{1}, direct(1, "Alice", "Bob", "a"));
  inbox.wait_one();
  while (gate->index_steps == 0) std::this_thread::yield();
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
  std::unique_ptr<Gated> gated() {
    auto gate = std::make_unique<Gated>(open());
    gate->open_gate();
    return gate;
  }
  /// A page in the middle, which nothing reads at the start.
  void damage() {
    auto bytes = disk_.read("db").value();
    bytes[bytes.size() / kPageBytes / 2 * kPageBytes + 4'000] ^= 1;
    disk_.put("db", bytes);
  }
  SimDisk disk_;
  TaskQueue inbox_;
  Listener listener_;
};

TEST_F(LargeDatabase, DamageIsFoundInBackgroundAndRecoveredAtNextStart) {
  damage();
  EXPECT_EQ(open()->warning(), "") << "nothing is known at the start";
  {
    ThreadedStoreQueue queue{gated(), inbox_.post(), listener_,
                             QueueTuning{.check_pause = std::chrono::milliseconds{0}}};
    inbox_.wait_one();
  }
  ASSERT_EQ(listener_.calls.size(), 1u);
  EXPECT_NE(listener_.calls[0].find("of db is damaged; restart the daemon"), std::string::npos) << listener_.calls[0];
  EXPECT_EQ(listener_.calls[0].find("no acknowledged message is lost"), std::string::npos) << "nobody knows yet";
  const auto store = open();
  EXPECT_NE(store->warning().find("it was moved to"), std::string::npos) << store->warning();
}

TEST_F(LargeDatabase, IntactDatabaseIsCheckedWithoutReport) {
  auto gate = gated();
  auto* const store = gate.get();
  const auto pages = static_cast<int>(disk_.read("db")->size() / kPageBytes);
  ThreadedStoreQueue queue{std::move(gate), inbox_.post(), listener_,
                           QueueTuning{.check_step_bytes = kPageBytes, .check_pause = std::chrono::milliseconds{0}}};
  queue.persist(CommitTicket{1}, direct(1'001, "Alice", "Bob", "meanwhile", 1));
  while (store->check_steps < pages) std::this_thread::yield();
  queue.stop();
  inbox_.run_all();
  EXPECT_EQ(listener_.calls, Calls{"committed 1"});
}

TEST_F(LargeDatabase, StopInterruptsCheck) {
  damage();
  auto gate = gated();
  auto* const store = gate.get();
  {
    ThreadedStoreQueue queue{std::move(gate), inbox_.post(), listener_,
                             QueueTuning{.check_step_bytes = kPageBytes, .check_pause = std::chrono::hours{1}}};
    while (store->check_steps == 0) std::this_thread::yield();
    queue.persist(CommitTicket{1}, direct(1'001, "Alice", "Bob", "meanwhile", 1));
  }
  inbox_.run_all();
  EXPECT_EQ(listener_.calls, Calls{"committed 1"}) << "what was asked is carried out, the damage is not reached";
  EXPECT_EQ(open()->warning(), "") << "the next start begins the check again";
}

TEST_F(LargeDatabase, PageHeldByLogIsNoDamage) {
  auto store = open();
  ASSERT_TRUE(commit(*store, direct(1'001, "Alice", "Bob", "in the log", 1)));
  auto bytes = disk_.read("db").value();
  bytes[2 * kPageBytes - 100] ^= 1;  // of the second page, which every growth changes: torn by a crash
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
  Listener listener;
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
  std::uint64_t committed = 0, answered = 0;
  for (const auto& line : listener.calls) {
    if (line.starts_with("committed ")) committed = std::stoull(line.substr(10));
    if (!line.starts_with("answer ")) continue;
    ++answered;
    std::uint64_t id = 0, rows = 0;
    ASSERT_EQ(std::sscanf(line.c_str(), "answer %lu %lu", &id, &rows), 2);
    EXPECT_EQ(id, answered) << "answers keep their order";
    EXPECT_GE(rows, id) << "and see what was asked before them";
    EXPECT_LE(id, committed) << "after its commit was reported";
  }
  EXPECT_EQ(committed, kMessages);
  EXPECT_EQ(answered, kMessages);
}

}  // namespace
}  // namespace relay::store
