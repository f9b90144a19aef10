/// Removal of names: on REMOVE_AGENT, when they are long unused, and sooner when there are too many.
///
/// Why hooks: other parts refer to names (voters, prompts, agents being started), and this part does not depend on
///   them.
/// Threading: the broker's.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "broker/audiences.h"
#include "broker/commit_pipeline.h"
#include "broker/connections.h"
#include "broker/due_timer.h"
#include "broker/event_recorder.h"
#include "broker/loop_breaker.h"
#include "broker/sender_receipts.h"
#include "protocol/envelope.h"

namespace relay::broker {

/// A part that refers to agents by name.
class NameHolder {
 public:
  virtual ~NameHolder() = default;
  /// Names that must not be forgotten.
  virtual void add_needed_names(std::set<AgentName>& /*needed*/) const {}
  /// True if the part has an operation or ids of this agent that must not be lost.
  [[nodiscard]] virtual bool is_using(const AgentState& /*agent*/) const { return false; }
  /// Why the agent cannot be removed now; empty: it can.
  [[nodiscard]] virtual std::string removal_obstacle(const std::string& /*name*/) const { return {}; }
  /// REMOVE_AGENT was accepted.
  virtual void on_removing(AgentState& /*agent*/) {}
};

class AgentRemoval {
 public:
  AgentRemoval(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents,
               Audiences& audiences, EventRecorder& event_recorder, SenderReceipts& receipts, LoopBreaker& loops,
               DueTimer& due_timer)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        audiences_{audiences},
        event_recorder_{event_recorder},
        receipts_{receipts},
        loops_{loops},
        due_timer_{due_timer} {}

  /// The holder outlives this object.
  void add_holder(NameHolder& holder) { holders_.push_back(&holder); }

  void on_remove_agent(ConnectionState& connection, const protocol::Envelope& envelope);
  /// Forgets names that were last used before then, in several commits when they are many.
  void forget_unused(WallMs older_than);
  /// True if there is room for another name beside `others` that are reserved. The names that are unused longest are
  /// forgotten to make room.
  [[nodiscard]] bool has_room_for_name(std::size_t others = 0);

 private:
  void answer(ConnectionState& connection, std::string_view request, bool success, bool removed,
              std::string_view message);
  void set_removing(AgentState& agent, bool removing) { agent.removing.write() = removing; }
  void remove(const std::string& name);
  void forget_unused(WallMs older_than, std::vector<std::string> names);
  [[nodiscard]] std::set<AgentName> needed_names() const;
  [[nodiscard]] std::vector<std::string> unused_names(WallMs older_than, std::size_t max) const;
  [[nodiscard]] bool is_unused(const AgentState& agent, WallMs older_than) const;
  void forget_names(const std::vector<std::string>& names);

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  Agents& agents_;
  Audiences& audiences_;
  EventRecorder& event_recorder_;
  SenderReceipts& receipts_;
  LoopBreaker& loops_;
  DueTimer& due_timer_;
  std::vector<NameHolder*> holders_;
  SteadyTime next_room_search_{};  // after a search that found no name to forget
};

}  // namespace relay::broker
