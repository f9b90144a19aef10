/// DELIVER: each connected agent has a window of its mailbox in flight, repeated until it is acknowledged.
///
/// Invariants: deliveries are sent only while the store is healthy, in the order of their lanes, and while the connection has
///   room. What does not fit the window stays in the store.
/// Threading: the broker's.
#pragma once

#include <map>
#include <vector>

#include "broker/agents.h"
#include "broker/connections.h"
#include "broker/settlement.h"
#include "broker/unseen_changes.h"

namespace relay::broker {

class Deliveries {
 public:
  Deliveries(Context& context, CommitPipeline& commits, Connections& connections, Agents& agents, UnseenChanges& unseen,
             Settlement& settlement, DeliveryHistory& history)
      : context_{context},
        commits_{commits},
        connections_{connections},
        agents_{agents},
        unseen_{unseen},
        settlement_{settlement},
        history_{history} {}

  /// Sends what window and lanes allow, and requests the next page from the store.
  void deliver_pending(AgentState& agent);
  /// The delivery is committed. A history entry says why it cannot be sent now though its recipient is connected.
  void deliver_committed(AgentState& to, OutboundDelivery delivery);
  /// The peer took everything that was sent to it.
  void on_all_written(AgentState& agent);
  void resend_due(AgentState& agent, SteadyTime due);
  /// Tells the session that has the delivery that it is not wanted any more.
  void send_cancel(AgentState& agent, Key key, std::string_view reason);
  /// What RESUME said it had received; empty for a session that begins.
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
  UnseenChanges& unseen_;
  Settlement& settlement_;
  DeliveryHistory& history_;
  std::multimap<AgentName, UnseenChanges::ReadId> page_reads_;  // by the agent whose mailbox is being read
};

}  // namespace relay::broker
