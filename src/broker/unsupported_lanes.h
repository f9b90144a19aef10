/// Deliveries in modes that a session does not support: each gets one history entry, which is reported to its sender.
/// Threading: the broker's.
#pragma once

#include <set>
#include <utility>

#include "broker/agents.h"
#include "broker/delivery_history.h"
#include "broker/store_queries.h"
#include "broker/unseen_changes.h"

namespace relay::broker {

class UnsupportedLanes {
 public:
  UnsupportedLanes(CommitPipeline& commits, Agents& agents, StoreQueries& queries, UnseenChanges& unseen,
                   DeliveryHistory& history)
      : commits_{commits}, agents_{agents}, queries_{queries}, unseen_{unseen}, history_{history} {}

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
  UnseenChanges& unseen_;
  DeliveryHistory& history_;
  std::set<std::pair<AgentName, protocol::DeliveryMode>> open_;  // scans in progress
};

}  // namespace relay::broker
