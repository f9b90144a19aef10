#include "store/queue/store_batch.h"

#include <gtest/gtest.h>

#include "store/memory/store.h"
#include "store/sqlite/store.h"
#include "store/testing/recording_listener.h"
#include "store/testing/sample_records.h"
#include "store/testing/sim_disk.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

using Calls = std::vector<std::string>;

Calls run(MessageStore& store, const std::vector<BatchRequest>& requests, RecordingListener& listener) {
  for (auto& reply : run_batch(store, requests)) reply(listener);
  return listener.calls;
}

const std::vector<BatchRequest> kThreeOneBad = {
    PersistRequest{CommitTicket{1}, direct(1, "Alice", "Bob", "good", 1)},
    PersistRequest{CommitTicket{2}, direct(1, "Mallory", "Bob", "same key", 1)},
    backlog_of("Bob"),
    PersistRequest{CommitTicket{3}, direct(3, "Alice", "Bob", "good", 2)},
};

TEST(StoreBatch, CommitsRequestsBeforeBadChangeAndNoneAfter) {
  MemoryStore store;
  RecordingListener listener;
  EXPECT_EQ(run(store, kThreeOneBad, listener), (Calls{"committed 1", "failed 2-3", "backlog Bob 1"}));
  EXPECT_EQ(store.messages(QueryBuilder{})->size(), 1u);
}

TEST(StoreBatch, CommitsRequestsBeforeBadChangeOnSqlite) {
  SimDisk disk;
  auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  ASSERT_TRUE(store);
  RecordingListener listener;
  EXPECT_EQ(run(**store, kThreeOneBad, listener), (Calls{"committed 1", "failed 2-3", "backlog Bob 1"}));
  EXPECT_EQ((*store)->messages(QueryBuilder{})->size(), 1u);
}

TEST(StoreBatch, FullDiskFailsWholeBatchAndLaterOneSucceeds) {
  SimDisk disk;
  auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  ASSERT_TRUE(store);
  disk.set_full(true);
  RecordingListener listener;
  const auto calls = run(
      **store,
      {PersistRequest{CommitTicket{1}, direct(1, "Alice", "Bob", std::string(300'000, 'x'))},
       PersistRequest{CommitTicket{2}, direct(3, "Alice", "Bob", "b")}, ExpireRequest{kStart, 10}, backlog_of("Bob")},
      listener);
  EXPECT_EQ(calls, (Calls{"failed 1-2", "not expired", "no backlog Bob"}));
  EXPECT_NE(listener.commit_error.find("disk is full"), std::string::npos) << listener.commit_error;
  disk.set_full(false);
  RecordingListener again;
  EXPECT_EQ(run(**store, {PersistRequest{CommitTicket{3}, direct(1, "Alice", "Bob", "a")}}, again),
            Calls{"committed 3"});
  EXPECT_EQ((*store)->messages(QueryBuilder{})->size(), 1u);
}

TEST(StoreBatch, SurvivesFailingDisk) {
  SimDisk disk;
  auto store = SqliteStore::open({.path = "db", .vfs = disk.vfs(), .sharing = Sharing::Exclusive});
  ASSERT_TRUE(store);
  RecordingListener listener;
  disk.fail_next_writes(1);
  run(**store, {PersistRequest{CommitTicket{1}, direct(1, "Alice", "Bob", "a")}}, listener);
  disk.fail_next_syncs(1);
  run(**store, {PersistRequest{CommitTicket{2}, direct(1, "Alice", "Bob", "a")}}, listener);
  run(**store, {PersistRequest{CommitTicket{3}, direct(1, "Alice", "Bob", "a")}}, listener);
  EXPECT_EQ(listener.calls, (Calls{"failed 1-1", "failed 2-2", "committed 3"}));
}

}  // namespace
}  // namespace relay::store
