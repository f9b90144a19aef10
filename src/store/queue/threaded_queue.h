/// The store behind a writer thread: what waits together is committed together.
///
/// Why no timer: while one commit syncs, the next requests gather; the disk itself sets the size of the batches. Only what
///   nobody waits for is kept back a moment, so that it costs no commit of its own.
/// Background work (full-text index, retention, the check of a large database) runs in bounded steps only while nothing waits, and indexing only
///   after a moment of quiet, so that a conversation does not pay for it between its messages. Idle means asleep.
/// When a commit fails the writer waits until the loop thread has heard of it; what was persisted meanwhile fails in
///   the same breath, so that nothing is stored behind a hole the loop does not know yet.
/// Ownership: owns the store and its threads; borrows the listener, which outlives every posted answer.
/// Threading: all calls on the loop thread; answers come through `post`. stop() drains: everything asked is carried
///   out and posted before it returns, and nothing is posted afterwards (later requests are dropped unheard).
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

/// When background work may run.
struct QueueTuning {
  bool behind_a_journal = false;              // which others wait for: then the writer lets them go first
  std::chrono::milliseconds commit_delay{5};  // for which what nobody waits for is kept back
  std::size_t commit_delay_bytes = 1 << 20;   // and no longer once there is so much of it
  std::chrono::milliseconds idle_delay{250};  // without requests, before the index is brought up to date
  std::size_t index_without_quiet = 4'096;    // new messages after which any pause, however short, will do
  std::size_t index_step_rows = 256;
  std::size_t forget_step_rows = 256;
  std::size_t check_step_bytes = 512 << 10;   // of a large database, compared with its checksums after the start,
  std::chrono::milliseconds check_pause{50};  // at 10 MB a second at most
};

class ThreadedStoreQueue final : public BackingQueue {
 public:
  using Task = std::move_only_function<void()>;
  using Post = std::function<void(Task)>;  // runs a task on the loop thread; any thread may call it

  ThreadedStoreQueue(std::unique_ptr<MessageStore> store, Post post, StoreListener& listener, QueueTuning pacing = {});
  ~ThreadedStoreQueue() override { stop(); }

  void persist(records::CommitTicket ticket, records::Changes changes,
               records::CommitMode haste = records::CommitMode::Now) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(QueryId id, Query query) override;
  void prune(Retention retention, WallMs now) override;

  void apply(std::vector<PersistRequest> requests) override;
  [[nodiscard]] CommitNumber durable_position() const override { return shared_->kept; }

  /// What was asked to be stored and is not answered yet.
  [[nodiscard]] std::size_t pending_bytes() const { return shared_->pending_bytes; }

  void stop() override;

 private:
  struct QueuedRequests {
    std::vector<BatchRequest> requests;
    std::vector<std::pair<QueryId, Query>> queries;
    bool awaited = false;  // by somebody
    [[nodiscard]] bool empty() const { return requests.empty() && queries.empty(); }
  };
  struct PruneJob {
    Retention retention;
    WallMs now = 0;
  };
  /// What both threads touch. Shared, because a posted answer may run after the queue is gone.
  struct Shared {
    std::mutex mutex;  // guards all below
    QueuedRequests asked;
    std::optional<PruneJob> asked_to_forget;
    bool failure_unacknowledged = false;
    bool stopping = false;
    bool delaying = false;  // the writer waits for something that is awaited
    std::condition_variable changed;
    std::atomic<std::size_t> pending_bytes{0};
    std::atomic<CommitNumber> kept{0};
  };

  template <class Work>
  void ask(Work work, records::CommitMode haste = records::CommitMode::Now);
  void run();
  void serve(QueuedRequests asked, bool behind_a_hole);
  void refuse_changes(QueuedRequests& asked);
  void post_failure(BatchOutcome outcome);
  static void notify_failure(Shared& shared, BatchOutcome outcome, StoreListener& listener);
  void answer_queries(std::vector<std::pair<QueryId, Query>> queries);
  [[nodiscard]] bool background_waits() const { return index_behind_ || forgetting_.has_value(); }
  [[nodiscard]] bool background_may_run() const;
  void background_step();
  void check_step();
  void notify_damage(const Error& error);
  void notify(QueryId id, Result<QueryResult> answer);

  std::unique_ptr<MessageStore> store_;  // writer thread only, like all without another word
  Post post_;
  StoreListener& listener_;
  QueueTuning pacing_;
  std::shared_ptr<Shared> shared_ = std::make_shared<Shared>();

  CommitNumber reached_ = 0;  // of the journal before us
  bool index_behind_ = true;  // an earlier life may have left messages unindexed
  std::size_t unindexed_ = 0;
  bool quiet_ = false;
  std::optional<Error> last_failure_;
  std::optional<PruneJob> forgetting_;
  std::chrono::milliseconds idle_for_{};  // during the check
  bool checking_ = true;                  // the store may have pages that were not compared when it was opened
  std::atomic<bool> damage_told_{false};  // once in a life; the reader's thread meets damage too
  bool reader_tried_ = false;
  std::unique_ptr<QueryThread> reader_;  // from the first question on, where the store has a second door

  std::thread writer_;  // last: starts when all else stands
};

}  // namespace relay::store
