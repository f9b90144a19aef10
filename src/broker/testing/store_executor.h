/// Executes the broker's store requests on a MemoryStore, one at a time and in order.
///
/// Why a queue: while it is held, a test sees the state between a request and its result.
#pragma once

#include <deque>
#include <functional>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "broker/broker.h"
#include "store/memory/store.h"

namespace relay::broker::testing {

class StoreExecutor {
 public:
  void add(Persist request);
  void add(LoadBacklog request);
  void add(ExpireDue request);
  void add(QueryStore request);

  /// Executes the oldest request and passes its result to the broker. False if none is pending or the queue is held.
  bool run_next(Broker& broker, Timestamp now);

  void hold() { held_ = true; }
  void release() { held_ = false; }
  /// Later commits fail; queries still succeed.
  void fail_commits() { failing_ = true; }
  void accept_commits() { failing_ = false; }

  /// Drops pending requests, as when the daemon dies.
  void clear() { pending_.clear(); }
  [[nodiscard]] std::size_t pending() const { return pending_.size(); }
  /// Of the commits requested since the last call.
  std::vector<records::CommitMode> take_commit_modes() { return std::exchange(commit_modes_, {}); }

  store::MemoryStore& store() { return store_; }

 private:
  store::MemoryStore store_;
  std::deque<std::move_only_function<void(Broker&, Timestamp)>> pending_;
  std::vector<records::CommitMode> commit_modes_;
  bool held_ = false;
  bool failing_ = false;
};

}  // namespace relay::broker::testing
