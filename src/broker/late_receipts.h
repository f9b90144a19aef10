/// Receipts about deliveries that are not in flight. These may have ended before the receipt arrived or while their
/// session was disconnected, so their present state is read from the store first.
///
/// Bounds: kMaxLateReceipts of one agent are stored for a lookup, kLookupRows are looked up at once.
/// Threading: the broker's.
#pragma once

#include <set>
#include <vector>

#include "broker/agent_removal.h"
#include "broker/deliveries.h"
#include "broker/store_queries.h"

namespace relay::broker {

class LateReceipts final : public NameHolder {
 public:
  LateReceipts(Context& context, CommitPipeline& commits, Agents& agents, StoreQueries& queries,
               ChangesDuringRead& changes_during_read, Settlement& settlement, Deliveries& deliveries,
               DeliveryHistory& history)
      : context_{context},
        commits_{commits},
        agents_{agents},
        queries_{queries},
        changes_during_read_{changes_during_read},
        settlement_{settlement},
        deliveries_{deliveries},
        history_{history} {}

  void on_receipt(AgentState& agent, Key key, const protocol::Receipt& receipt);
  /// Deliveries that a session has from an earlier connection: they may have ended meanwhile.
  void check_unsettled(AgentState& agent, std::set<Key> deliveries);
  void look_up(AgentState& agent);
  void on_disconnected(AgentState& agent) { agent.lookup->unchecked.clear(); }

  [[nodiscard]] bool is_using(const AgentState& agent) const override { return agent.lookup->looking_up; }

 private:
  void on_lookup(const AgentName& name, const std::vector<Key>& deliveries,
                 Result<std::vector<records::DeliveryRow>> rows);
  bool apply(AgentState& agent, records::DeliveryRow& row, const protocol::Receipt& receipt);
  void reconcile(AgentState& agent, const records::DeliveryRow& row);

  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  StoreQueries& queries_;
  ChangesDuringRead& changes_during_read_;
  Settlement& settlement_;
  Deliveries& deliveries_;
  DeliveryHistory& history_;
};

}  // namespace relay::broker
