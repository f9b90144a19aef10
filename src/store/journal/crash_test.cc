// Thousands of lives of a store behind its journal, on a disk that forgets: each life ends at some write or sync, of
// the journal or of the database. The next must find every reported commit as a whole, and no other but the last.
#include <gtest/gtest.h>

#include <cstdlib>
#include <set>

#include "base/format.h"
#include "base/random.h"
#include "store/journal/journaled_queue.h"
#include "store/journal/recovery.h"
#include "store/queue/inline_queue.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"
#include "store/testing/task_queue.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

struct BrokerFixture {
  Durability durability;
  bool power_goes;       // otherwise the process dies
  bool keeps_commits;    // otherwise the commits that survive are the first ones
  bool damages = false;  // between two lives the disk changes bytes: what is lost is counted
};

constexpr int kWorlds = 150;
constexpr int kLivesOfOne = 8;
constexpr std::uint64_t kShort = 150;   // operations on the disk
constexpr std::uint64_t kLong = 6'000;  // enough to use a journal's files again

class JournalLives final : public StoreListener {
 public:
  JournalLives(std::uint64_t seed, BrokerFixture world) : random_{seed}, world_{world} {}

  void run() {
    for (int life = 0; life < kLivesOfOne && !testing::Test::HasFailure(); ++life) live();
  }

 private:
  struct Opened {
    std::unique_ptr<SqliteStore> store;
    std::unique_ptr<Journal> journal;
  };
  std::optional<Opened> open() {
    const SqliteOptions options{.path = "db",
                                .durability = world_.durability,
                                .vfs = disk_.vfs(),
                                .sharing = Sharing::Exclusive,
                                .boot_id = format("boot-{}", power_cuts_)};
    auto store = SqliteStore::open(options);
    if (!store) return std::nullopt;
    if (!damaged_) { EXPECT_EQ((*store)->warning(), "") << "a crash is normal life, never damage"; }
    auto journal = recover_journal(**store, options);
    if (!journal) return std::nullopt;
    if (world_.keeps_commits && !damaged_) { EXPECT_EQ((*journal)->damage().sentence(), ""); }
    told_lost_ = (*store)->damage().lost_messages + (*journal)->damage().lost_messages;
    if (!(*store)->load()) return std::nullopt;  // as the daemon does: the store notes on which boot it lives
    return Opened{*std::move(store), *std::move(journal)};
  }

  void live() {
    disk_.kill_after(random_.below(random_.below(8) == 0 ? kLong : kShort));
    if (auto opened = open()) {
      const bool large = random_.below(4) == 0;
      auto queue = std::make_unique<JournaledStoreQueue>(
          std::move(opened->journal),
          [&](Journal& journal, JournalListener& on_written, JournaledStoreQueue::Post) {
            return std::make_unique<InlineJournalWriter>(journal, on_written,
                                                         world_.durability == Durability::Power
                                                             ? InlineJournalWriter::Sync::Each
                                                             : InlineJournalWriter::Sync::No);
          },
          [&](JournaledStoreQueue::Post post, StoreListener& on_result) {
            return std::make_unique<InlineStoreQueue>(std::move(opened->store), std::move(post), on_result);
          },
          inbox_.post(), [](std::chrono::milliseconds, TaskQueue::Task) {}, *this);
      for (auto steps = random_.below(400); steps > 0; --steps) step(*queue, large);
      if (random_.below(3) != 0) disk_.kill();  // otherwise it leaves in peace, or dies while it does
      queue.reset();
      inbox_.clear();
    }
    if (world_.power_goes) {
      disk_.crash(random_);
      ++power_cuts_;
    } else {
      disk_.kill();
    }
    disk_.kill_after(UINT64_MAX);
    disk_.fail_next_writes(0);
    disk_.fail_next_syncs(0);
    damaged_ = world_.damages && random_.below(2) == 0;
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
      asked_.emplace_back(++ticket_, next_key_);
      auto changes = direct(next_key_, "Alice", "Bob", body, static_cast<std::uint64_t>(next_key_));
      if (random_.below(3) == 0) changes.push_back(change(next_key_ + 1, DeliveryState::Delivered));
      queue.persist(CommitTicket{ticket_}, std::move(changes),
                    random_.below(3) == 0 ? CommitMode::Piggyback : CommitMode::Immediate);
    } else if (choice == 4 && random_.below(4) == 0) {
      queue.load_backlog(backlog_of("Bob"));
    } else if (choice == 5 && random_.below(8) == 0 && !committed_.empty()) {
      // A second delivery of an earlier message: the store must say whether that is there.
      next_key_ += 2;
      asked_.emplace_back(++ticket_, 0);
      queue.persist(CommitTicket{ticket_},
                    {AddDelivery{delivery(next_key_, random_.below(2) == 0 ? *committed_.begin() : 999'999, "Carol",
                                          static_cast<std::uint64_t>(next_key_)),
                                 "again", kStart}});
    } else if (choice == 6 && random_.below(12) == 0) {
      random_.below(2) == 0 ? disk_.fail_next_writes(1) : disk_.fail_next_syncs(1);  // and life goes on
    } else {
      inbox_.run_one();
    }
  }

  void check(SqliteStore& store) {
    std::set<std::int64_t> found;
    for (std::int64_t before = INT64_MAX; before > 0;) {  // an answer is bounded in bytes
      const auto rows = store.messages(Ask{}.limit(100'000).before(before));
      ASSERT_TRUE(rows) << rows.error().message();
      before = 0;
      for (const auto& row : *rows) {
        before = row.message.key.value();
        found.insert(before);
        // After damage such a message was counted as lost, and it stays so.
        if (ever_damaged_ && row.deliveries == 0) found.erase(before);
        if (!ever_damaged_) { EXPECT_GE(row.deliveries, 1u) << "a commit is whole or absent"; }
      }
    }
    // A requested commit that was not reported may be on disk, in the order of requests.
    std::set<std::int64_t> expected = committed_;
    bool absent = false;
    for (const auto& [ticket, key] : asked_) {
      if (key == 0) continue;
      if (found.contains(key)) {
        EXPECT_FALSE(absent && !damaged_) << "a later commit is there and an earlier one is not";
        expected.insert(key);
      } else {
        absent = true;
      }
    }
    asked_.clear();
    for (const auto& [ticket, key] : refused_)
      if (found.contains(key)) expected.insert(key);
    refused_.clear();
    for (const auto key : found) EXPECT_FALSE(never_.contains(key)) << key << " was refused";
    if (damaged_) {
      std::uint64_t missing = 0;
      for (const auto key : committed_) missing += found.contains(key) ? 0u : 1u;
      EXPECT_LE(missing, told_lost_) << damage_;
      for (const auto key : found) EXPECT_TRUE(expected.contains(key)) << key << " was never stored";
      next_key_ += 1 << 20;  // the store gives no key twice
    } else if (world_.keeps_commits) {
      EXPECT_EQ(found, expected);
    } else {
      for (const auto key : found) EXPECT_TRUE(expected.contains(key));
      for (const auto key : expected) EXPECT_TRUE(found.contains(key) || found.empty() || key > *found.rbegin()) << key;
    }
    committed_ = found;
  }

  void on_committed(CommitTicket up_to, EventSeq) override {
    while (!asked_.empty() && asked_.front().first <= up_to.value()) {
      if (asked_.front().second != 0) committed_.insert(asked_.front().second);
      asked_.erase(asked_.begin());
    }
    // The disk works: what it refused before is gone for good.
    std::erase_if(refused_, [&](const auto& one) {
      if (one.first >= up_to.value()) return false;
      never_.insert(one.second);
      return true;
    });
  }
  void on_commit_failed(CommitTicket from, CommitTicket to, const Error& why) override {
    std::erase_if(asked_, [&](const auto& one) {
      if (one.first < from.value() || one.first > to.value()) return false;
      if (one.second == 0) return true;
      if (is(why, Errc::BadChange))
        never_.insert(one.second);
      else
        refused_.push_back(one);
      return true;
    });
  }
  void on_backlog(Result<BacklogPage>, const BacklogRequest&) override {}
  void on_expired(Result<ExpireResult>) override {}
  void on_query_result(QueryId, Result<QueryResult>) override {}

  SeededRandom random_;
  BrokerFixture world_;
  SimDisk disk_;
  TaskQueue inbox_;
  int power_cuts_ = 0;
  bool damaged_ = false, ever_damaged_ = false;
  std::uint64_t told_lost_ = 0;
  std::string damage_;
  std::int64_t next_key_ = -1;
  std::uint64_t ticket_ = 0;
  std::vector<std::pair<std::uint64_t, std::int64_t>> asked_;    // ticket and message, not reported
  std::vector<std::pair<std::uint64_t, std::int64_t>> refused_;  // by a disk that may have been dying
  std::set<std::int64_t> never_;                                 // refused, and life went on
  std::set<std::int64_t> committed_;
};

void run_worlds(BrokerFixture world) {
  const char* only = std::getenv("RELAY_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + (only == nullptr ? kWorlds : 1); ++seed) {
    SCOPED_TRACE(format("replay with RELAY_SEED={}", seed));
    JournalLives{seed, world}.run();
    if (testing::Test::HasFailure()) return;
  }
}

TEST(JournalCrash, PowerModeKeepsReportedCommitsAfterPowerCut) { run_worlds({Durability::Power, true, true}); }

TEST(JournalCrash, PowerModeKeepsReportedCommitsAfterKill) { run_worlds({Durability::Power, false, true}); }

TEST(JournalCrash, ProcessModeKeepsReportedCommitsAfterKill) { run_worlds({Durability::Process, false, true}); }

TEST(JournalCrash, DamageAfterKillIsCounted) { run_worlds({Durability::Process, false, true, true}); }

TEST(JournalCrash, DamageAfterKillInPowerModeIsCounted) { run_worlds({Durability::Power, false, true, true}); }

TEST(JournalCrash, ProcessModeLosesOnlyLastCommitsAfterPowerCut) { run_worlds({Durability::Process, true, false}); }

}  // namespace
}  // namespace relay::store
