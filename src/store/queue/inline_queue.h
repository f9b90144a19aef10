/// A store that never waits, on the loop thread itself: the requests of one turn are committed at its end.
///
/// Why beside the threaded queue: a memory store waits for no disk, and two thread switches per message cost more than
///   all its other work.
/// Invariants: no result arrives before the call that requested it has returned; a failure fails every request made
///   before it is reported, as in the threaded queue.
/// Ownership: owns the store; borrows the listener, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/lifetime.h"
#include "store/queue/store_batch.h"
#include "store/queue/store_queue.h"

namespace relay::store {

class InlineStoreQueue final : public BackingQueue {
 public:
  using Task = std::move_only_function<void()>;
  using PostTask = std::function<void(Task)>;  // runs a task later on this thread

  InlineStoreQueue(std::unique_ptr<MessageStore> store, PostTask post, StoreListener& listener)
      : store_{std::move(store)}, post_{std::move(post)}, listener_{listener} {}

  void persist(records::CommitTicket ticket, records::Changes changes,
               records::CommitMode mode = records::CommitMode::Immediate) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(QueryId id, Query query) override;
  void prune(Retention retention, WallMs now) override;
  void apply(std::vector<PersistRequest> requests) override;
  [[nodiscard]] CommitNumber durable_position() const override { return durable_; }
  void stop() override;

 private:
  struct PruneJob {
    Retention retention;
    WallMs now = 0;
  };

  void serve_soon();
  void serve();
  void notify(BatchOutcome outcome);
  void prune_step();

  std::unique_ptr<MessageStore> store_;
  PostTask post_;
  StoreListener& listener_;
  std::vector<BatchRequest> requests_;
  std::vector<std::pair<QueryId, Query>> queries_;
  std::optional<PruneJob> prune_job_;
  bool serving_soon_ = false;
  CommitNumber applied_ = 0, durable_ = 0;  // the newest journaled commits
  Lifetime lifetime_;
};

}  // namespace relay::store
