/// A store queue that answers when the test says so, and remembers what was asked.
#pragma once

#include <utility>
#include <vector>

#include "store/queue/store_queue.h"

namespace relay::daemon::testing {

class ScriptedQueue final : public store::StoreQueue {
 public:
  /// What outlives the queue, for the test to look at.
  struct Script {
    store::StoreListener* listener = nullptr;
    std::vector<records::CommitTicket> asked;  // commits, in order
    std::vector<records::BacklogRequest> loads;
    std::vector<store::QueryId> queries;
    int rounds_of_retention = 0;

    void commit_all() {
      if (!asked.empty()) listener->on_committed(asked.back(), 0);
      for (const auto& load : std::exchange(loads, {}))
        listener->on_backlog(records::BacklogPage{load.to, load.lane, load.from, load.after, {}, false}, load);
    }
  };

  ScriptedQueue(Script& script, store::StoreListener& listener) : script_{script} { script_.listener = &listener; }

  void persist(records::CommitTicket ticket, records::Changes, records::CommitMode) override {
    script_.asked.push_back(ticket);
  }
  void load_backlog(records::BacklogRequest request) override { script_.loads.push_back(std::move(request)); }
  void expire(records::ExpireRequest) override {}
  void query(store::QueryId id, store::Query) override { script_.queries.push_back(id); }
  void prune(store::Retention, WallMs) override { ++script_.rounds_of_retention; }

 private:
  Script& script_;
};

}  // namespace relay::daemon::testing
