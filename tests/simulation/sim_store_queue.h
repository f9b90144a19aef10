/// The store queue on the virtual clock: a group becomes durable at a random later time, and is reported still later.
///
/// A crash before the commit loses the group; a crash between commit and report leaves it stored and unreported. The
/// seed draws both. The daemon's own code executes the batches, on a real MessageStore.
/// Contract of store::StoreQueue: requests in order; pages, expiries and queries after the earlier commits; when a
///   group fails,
/// every request made before the report of that failure fails with it.
/// Ownership: owned by the Workspace; borrows everything else. Threading: one thread.
#pragma once

#include <memory>
#include <vector>

#include "base/lifetime.h"
#include "base/random.h"
#include "store/queue/store_batch.h"
#include "tests/simulation/fault_plan.h"
#include "tests/simulation/observed_store.h"
#include "tests/simulation/sim_network.h"
#include "tests/simulation/trace.h"

namespace relay::simulation {

/// Within which the daemon has tried again what its disk refused: the journal after a second, the broker after another.
inline constexpr Nanos kRecovery = milliseconds{3'500};

class SimStoreQueue final : public store::BackingQueue {
 public:
  SimStoreQueue(VirtualLoop& loop, Random& random, const FaultPlan& faults, Trace& trace, ObservedStore& store,
                store::StoreListener& listener, DeathFlag dead);

  void persist(records::CommitTicket ticket, records::Changes changes, records::CommitMode mode) override;
  void load_backlog(records::BacklogRequest request) override;
  void expire(records::ExpireRequest request) override;
  void query(store::QueryId id, store::Query query) override;
  void prune(store::Retention retention, WallMs now) override;

  void apply(std::vector<store::PersistRequest> requests) override;
  [[nodiscard]] store::CommitNumber durable_position() const override { return 0; }
  void stop() override {}

  /// Every request is answered, and no failure was reported lately: the daemon waits for nothing from this queue.
  [[nodiscard]] bool idle() const;

 private:
  using Requests = std::vector<store::BatchRequest>;

  void add(store::BatchRequest request);
  void later(net::Task task);
  void work_soon();
  void work();
  void notify(store::Replies replies);
  void notify_failure(Requests failed);
  void done(std::size_t requests);

  VirtualLoop& loop_;
  Random& random_;
  const FaultPlan& faults_;
  Trace& trace_;
  ObservedStore& store_;
  store::StoreListener& listener_;
  DeathFlag dead_;
  Requests pending_;
  bool busy_ = false;
  std::size_t requested_ = 0, done_ = 0;  // requests
  struct PendingQuery {
    std::size_t after = 0;  // so many requests
    store::QueryId id;
    store::Query query;
  };
  std::vector<PendingQuery> queries_;  // pending behind requests
  std::size_t open_queries_ = 0;
  SteadyTime failed_at_ = SteadyTime::min();
  Lifetime lifetime_;
};

}  // namespace relay::simulation
