#include "store/testing/sim_disk.h"

#include <gtest/gtest.h>

#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"

namespace relay::store {
namespace {

using namespace sample;

std::unique_ptr<SqliteStore> open(const SimDisk& disk, Durability durability) {
  auto store =
      SqliteStore::open({.path = "db", .durability = durability, .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  EXPECT_TRUE(store) << store.error().message();
  EXPECT_EQ((*store)->warning(), "");
  return *std::move(store);
}

TEST(SimDisk, KillKeepsEveryWrite) {
  SimDisk disk;
  auto store = open(disk, Durability::Process);
  for (std::int64_t key = 1; key < 41; key += 2) ASSERT_TRUE(commit(*store, direct(key, "Alice", "Bob", "hello")));
  disk.kill();
  EXPECT_FALSE(commit(*store, direct(41, "Alice", "Bob", "after the kill")));
  store = open(disk, Durability::Process);
  EXPECT_EQ(store->messages(QueryBuilder{}.limit(100))->size(), 20u);
}

TEST(SimDisk, PowerCutLosesUnsyncedWrites) {
  // Without a sync a commit may be lost; over many seeds some commits must be lost, or the disk is too reliable.
  bool forgot = false;
  for (std::uint64_t seed = 1; seed <= 20 && !forgot; ++seed) {
    SimDisk disk;
    SeededRandom random{seed};
    auto store = open(disk, Durability::Process);
    for (std::int64_t key = 1; key < 41; key += 2) ASSERT_TRUE(commit(*store, direct(key, "Alice", "Bob", "hello")));
    disk.crash(random);
    store = open(disk, Durability::Process);
    forgot = store->messages(QueryBuilder{}.limit(100))->size() < 20;
  }
  EXPECT_TRUE(forgot);
}

TEST(SimDisk, SameSeedGivesSameDisk) {
  const auto run = [] {
    SimDisk disk;
    SeededRandom random{7};
    auto store = open(disk, Durability::Process);
    for (std::int64_t key = 1; key < 41; key += 2) EXPECT_TRUE(commit(*store, direct(key, "Alice", "Bob", "hello")));
    disk.crash(random);
    return open(disk, Durability::Process)->messages(QueryBuilder{}.limit(100))->size();
  };
  EXPECT_EQ(run(), run());
}

TEST(SimDisk, KillsAfterGivenOperations) {
  SimDisk disk;
  auto store = open(disk, Durability::Power);
  disk.kill_after(2);
  EXPECT_FALSE(commit(*store, direct(1, "Alice", "Bob", "hello")));
  store = open(disk, Durability::Power);
  EXPECT_TRUE(store->messages(QueryBuilder{})->empty());
}

TEST(SimDisk, ReadOnlyDiskRejectsWrites) {
  SimDisk disk;
  { open(disk, Durability::Power); }
  disk.set_read_only(true);
  const auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  const bool refused = !store || !commit(**store, direct(1, "Alice", "Bob", "hello"));
  EXPECT_TRUE(refused);
}

}  // namespace
}  // namespace relay::store
