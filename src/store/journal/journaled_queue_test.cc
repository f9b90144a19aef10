#include "store/journal/journaled_queue.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "base/format.h"
#include "base/random.h"
#include "store/journal/recovery.h"
#include "store/queue/durable_queue.h"
#include "store/queue/inline_queue.h"
#include "store/sqlite/refused_changes.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"
#include "store/testing/task_queue.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

class JournaledQueue : public testing::Test, public StoreListener {
 protected:
  JournaledQueue() { open(); }

  void open() {
    const SqliteOptions options{.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive};
    auto store = SqliteStore::open(options);
    ASSERT_TRUE(store) << store.error().message();
    auto journal = recover_journal(**store, options);
    ASSERT_TRUE(journal) << journal.error().message();
    queue = std::make_unique<JournaledStoreQueue>(
        *std::move(journal),
        [](Journal& to, JournalListener& on_written, JournaledStoreQueue::PostTask) {
          return std::make_unique<InlineJournalWriter>(to, on_written, InlineJournalWriter::Sync::Each);
        },
        [&](JournaledStoreQueue::PostTask, StoreListener& on_result) {
          return std::make_unique<InlineStoreQueue>(*std::move(store), backing.post(), on_result);
        },
        loop.post(), [this](std::chrono::milliseconds, TaskQueue::Task task) { delayed.push_back(std::move(task)); },
        *this);
  }
  /// Runs the tasks of the loop, then those of the backing queue.
  void run() {
    do { loop.run_all(); } while (backing.run_one() || loop.size() > 0);
  }
  void kill() {
    disk.kill();
    queue.reset();
    loop.clear();
    backing.clear();
    calls.clear();
    delayed.clear();
    disk.kill_after(UINT64_MAX);
    disk.fail_next_syncs(0);
  }
  void persist(std::uint64_t ticket, std::int64_t key) {
    queue->persist(CommitTicket{ticket}, direct(key, "Alice", "Bob", "a", ticket));
  }

  void on_committed(CommitTicket up_to, EventSeq) override { calls.push_back(format("committed {}", up_to.value())); }
  void on_events(EventSeq newest) override { calls.push_back(format("events {}", newest)); }
  void on_commit_failed(CommitTicket from, CommitTicket to, const Error&) override {
    calls.push_back(format("failed {}-{}", from.value(), to.value()));
  }
  void on_backlog(Result<BacklogPage> page, const BacklogRequest&) override {
    calls.push_back(page ? format("backlog {}", page->items.size()) : "no backlog");
  }
  void on_expired(Result<ExpireResult> result) override { calls.emplace_back(result ? "expired" : "not expired"); }
  void on_query_result(QueryId id, Result<QueryResult> result) override {
    const auto* rows = result ? std::get_if<std::vector<MessageRow>>(&*result) : nullptr;
    calls.push_back(format("result {} {}", id.value(), rows == nullptr ? 0 : rows->size()));
  }

  void on_damage(const Damage& damage) override {
    calls.push_back(format("damage: {} refused, {} lost", damage.refused, damage.lost_messages));
  }
  /// Changes the database while no queue has it open.
  void change_database(const Changes& changes) {
    queue.reset();
    auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
    ASSERT_TRUE(store) << store.error().message();
    ASSERT_TRUE(commit(**store, changes));
  }

  SimDisk disk;
  std::vector<TaskQueue::Task> delayed;
  TaskQueue loop, backing;  // the tasks of the loop, and those of the backing queue
  std::vector<std::string> calls;
  std::unique_ptr<JournaledStoreQueue> queue;
};

using Calls = std::vector<std::string>;

TEST_F(JournaledQueue, CommitIsReportedBeforeStoreAppliesItAndEventsAfterwards) {
  persist(1, 1);
  persist(2, 3);
  EXPECT_EQ(calls, Calls{}) << "nothing is reported inside persist()";
  loop.run_all();
  EXPECT_EQ(calls, Calls{"committed 2"});
  run();
  EXPECT_EQ(calls, (Calls{"committed 2", "events 4"}));
}

TEST_F(JournaledQueue, QuerySeesExactlyEarlierRequests) {
  persist(1, 1);
  queue->load_backlog(backlog_of("Bob"));
  persist(2, 3);
  queue->query(QueryId{9}, MessageQuery{});
  run();
  Calls results;
  for (const auto& line : calls)
    if (!line.starts_with("events") && !line.starts_with("committed")) results.push_back(line);
  EXPECT_EQ(results, (Calls{"backlog 1", "result 9 2"}));
}

TEST_F(JournaledQueue, RefusableCommitGoesToStoreFirst) {
  persist(1, 1);
  queue->persist(CommitTicket{2}, {AddDelivery{delivery(9, 5, "Bob"), "no such message"}});
  persist(3, 11);
  loop.run_all();
  EXPECT_EQ(calls, Calls{"committed 1"}) << "commits stay in order";
  run();
  EXPECT_EQ(calls.back(), "failed 2-3");
  persist(4, 21);
  loop.run_all();
  EXPECT_EQ(calls.back(), "committed 4") << "the queue works again";
}

TEST_F(JournaledQueue, JournalFailureFailsEveryCommitPersistedBeforeItsReport) {
  persist(1, 1);
  run();
  calls.clear();
  disk.fail_next_writes(1);
  persist(2, 3);
  queue->load_backlog(backlog_of("Bob"));  // flushes the journal record
  persist(3, 5);
  run();
  EXPECT_EQ(calls, (Calls{"failed 2-3", "backlog 1"}));
  persist(4, 7);
  loop.run_all();
  EXPECT_EQ(calls.back(), "committed 4");
}

TEST_F(JournaledQueue, CommitThatStoreCannotApplyIsReappliedFromJournal) {
  persist(1, 1);
  loop.run_all();
  ASSERT_EQ(calls, Calls{"committed 1"});
  disk.fail_next_writes(1'000);
  backing.run_all();
  EXPECT_EQ(calls, Calls{"committed 1"}) << "it was reported and stays committed";
  persist(2, 3);
  run();
  EXPECT_EQ(calls.back(), "failed 2-2") << "new commits are refused meanwhile";
  disk.fail_next_writes(0);
  ASSERT_FALSE(delayed.empty());
  delayed.back()();  // the retry
  run();
  EXPECT_EQ(calls.back().substr(0, 6), "events");
  persist(3, 5);
  run();
  queue->query(QueryId{1}, MessageQuery{});
  run();
  EXPECT_EQ(calls.back(), "result 1 2");
}

TEST_F(JournaledQueue, CommitThatStoreNeverAppliedSurvivesRestart) {
  persist(1, 1);
  loop.run_all();
  persist(2, 3);
  kill();
  open();
  queue->query(QueryId{1}, MessageQuery{});
  run();
  EXPECT_EQ(calls.back(), "result 1 1");
}

TEST_F(JournaledQueue, RefusedCommitDoesNotHideLaterOneAfterRestart) {
  persist(1, 1);
  run();
  queue->persist(CommitTicket{2}, {AddDelivery{delivery(9, 1, "Carol"), "again"}});
  disk.fail_next_syncs(1);  // its pages are written: the next opening finds it
  run();
  ASSERT_EQ(calls.back(), "failed 2-2");
  persist(3, 11);
  do { loop.run_all(); } while (calls.back() != "committed 3" && backing.run_one());
  ASSERT_EQ(calls.back(), "committed 3");
  kill();
  open();
  queue->query(QueryId{1}, MessageQuery{});
  run();
  EXPECT_EQ(calls.back(), "result 1 2");
}

TEST_F(JournaledQueue, DirectCommitIsReportedAfterItsMark) {
  const auto marked = [&] { return JournalMarkFile{mark_path("db"), disk.vfs()}.read().value().reach.commits; };
  persist(1, 1);
  run();
  kill();
  std::map<std::string, std::string> files;
  for (const auto& name : disk.files()) files[name] = disk.read(name).value();
  bool reported = false;
  for (std::uint64_t operations = 0; !reported; ++operations) {
    for (const auto& [name, bytes] : files) disk.put(name, bytes);
    open();
    queue->persist(CommitTicket{2}, {AddDelivery{delivery(9, 1, "Carol"), "again"}});
    disk.kill_after(operations);
    run();
    reported = std::ranges::find(calls, "committed 2") != calls.end();
    kill();
    if (reported) { EXPECT_EQ(marked(), 2u) << "killed after " << operations << " operations"; }
  }
}

TEST_F(JournaledQueue, AcknowledgedMessageThatContradictsStoreIsKeptReportedAndAppliedLater) {
  auto mallory = direct(5, "Mallory", "Bob", "under the same key");
  mallory.push_back(change(6, DeliveryState::Delivered));
  change_database(mallory);
  open();
  persist(1, 5);
  run();
  ASSERT_EQ(calls.front(), "committed 1") << "the journal has it";
  ASSERT_FALSE(delayed.empty());
  delayed.back()();
  run();
  EXPECT_NE(std::ranges::find(calls, "damage: 2 refused, 1 lost"), calls.end());
  queue->persist(CommitTicket{2}, {change(6, DeliveryState::Delivered, kStart + 700)});
  persist(3, 11);
  run();
  queue.reset();
  calls.clear();

  open();  // the change is refused again
  queue->query(QueryId{1}, MessageQuery{});
  run();
  EXPECT_EQ(calls, Calls{"result 1 2"}) << "reported once";
  ASSERT_TRUE(disk.read("db-refused"));

  change_database({RemoveAgent{.name = AgentName{"Mallory"}, .with_messages = true, .at = kStart + 800}});
  open();
  queue.reset();
  EXPECT_FALSE(disk.read("db-refused")) << "no refused change is left";
  auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  ASSERT_TRUE(store);
  const auto trace = (*store)->trace(short_id(Key{5}));
  ASSERT_TRUE(trace) << trace.error().message();
  EXPECT_EQ(trace->message.from, AgentName{"Alice"});
  ASSERT_EQ(trace->deliveries.size(), 1u);
  EXPECT_EQ(trace->deliveries[0].delivery.state, DeliveryState::Delivered) << "later changes of it are kept too";
}

TEST_F(JournaledQueue, ChangeRefusedAtTheStartIsKeptAndCounted) {
  persist(1, 5);
  loop.run_all();
  ASSERT_EQ(calls, Calls{"committed 1"});
  kill();
  // The journal has it, the database has another message under its key.
  std::map<std::string, std::string> journal;
  for (const auto& name : {"db-commits0", "db-reached"}) journal[name] = disk.read(name).value();
  for (const auto& [name, bytes] : journal) delete_file(name, disk.vfs());
  change_database(direct(5, "Mallory", "Bob", "under the same key"));
  for (const auto& [name, bytes] : journal) disk.put(name, bytes);
  const SqliteOptions options{.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive};
  auto store = SqliteStore::open(options);
  ASSERT_TRUE(store);
  ASSERT_TRUE(recover_journal(**store, options));
  EXPECT_EQ((*store)->refused(), 2u);
  EXPECT_EQ((*store)->damage().lost_messages, 1u);
  EXPECT_NE((*store)->warning().find("db-refused"), std::string::npos) << (*store)->warning();
  // Changes of Mallory's delivery, which the broker knows, do not affect the refused one.
  ASSERT_TRUE((*store)->begin());
  ASSERT_TRUE((*store)->apply(ChangeDelivery{Key{6}, DeliveryState::Delivered, Proof::Seen, kStart}));
  ASSERT_TRUE((*store)->commit());
  DeliveryQuery query;
  query.deliveries = {Key{6}};
  const auto rows = (*store)->deliveries(query).value();
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_EQ(rows.front().delivery.state, DeliveryState::Delivered);
  EXPECT_EQ((*store)->refused(), 2u);
}

TEST_F(JournaledQueue, ChangeOnRefusedOneIsReportedWhenFileIsFull) {
  queue.reset();
  auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  ASSERT_TRUE(store);
  for (const auto& each : direct(5, "Alice", "Bob", "refused")) ASSERT_TRUE((*store)->keep_refused(each));
  const auto later = change(6, DeliveryState::Delivered);
  auto room = RefusedChanges::kMaxBytes;
  for (std::int64_t key = 101; room >= 8; ++key) {  // until no small change fits either
    const auto before = (*store)->refused();
    ASSERT_TRUE((*store)->keep_refused(AddMessage{message(key, "Alice", "Bob", std::string(room, 'x'))}));
    if ((*store)->refused() == before) room /= 2;
  }
  ASSERT_TRUE((*store)->begin());
  const auto applied = (*store)->apply(later);
  ASSERT_FALSE(applied) << "it is neither in the database nor kept";
  EXPECT_TRUE(is(applied.error(), Errc::BadChange));
  const auto damage = (*store)->keep_refused(later);
  ASSERT_TRUE(damage);
  ASSERT_FALSE(damage->findings.empty());
  EXPECT_NE(damage->findings.front().find("are lost"), std::string::npos) << damage->findings.front();
}

TEST_F(JournaledQueue, CommitAppliedTwiceIsNoContradiction) {
  persist(1, 5);
  loop.run_all();
  kill();
  change_database(direct(5, "Alice", "Bob", "a", 1));
  const SqliteOptions options{.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive};
  auto store = SqliteStore::open(options);
  ASSERT_TRUE(store);
  ASSERT_TRUE(recover_journal(**store, options));
  EXPECT_EQ((*store)->refused(), 0u);
  EXPECT_EQ((*store)->warning(), "");
}

TEST_F(JournaledQueue, CleanShutdownDeletesJournal) {
  persist(1, 1);
  loop.run_all();
  EXPECT_TRUE(disk.read("db-commits0"));
  queue.reset();
  EXPECT_EQ(disk.files(), (std::vector<std::string>{"db", "db-reached"}));
}

TEST_F(JournaledQueue, CommitsAreReportedAtStorePaceWhenItLags) {
  const std::string large(4 << 20, 'x');
  std::uint64_t ticket = 0;
  while (ticket * large.size() <= JournaledStoreQueue::kMaxLagBytes + 2 * large.size()) {
    ++ticket;
    queue->persist(CommitTicket{ticket}, direct(static_cast<std::int64_t>(2 * ticket), "Alice", "Bob", large, ticket));
    loop.run_all();
  }
  EXPECT_NE(calls.back(), format("committed {}", ticket));
  run();
  EXPECT_EQ(calls.back(), format("committed {}", ticket));
}

/// All threads, on real files.
TEST(DurableQueue, CommitsAreReportedInOrderAndQuerySeesReportedOnes) {
  const auto directory = std::filesystem::temp_directory_path() / ("relay-durable-" + SystemRandom{}.hex(8));
  std::filesystem::create_directory(directory);
  struct Listener final : StoreListener {
    void on_committed(CommitTicket up_to, EventSeq) override {
      EXPECT_GT(up_to, reported);
      reported = up_to;
    }
    void on_commit_failed(CommitTicket, CommitTicket, const Error& error) override { ADD_FAILURE() << error.message(); }
    void on_backlog(Result<BacklogPage>, const BacklogRequest&) override {}
    void on_expired(Result<ExpireResult>) override {}
    void on_query_result(QueryId, Result<QueryResult> result) override {
      ++results;
      rows = result ? std::get<std::vector<MessageRow>>(*result).size() : 0;
    }
    CommitTicket reported{};
    std::size_t results = 0, rows = 0;
  };
  constexpr std::uint64_t kCommits = 400;
  for (const auto durability : {Durability::Process, Durability::Power}) {
    TaskQueue inbox;
    Listener calls;
    const SqliteOptions options{.path = directory / format("{}.sqlite", static_cast<int>(durability)),
                                .durability = durability};
    auto store = SqliteStore::open(options);
    ASSERT_TRUE(store) << store.error().message();
    auto journal = recover_journal(**store, options);
    ASSERT_TRUE(journal) << journal.error().message();
    auto durable = make_durable_queue(
        *std::move(store), *std::move(journal), durability, inbox.post(),
        [](std::chrono::milliseconds, TaskQueue::Task) {}, calls);
    for (std::uint64_t ticket = 1; ticket <= kCommits; ++ticket) {
      durable->persist(CommitTicket{ticket}, direct(static_cast<std::int64_t>(2 * ticket), "Alice", "Bob", "a", ticket),
                       ticket % 3 == 0 ? CommitMode::Piggyback : CommitMode::Immediate);
      if (ticket % 7 == 0) inbox.run_one();
      if (ticket % 50 == 0) durable->query(QueryId{ticket}, QueryBuilder{}.limit(1'000));
    }
    while (calls.reported < CommitTicket{kCommits} || calls.results < kCommits / 50) inbox.wait_one();
    EXPECT_EQ(calls.rows, kCommits);
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator{directory}, std::filesystem::directory_iterator{}), 4)
      << "a clean shutdown leaves the databases and their marks";
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace relay::store
