/// The store behind a writer thread: queued requests are committed together.
///
/// Why no timer: while one commit syncs, the next requests accumulate; the disk itself sets the size of the batches.
///   Only piggyback writes wait for commit_delay, so that they need no commit of their own.
/// Background work (full-text index, retention, the check of a large database) runs in bounded steps while no request
///   waits. Indexing runs only after idle_delay, so that it does not slow a conversation between its messages. An idle
///   queue sleeps.
/// When a commit fails the writer waits until the loop thread has the report; everything persisted meanwhile fails with
///   it, so no commit follows one whose failure is not reported.
/// Ownership: owns the store and its threads; borrows the listener, which outlives every posted result.
/// Threading: all calls on the loop thread; results come through `post`. stop() drains: every queued request is
///   executed and its result posted before it returns; later requests are dropped.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "store/queue/query_thread.h"
#include "store/queue/store_batch.h"
#include "store/queue/store_queue.h"

namespace relay::store {

/// Sizes and delays of the writer and of background work.
struct QueueTuning {
  bool behind_journal = false;                // callers wait for the journal: the writer runs at a lower priority
  std::chrono::milliseconds commit_delay{5};  // how long piggyback writes wait for an immediate one
  std::size_t commit_delay_bytes = 1 << 20;   // they no longer wait once they have this size
  std::chrono::milliseconds idle_delay{250};  // without requests, before indexing starts
  std::size_t index_backlog = 4'096;          // unindexed messages that start indexing at any pause
  std::size_t index_step_rows = 256;
  std::size_t prune_step_rows = 256;
  std::size_t check_step_bytes = 512 << 10;   // of a large database whose checksums are compared after the start
  std::chrono::milliseconds check_pause{50};  // between two steps: at most 10 MB a second
};

class ThreadedStoreQueue final : public BackingQueue {
 public:
  using Task = std::move_only_function<void()>;
  using PostTask = std::function<void(Task)>;  // runs a task on the loop thread; any thread may call it

  ThreadedStoreQueue(std::unique_ptr<MessageStore> store, PostTask post, StoreListener& listener,
                     QueueTuning tuning = {});
  ~ThreadedStoreQueue() override { stop(); }

  void persist(records::CommitTicket ticket, records::Changes changes,
               records::CommitMode mode = records::CommitMode::Immediate) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(QueryId id, Query query) override;
  void prune(Retention retention, WallMs now) override;

  void apply(std::vector<PersistRequest> requests) override;
  [[nodiscard]] CommitNumber durable_position() const override { return shared_->durable; }

  /// Size of the queued changes without a result yet.
  [[nodiscard]] std::size_t pending_bytes() const { return shared_->pending_bytes; }

  void stop() override;

 private:
  struct QueuedRequests {
    std::vector<BatchRequest> requests;
    std::vector<std::pair<QueryId, Query>> queries;
    bool has_immediate = false;  // one of them must not wait for commit_delay
    [[nodiscard]] bool empty() const { return requests.empty() && queries.empty(); }
  };
  struct PruneJob {
    Retention retention;
    WallMs now = 0;
  };
  /// State of both threads. Shared, because a posted result may run after the queue is destroyed.
  struct Shared {
    std::mutex mutex;  // guards all below
    QueuedRequests queued;
    std::optional<PruneJob> queued_prune;
    bool failure_unacknowledged = false;
    bool stopping = false;
    bool delaying = false;  // the writer waits commit_delay for an immediate request
    std::condition_variable changed;
    std::atomic<std::size_t> pending_bytes{0};
    std::atomic<CommitNumber> durable{0};
  };

  template <class Work>
  void enqueue(Work work, records::CommitMode mode = records::CommitMode::Immediate);
  void run();
  void serve(QueuedRequests queued, bool after_failure);
  void fail_changes(QueuedRequests& queued);
  void post_failure(BatchOutcome outcome);
  static void notify_failure(Shared& shared, BatchOutcome outcome, StoreListener& listener);
  void run_queries(std::vector<std::pair<QueryId, Query>> queries);
  [[nodiscard]] bool background_waits() const { return index_behind_ || prune_job_.has_value(); }
  [[nodiscard]] bool background_may_run() const;
  void background_step();
  void check_step();
  void notify_damage(const Error& error);
  void notify(QueryId id, Result<QueryResult> result);

  std::unique_ptr<MessageStore> store_;  // writer thread only, like every member without a comment
  PostTask post_;
  StoreListener& listener_;
  QueueTuning tuning_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();

  CommitNumber applied_ = 0;  // the newest journaled commit in the store
  bool index_behind_ = true;  // an earlier process may have left messages unindexed
  std::size_t unindexed_ = 0;
  bool idle_ = false;
  std::optional<Error> last_failure_;
  std::optional<PruneJob> prune_job_;
  std::chrono::milliseconds idle_for_{};      // during the check
  bool checking_ = true;                      // the store may have pages that were not compared when it was opened
  std::atomic<bool> damage_reported_{false};  // once; the reader's thread may find damage too
  bool reader_tried_ = false;
  std::unique_ptr<QueryThread> reader_;  // created by the first query, if the store has a second reader

  std::thread writer_;  // last: starts after every other member
};

}  // namespace relay::store
