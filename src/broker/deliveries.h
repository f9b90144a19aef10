/// DELIVER: each connected agent has a window of its mailbox in flight, resent until it is acknowledged.
///
/// Invariants: deliveries are sent only while the store is healthy, in the order of their lanes, and while the
///   connection has room. Deliveries beyond the window stay in the store.
/// Threading: the broker's.
#pragma once

#include <map>
#include <vector>

#include "broker/agents.h"
#include "broker/changes_during_read.h"
#include "broker/connections.h"
#include "broker/settlement.h"

namespace relay::broker {

class Deliveries {
 public:
  Deliveries(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents,
             ChangesDuringRead& changes_during_read, Settlement& settlement, DeliveryHistory& history)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        changes_during_read_{changes_during_read},
        settlement_{settlement},
        history_{history} {}

  /// Sends as many deliveries as window and lanes allow, and requests the next page from the store.
  void deliver_pending(AgentState& agent);
  /// The delivery is committed. If it cannot be sent now although its recipient is connected, a history entry has the
  /// reason.
  void deliver_committed(AgentState& to, OutboundDelivery delivery);
  /// The peer has read everything that was sent to it.
  void on_all_written(AgentState& agent);
  void resend_due(AgentState& agent, SteadyTime due);
  /// Sends CANCEL to the session that has the delivery.
  void send_cancel(AgentState& agent, Key key, std::string_view reason);
  /// The positions that RESUME reported as received; empty for a new session.
  void set_resume_positions(AgentState& agent, std::vector<protocol::StreamPosition> positions) {
    agent.window->resume_positions = std::move(positions);
  }

  void on_backlog(records::BacklogPage page);
  void on_backlog_failed(const records::BacklogRequest& request, std::string_view why);

 private:
  void deliver(AgentState& agent, InFlight& item);
  void transmit(AgentState& agent, const OutboundDelivery& delivery);
  void schedule_resend(InFlight& item) const;
  void arm_resend(AgentState& agent, SteadyTime at);
  [[nodiscard]] SettledWhen settled_when(const AgentState& agent, const OutboundDelivery& delivery);
  [[nodiscard]] bool has_room(const AgentState& agent);
  [[nodiscard]] bool is_being_read(const AgentState& agent);
  void end_page_read(const AgentName& name);

  Context& context_;
  CommitPipeline& commits_;
  Connections& connections_;
  Agents& agents_;
  ChangesDuringRead& changes_during_read_;
  Settlement& settlement_;
  DeliveryHistory& history_;
  std::multimap<AgentName, ChangesDuringRead::ReadId> page_reads_;  // by the agent whose mailbox is being read
};

}  // namespace relay::broker
