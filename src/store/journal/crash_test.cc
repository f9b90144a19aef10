// Thousands of runs of a store behind its journal, on a disk that loses unsynced writes. Each run crashes at a write or
// sync of the journal or the database. The next run must find every reported commit as a whole, and of the others at
// most the last ones.
#include <gtest/gtest.h>

#include <set>

#include "base/format.h"
#include "base/random.h"
#include "store/journal/journaled_queue.h"
#include "store/journal/recovery.h"
#include "store/queue/inline_queue.h"
#include "store/testing/sample_records.h"
#include "store/testing/seeds.h"
#include "store/testing/sim_disk.h"
#include "store/testing/task_queue.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

struct JournalCrashScenario {
  Durability durability;
  bool power_cut;        // else the process is killed
  bool keeps_commits;    // else the surviving commits are the first ones
  bool damages = false;  // bytes change on the disk between two runs; lost messages are counted
};

constexpr std::uint64_t kJournalSeeds = 150;
constexpr int kRunsPerSeed = 8;
constexpr std::uint64_t kShortRun = 150;   // operations on the disk
constexpr std::uint64_t kLongRun = 6'000;  // enough to reuse files of the journal

class JournalCrashRuns final : public StoreListener {
 public:
  JournalCrashRuns(std::uint64_t seed, JournalCrashScenario scenario) : random_{seed}, scenario_{scenario} {}

  void run() {
    for (int run = 0; run < kRunsPerSeed && !testing::Test::HasFailure(); ++run) run_once();
  }

 private:
  struct Opened {
    std::unique_ptr<SqliteStore> store;
    std::unique_ptr<Journal> journal;
  };
  std::optional<Opened> open() {
    const SqliteOptions options{.path = "db",
                                .durability = scenario_.durability,
                                .vfs = disk_.vfs(),
                                .sharing = Sharing::Exclusive,
                                .boot_id = format("boot-{}", power_cuts_)};
    auto store = SqliteStore::open(options);
    if (!store) return std::nullopt;
    if (!damaged_) { EXPECT_EQ((*store)->warning(), "") << "a crash is not damage"; }
    auto journal = recover_journal(**store, options);
    if (!journal) return std::nullopt;
    if (scenario_.keeps_commits && !damaged_) { EXPECT_EQ((*journal)->damage().message(), ""); }
    reported_lost_ = (*store)->damage().lost_messages + (*journal)->damage().lost_messages;
    if (!(*store)->load()) return std::nullopt;  // as the daemon does: the store records the boot id
    return Opened{*std::move(store), *std::move(journal)};
  }

  void run_once() {
    disk_.kill_after(random_.below(random_.below(8) == 0 ? kLongRun : kShortRun));
    if (auto opened = open()) {
      const bool large = random_.below(4) == 0;
      auto queue = std::make_unique<JournaledStoreQueue>(
          std::move(opened->journal),
          [&](Journal& journal, JournalListener& on_written, JournaledStoreQueue::PostTask) {
            return std::make_unique<InlineJournalWriter>(journal, on_written,
                                                         scenario_.durability == Durability::Power
                                                             ? InlineJournalWriter::Sync::Each
                                                             : InlineJournalWriter::Sync::No);
          },
          [&](JournaledStoreQueue::PostTask post, StoreListener& on_result) {
            return std::make_unique<InlineStoreQueue>(std::move(opened->store), std::move(post), on_result);
          },
          inbox_.post(), [](std::chrono::milliseconds, TaskQueue::Task) {}, *this);
      for (auto steps = random_.below(400); steps > 0; --steps) step(*queue, large);
      if (random_.below(3) != 0) disk_.kill();  // else it closes, or is killed while closing
      queue.reset();
      inbox_.clear();
    }
    if (scenario_.power_cut) {
      disk_.crash(random_);
      ++power_cuts_;
    } else {
      disk_.kill();
    }
    disk_.kill_after(UINT64_MAX);
    disk_.fail_next_writes(0);
    disk_.fail_next_syncs(0);
    damaged_ = scenario_.damages && random_.below(2) == 0;
    if (damaged_) damage_ = disk_.damage(random_);
    ever_damaged_ = ever_damaged_ || damaged_;
    auto opened = open();
    ASSERT_TRUE(opened);
    check(*opened->store);
    damaged_ = false;
  }

  void step(JournaledStoreQueue& queue, bool large) {
    const auto choice = random_.below(8);
    if (choice < 4) {
      next_key_ += 2;
      const auto body = std::string(large ? random_.below(400'000) : random_.below(500), 'x');
      requested_.emplace_back(++ticket_, next_key_);
      auto changes = direct(next_key_, "Alice", "Bob", body, static_cast<std::uint64_t>(next_key_));
      if (random_.below(3) == 0) changes.push_back(change(next_key_ + 1, DeliveryState::Delivered));
      queue.persist(CommitTicket{ticket_}, std::move(changes),
                    random_.below(3) == 0 ? CommitMode::Piggyback : CommitMode::Immediate);
    } else if (choice == 4 && random_.below(4) == 0) {
      queue.load_backlog(backlog_of("Bob"));
    } else if (choice == 5 && random_.below(8) == 0 && !committed_.empty()) {
      // A second delivery of an earlier message: the store decides whether that message exists.
      next_key_ += 2;
      requested_.emplace_back(++ticket_, 0);
      queue.persist(CommitTicket{ticket_},
                    {AddDelivery{delivery(next_key_, random_.below(2) == 0 ? *committed_.begin() : 999'999, "Carol",
                                          static_cast<std::uint64_t>(next_key_)),
                                 "again", kStart}});
    } else if (choice == 6 && random_.below(12) == 0) {
      random_.below(2) == 0 ? disk_.fail_next_writes(1) : disk_.fail_next_syncs(1);  // the process continues
    } else {
      inbox_.run_one();
    }
  }

  void check(SqliteStore& store) {
    std::set<std::int64_t> found;
    for (std::int64_t before = INT64_MAX; before > 0;) {  // a result is bounded in bytes
      const auto rows = store.messages(QueryBuilder{}.limit(100'000).before(before));
      ASSERT_TRUE(rows) << rows.error().message();
      before = 0;
      for (const auto& row : *rows) {
        before = row.message.key.value();
        found.insert(before);
        // After damage such a message counts as lost.
        if (ever_damaged_ && row.deliveries == 0) found.erase(before);
        if (!ever_damaged_) { EXPECT_GE(row.deliveries, 1u) << "a commit is whole or absent"; }
      }
    }
    // A requested commit that was not reported may be on disk, in the order of requests.
    std::set<std::int64_t> expected = committed_;
    bool absent = false;
    for (const auto& [ticket, key] : requested_) {
      if (key == 0) continue;
      if (found.contains(key)) {
        EXPECT_FALSE(absent && !damaged_) << "a later commit exists and an earlier one is missing";
        expected.insert(key);
      } else {
        absent = true;
      }
    }
    requested_.clear();
    for (const auto& [ticket, key] : refused_)
      if (found.contains(key)) expected.insert(key);
    refused_.clear();
    for (const auto key : found) EXPECT_FALSE(excluded_.contains(key)) << key << " was refused";
    if (damaged_) {
      std::uint64_t missing = 0;
      for (const auto key : committed_) missing += found.contains(key) ? 0u : 1u;
      EXPECT_LE(missing, reported_lost_) << damage_;
      for (const auto key : found) EXPECT_TRUE(expected.contains(key)) << key << " was never stored";
      next_key_ += 1 << 20;  // the store never reuses a key
    } else if (scenario_.keeps_commits) {
      EXPECT_EQ(found, expected);
    } else {
      for (const auto key : found) EXPECT_TRUE(expected.contains(key));
      for (const auto key : expected) EXPECT_TRUE(found.contains(key) || found.empty() || key > *found.rbegin()) << key;
    }
    committed_ = found;
  }

  void on_committed(CommitTicket up_to, EventSeq) override {
    while (!requested_.empty() && requested_.front().first <= up_to.value()) {
      if (requested_.front().second != 0) committed_.insert(requested_.front().second);
      requested_.erase(requested_.begin());
    }
    // The disk works again: commits that it refused before must not appear later.
    std::erase_if(refused_, [&](const auto& one) {
      if (one.first >= up_to.value()) return false;
      excluded_.insert(one.second);
      return true;
    });
  }
  void on_commit_failed(CommitTicket from, CommitTicket to, const Error& error) override {
    std::erase_if(requested_, [&](const auto& one) {
      if (one.first < from.value() || one.first > to.value()) return false;
      if (one.second == 0) return true;
      if (is(error, Errc::BadChange))
        excluded_.insert(one.second);
      else
        refused_.push_back(one);
      return true;
    });
  }
  void on_backlog(Result<BacklogPage>, const BacklogRequest&) override {}
  void on_expired(Result<ExpireResult>) override {}
  void on_query_result(QueryId, Result<QueryResult>) override {}

  SeededRandom random_;
  JournalCrashScenario scenario_;
  SimDisk disk_;
  TaskQueue inbox_;
  int power_cuts_ = 0;
  bool damaged_ = false, ever_damaged_ = false;
  std::uint64_t reported_lost_ = 0;
  std::string damage_;
  std::int64_t next_key_ = -1;
  std::uint64_t ticket_ = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> requested_;  // ticket and message, not reported
  std::vector<std::pair<std::uint64_t, std::int64_t>> refused_;    // by a disk that may have been crashing
  std::set<std::int64_t> excluded_;                                // refused, and the process continued
  std::set<std::int64_t> committed_;
};

void run_journal_crashes(JournalCrashScenario scenario) {
  for_each_seed(kJournalSeeds, [&](std::uint64_t seed) { JournalCrashRuns{seed, scenario}.run(); });
}

TEST(JournalCrash, PowerModeKeepsReportedCommitsAfterPowerCut) { run_journal_crashes({Durability::Power, true, true}); }

TEST(JournalCrash, PowerModeKeepsReportedCommitsAfterKill) { run_journal_crashes({Durability::Power, false, true}); }

TEST(JournalCrash, ProcessModeKeepsReportedCommitsAfterKill) {
  run_journal_crashes({Durability::Process, false, true});
}

TEST(JournalCrash, DamageAfterKillIsCounted) { run_journal_crashes({Durability::Process, false, true, true}); }

TEST(JournalCrash, DamageAfterKillInPowerModeIsCounted) { run_journal_crashes({Durability::Power, false, true, true}); }

TEST(JournalCrash, ProcessModeLosesOnlyLastCommitsAfterPowerCut) {
  run_journal_crashes({Durability::Process, true, false});
}

}  // namespace
}  // namespace relay::store
