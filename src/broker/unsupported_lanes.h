/// Deliveries in modes that a session does not support: each gets one history entry, which is reported to its sender.
/// Threading: the broker's.
#pragma once

#include <set>
#include <utility>

#include "broker/agents.h"
#include "broker/changes_during_read.h"
#include "broker/delivery_history.h"
#include "broker/store_queries.h"

namespace relay::broker {

class UnsupportedLanes {
 public:
  UnsupportedLanes(CommitPipeline& commits, Agents& agents, StoreQueries& queries,
                   ChangesDuringRead& changes_during_read, DeliveryHistory& history)
      : commits_{commits},
        agents_{agents},
        queries_{queries},
        changes_during_read_{changes_during_read},
        history_{history} {}

  /// Searches the store for such deliveries.
  void scan(AgentState& agent);
  void defer(AgentState& agent, const records::Delivery& delivery);

 private:
  struct Scan {
    AgentName agent;
    protocol::DeliveryMode mode{};
    Key cursor = {};
  };
  void request_page(Scan scan);
  void on_page(Scan scan, const Result<records::HeldPage>& page);

  CommitPipeline& commits_;
  Agents& agents_;
  StoreQueries& queries_;
  ChangesDuringRead& changes_during_read_;
  DeliveryHistory& history_;
  std::set<std::pair<AgentName, protocol::DeliveryMode>> open_;  // scans in progress
};

}  // namespace relay::broker
