#include "store/queue/inline_queue.h"

#include <gtest/gtest.h>

#include <deque>

#include "base/format.h"
#include "store/memory/store.h"
#include "store/testing/sample_records.h"

namespace relay::store {
namespace {

using namespace records;
using namespace sample;

struct InlineQueueTest : ::testing::Test, StoreListener {
  std::deque<InlineStoreQueue::Task> tasks;
  std::vector<std::string> calls;
  std::move_only_function<void()> on_commit;
  std::unique_ptr<InlineStoreQueue> queue = std::make_unique<InlineStoreQueue>(
      std::make_unique<MemoryStore>("s", 1), [this](InlineStoreQueue::Task task) { tasks.push_back(std::move(task)); },
      *this);

  void run() {
    while (!tasks.empty()) {
      auto task = std::move(tasks.front());
      tasks.pop_front();
      task();
    }
  }
  void on_committed(CommitTicket up_to, EventSeq) override {
    calls.push_back(format("committed {}", up_to.value()));
    if (on_commit) std::exchange(on_commit, nullptr)();
  }
  void on_commit_failed(CommitTicket from, CommitTicket to, const Error&) override {
    calls.push_back(format("failed {}-{}", from.value(), to.value()));
  }
  void on_backlog(Result<BacklogPage> page, const BacklogRequest&) override {
    calls.push_back(format("backlog {}", page ? page->items.size() : 0));
  }
  void on_expired(Result<ExpireResult>) override { calls.emplace_back("expired"); }
  void on_query_result(QueryId id, Result<QueryResult> result) override {
    calls.push_back(format("{} {}", result ? "result" : "none", id.value()));
  }
};

using Calls = std::vector<std::string>;

TEST_F(InlineQueueTest, ReportsInNextTurnInOrder) {
  queue->persist(CommitTicket{1}, {AddMessage{message(1, "Alice", "Bob", "hi")}});
  queue->persist(CommitTicket{2}, {AddMessage{message(2, "Alice", "Bob", "hi")}});
  queue->query(QueryId{7}, StatsQuery{});
  EXPECT_TRUE(calls.empty()) << "nothing is reported inside the calls";
  EXPECT_EQ(tasks.size(), 1U) << "one task for all";
  run();
  EXPECT_EQ(calls, (Calls{"committed 2", "result 7"}));
}

TEST_F(InlineQueueTest, FailureFailsRequestsMadeBeforeItsReport) {
  queue->persist(CommitTicket{1}, {AddMessage{message(1, "Alice", "Bob", "hi")}});
  queue->persist(CommitTicket{2}, {AddMessage{message(1, "Alice", "Bob", "hi")}});
  on_commit = [&] { queue->persist(CommitTicket{3}, {AddMessage{message(3, "Alice", "Bob", "hi")}}); };
  run();
  EXPECT_EQ(calls, (Calls{"committed 1", "failed 2-3"}));
  queue->persist(CommitTicket{4}, {AddMessage{message(4, "Alice", "Bob", "hi")}});
  run();
  EXPECT_EQ(calls.back(), "committed 4");
}

TEST_F(InlineQueueTest, ListenerMayDestroyQueue) {
  queue->persist(CommitTicket{1}, {AddMessage{message(1, "Alice", "Bob", "hi")}});
  queue->query(QueryId{7}, StatsQuery{});
  on_commit = [&] { queue.reset(); };
  run();
  EXPECT_EQ(calls, Calls{"committed 1"});
}

TEST_F(InlineQueueTest, DestroyedQueueReportsNothing) {
  queue->persist(CommitTicket{1}, {AddMessage{message(1, "Alice", "Bob", "hi")}});
  queue->prune({}, 5);
  queue.reset();
  run();
  EXPECT_TRUE(calls.empty());
}

}  // namespace
}  // namespace relay::store
