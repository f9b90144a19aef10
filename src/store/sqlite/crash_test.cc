// Thousands of runs of one store on a disk that loses unsynced writes. Each run crashes at a write, truncation or sync.
// The next run must find every committed group as a whole, and nothing of any other.
#include <gtest/gtest.h>

#include <set>

#include "store/sqlite/schema.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"
#include "store/testing/seeds.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

enum class Crash { Kill, PowerCut };

struct SqliteCrashScenario {
  Durability durability;
  Crash crash;
  bool keeps_commits;  // else the surviving commits are the first ones
};

constexpr std::uint64_t kSqliteSeeds = 250;
constexpr int kSqliteRunsPerSeed = 8;
constexpr std::uint64_t kShortSqliteRun = 120;   // operations
constexpr std::uint64_t kLongSqliteRun = 5'000;  // enough for checkpoints

class SqliteCrashRuns {
 public:
  SqliteCrashRuns(std::uint64_t seed, SqliteCrashScenario scenario) : random_{seed}, scenario_{scenario} {}

  void run() {
    for (int run = 0; run < kSqliteRunsPerSeed && !testing::Test::HasFailure(); ++run) run_once();
  }

 private:
  std::unique_ptr<SqliteStore> open() {
    auto store = SqliteStore::open(
        {.path = "db", .durability = scenario_.durability, .vfs = disk_.vfs(), .sharing = Sharing::Exclusive});
    return store ? *std::move(store) : nullptr;
  }

  void run_once() {
    disk_.kill_after(random_.below(random_.below(16) == 0 ? kLongSqliteRun : kShortSqliteRun));
    if (auto store = open()) {
      EXPECT_EQ(store->warning(), "") << "a crash is not damage";
      while (work(*store)) {}
    }
    if (scenario_.crash == Crash::PowerCut) {
      disk_.crash(random_);
    } else {
      disk_.kill();
    }
    auto store = open();
    ASSERT_NE(store, nullptr);
    EXPECT_EQ(store->warning(), "");
    check(*store);
  }

  /// One step of a run; false when it was the last.
  bool work(SqliteStore& store) {
    const auto choice = random_.below(24);
    if (choice == 2) return false;  // closes, or is killed while closing
    if (choice == 0) return store.index_step(3).has_value();
    if (choice == 1) return store.prune_step({.max_age_ms = 1'000'000}, kStart, 5).has_value();
    const auto groups = 1 + random_.below(4);
    Changes changes;
    std::vector<std::int64_t> keys;
    for (std::uint64_t one = 0; one < groups; ++one) {
      next_key_ += 2;
      keys.push_back(next_key_);
      const auto body = std::string(random_.below(3) == 0 ? random_.below(20'000) : random_.below(200), 'x');
      for (auto& change : direct(next_key_, "Alice", "Bob", body, static_cast<std::uint64_t>(next_key_)))
        changes.push_back(std::move(change));
    }
    attempted_ = keys;
    if (!commit(store, changes)) return false;
    committed_.insert(keys.begin(), keys.end());
    attempted_.clear();
    return true;
  }

  void check(SqliteStore& store) {
    std::set<std::int64_t> found;
    const auto rows = store.messages(QueryBuilder{}.limit(100'000));
    ASSERT_TRUE(rows) << rows.error().message();
    for (const auto& row : *rows) {
      found.insert(row.message.key.value());
      EXPECT_EQ(row.deliveries, 1u) << "a group is whole or absent";
    }
    // The group in progress at the crash may have reached the disk, then all of it.
    const auto reached =
        std::count_if(attempted_.begin(), attempted_.end(), [&](auto key) { return found.contains(key); });
    EXPECT_TRUE(reached == 0 || reached == std::ssize(attempted_)) << "a torn group";
    if (reached > 0) committed_.insert(attempted_.begin(), attempted_.end());
    attempted_.clear();
    if (scenario_.keeps_commits) {
      EXPECT_EQ(found, committed_);
    } else {
      // Only the last groups may be lost.
      std::set<std::int64_t> first{
          committed_.begin(),
          std::next(committed_.begin(), static_cast<std::ptrdiff_t>(std::min(found.size(), committed_.size())))};
      EXPECT_EQ(found, first);
      committed_ = found;
    }
    const auto snapshot = store.load();
    ASSERT_TRUE(snapshot);
    if (!found.empty()) {
      EXPECT_EQ(snapshot->newest.value(), *found.rbegin() + 1);
      EXPECT_EQ(snapshot->streams.at(0).last.value(), static_cast<std::uint64_t>(*found.rbegin()));
    }
  }

  SeededRandom random_;
  SqliteCrashScenario scenario_;
  SimDisk disk_;
  std::int64_t next_key_ = -1;
  std::set<std::int64_t> committed_;
  std::vector<std::int64_t> attempted_;
};

void run_sqlite_crashes(SqliteCrashScenario scenario) {
  for_each_seed(kSqliteSeeds, [&](std::uint64_t seed) { SqliteCrashRuns{seed, scenario}.run(); });
}

TEST(SqliteCrash, PowerModeKeepsCommitsAfterPowerCut) {
  run_sqlite_crashes({Durability::Power, Crash::PowerCut, true});
}

TEST(SqliteCrash, PowerModeKeepsCommitsAfterKill) { run_sqlite_crashes({Durability::Power, Crash::Kill, true}); }

TEST(SqliteCrash, ProcessModeKeepsCommitsAfterKill) { run_sqlite_crashes({Durability::Process, Crash::Kill, true}); }

TEST(SqliteCrash, ProcessModeLosesOnlyLastCommitsAfterPowerCut) {
  run_sqlite_crashes({Durability::Process, Crash::PowerCut, false});
}

TEST(SqliteCrash, MigrationIsAtomic) {
  constexpr std::int64_t kRows = 300;
  constexpr std::uint64_t kOperations = 200;  // more than the migration takes
  std::size_t crashes = 0;
  for (std::uint64_t seed = 1; seed <= kSqliteSeeds; ++seed) {
    SCOPED_TRACE(format("seed {}", seed));
    SeededRandom random{seed};
    SimDisk disk;
    {
      auto connection = SqliteConnection::open("db", disk.vfs(), Access::ReadWrite);
      ASSERT_TRUE(connection && migrate(**connection, 2));
      const auto filled =
          (*connection)
              ->execute(format("INSERT INTO names VALUES(1,'Alice'),(2,'Bob');"
                               "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n+1 FROM n WHERE n<{})"
                               "INSERT INTO messages(key,id,ts,sender,recipient,payload)"
                               " SELECT 2*n-1,'id',5,1,2,'{{}}' FROM n;"
                               "INSERT INTO deliveries(key,message,recipient,seq,carriage,state,proof,"
                               "expires_at,queued_offline) SELECT key+1,key,2,key,0,0,0,900,0 FROM messages",
                               kRows)
                            .c_str());
      ASSERT_TRUE(filled) << filled.error().message();
    }
    const SqliteOptions options{.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive};
    disk.kill_after(random.below(kOperations));
    if (!SqliteStore::open(options)) ++crashes;
    disk.crash(random);
    auto store = SqliteStore::open(options);
    ASSERT_TRUE(store) << store.error().message();
    EXPECT_EQ((*store)->warning(), "");
    auto request = backlog_of("Bob");
    request.max_rows = 2 * kRows;
    EXPECT_EQ((*store)->backlog(request)->items.size(), static_cast<std::size_t>(kRows));
  }
  EXPECT_GT(crashes, 0u) << "no run crashed in the migration";
  EXPECT_LT(crashes, kSqliteSeeds) << "no run finished the migration";
}

}  // namespace
}  // namespace relay::store
