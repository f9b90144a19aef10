/// A store that never waits, on the loop thread itself: what was asked in one turn is committed at its end.
///
/// Why beside the threaded one: memory needs no disk to be waited for, and two changes of thread for each message cost more
///   than everything else that is done to it.
/// Invariants: nothing is answered before the call that asked has returned; a failure fails everything asked before it was
///   told, as in the threaded queue.
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
  using Post = std::function<void(Task)>;  // runs a task later on this thread

  InlineStoreQueue(std::unique_ptr<MessageStore> store, Post post, StoreListener& listener)
      : store_{std::move(store)}, post_{std::move(post)}, listener_{listener} {}

  void persist(records::CommitTicket ticket, records::Changes changes,
               records::CommitMode haste = records::CommitMode::Now) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(QueryId id, Query query) override;
  void prune(Retention retention, WallMs now) override;
  void apply(std::vector<PersistRequest> requests) override;
  [[nodiscard]] CommitNumber durable_position() const override { return kept_; }
  void stop() override;

 private:
  struct PruneJob {
    Retention retention;
    WallMs now = 0;
  };

  void serve_soon();
  void serve();
  void notify(BatchOutcome outcome);
  void forget_step();

  std::unique_ptr<MessageStore> store_;
  Post post_;
  StoreListener& listener_;
  std::vector<BatchRequest> requests_;
  std::vector<std::pair<QueryId, Query>> queries_;
  std::optional<PruneJob> forgetting_;
  bool serving_soon_ = false;
  CommitNumber reached_ = 0, kept_ = 0;  // of the journal before us
  Lifetime lifetime_;
};

}  // namespace relay::store
