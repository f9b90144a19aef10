/// A store queue that records its requests and reports results when the test does so.
#pragma once

#include <utility>
#include <vector>

#include "store/queue/store_queue.h"

namespace relay::daemon::testing {

class ScriptedQueue final : public store::StoreQueue {
 public:
  struct RecordedQuery {
    store::QueryId id;
    store::Query query;
  };

  /// The recorded requests; outlives the queue.
  struct Script {
    store::StoreListener* listener = nullptr;
    std::vector<records::CommitTicket> commits;  // in order
    std::vector<records::BacklogRequest> loads;
    std::vector<RecordedQuery> queries;
    int prunes = 0;

    void commit_all() {
      if (!commits.empty()) listener->on_committed(commits.back(), 0);
      for (const auto& load : std::exchange(loads, {}))
        listener->on_backlog(records::BacklogPage{load.to, load.lane, load.from, load.after, {}, false}, load);
    }
  };

  ScriptedQueue(Script& script, store::StoreListener& listener) : script_{script} { script_.listener = &listener; }

  void persist(records::CommitTicket ticket, records::Changes, records::CommitMode) override {
    script_.commits.push_back(ticket);
  }
  void load_backlog(records::BacklogRequest request) override { script_.loads.push_back(std::move(request)); }
  void expire(records::ExpireRequest) override {}
  void query(store::QueryId id, store::Query query) override { script_.queries.push_back({id, std::move(query)}); }
  void prune(store::Retention, WallMs) override { ++script_.prunes; }

 private:
  Script& script_;
};

}  // namespace relay::daemon::testing
