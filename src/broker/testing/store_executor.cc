#include "broker/testing/store_executor.h"

#include "store/queue/store_batch.h"

namespace relay::broker::testing {

void StoreExecutor::add(Persist request) {
  commit_modes_.push_back(request.mode);
  pending_.emplace_back([this, request = std::move(request)](Broker& broker, Timestamp now) {
    if (failing_) {
      broker.on_commit_failed(request.ticket, request.ticket, "the disk is full", now);
      return;
    }
    RELAY_ASSERT(store_.begin());
    for (const auto& change : request.changes) RELAY_ASSERT(store_.apply(change));
    RELAY_ASSERT(store_.commit());
    broker.on_committed(request.ticket, store_.newest_event().value(), now);
  });
}

void StoreExecutor::add(LoadBacklog request) {
  pending_.emplace_back([this, request = std::move(request)](Broker& broker, Timestamp now) {
    broker.on_backlog(*store_.backlog(request.request), now);
  });
}

void StoreExecutor::add(ExpireDue request) {
  pending_.emplace_back([this, request = std::move(request)](Broker& broker, Timestamp now) {
    RELAY_ASSERT(store_.begin());
    auto result = *store_.expire(request.request);
    result.newest_event = store_.newest_event().value();
    RELAY_ASSERT(store_.commit());
    broker.on_expired(result, now);
  });
}

void StoreExecutor::add(QueryStore request) {
  pending_.emplace_back([this, request = std::move(request)](Broker& broker, Timestamp now) {
    broker.on_query_result(request.id, store::run_query(store_, request.query), now);
  });
}

bool StoreExecutor::run_next(Broker& broker, Timestamp now) {
  if (held_ || pending_.empty()) return false;
  auto request = std::move(pending_.front());
  pending_.pop_front();
  request(broker, now);
  return true;
}

}  // namespace relay::broker::testing
