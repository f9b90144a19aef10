/// Applies receipts of the session that has a delivery: the delivery stays with it, is deferred, or ends.
///
/// Invariants: a delivery is settled once; every change is a history entry.
/// Threading: the broker's.
#pragma once

#include <memory>
#include <string>

#include "broker/agents.h"
#include "broker/changes_during_read.h"
#include "broker/delivery_history.h"
#include "broker/due_timer.h"
#include "broker/streams.h"

namespace relay::broker {

class Settlement {
 public:
  Settlement(Context& context, CommitPipeline& commits, Agents& agents, Streams& streams,
             ChangesDuringRead& changes_during_read, DeliveryHistory& history, DueTimer& due_timer)
      : context_{context},
        commits_{commits},
        agents_{agents},
        streams_{streams},
        changes_during_read_{changes_during_read},
        history_{history},
        due_timer_{due_timer} {}

  /// A receipt about a delivery in flight. True when the agent's window may have room now.
  bool apply(AgentState& agent, Key key, const protocol::Receipt& receipt);
  /// The session refused a delivery that was in flight.
  void apply_nack(AgentState& agent, const InFlight& item, const protocol::Nack& nack);
  /// A recently delivered delivery may get a better proof; false: it is not one of those.
  bool upgrade_proof(AgentState& agent, Key key, const protocol::Receipt& receipt);

  /// Delivered.
  void complete(AgentState& agent, const InFlight& item, records::ChangeDelivery entry);
  /// Ended in `state`, by a receipt or a command.
  void end_delivery(AgentState& agent, const OutboundDelivery& delivery, records::DeliveryState state,
                    records::ChangeDelivery entry);
  /// Removes the delivery from the counts and tables of the agent; it is final.
  void settle(AgentState& agent, Key key);

  void request_cancel(AgentState& agent, Key key, std::string reason, OutboundDelivery delivery);
  /// The session disconnected without an answer to these requests: their deliveries are cancelled. The session gets
  /// CANCEL when it reconnects, and may still report another outcome.
  void cancel_requested(AgentState& agent);

 private:
  void keep(AgentState& agent, InFlight& item, records::ChangeDelivery entry);
  template <class Again>
  void take_returned(AgentState& agent, const InFlight& item, Again again);
  void retry_later(AgentState& agent, const InFlight& item, records::ChangeDelivery entry, std::int64_t wait_ms);
  void defer(AgentState& agent, const InFlight& item, records::ChangeDelivery entry, WallMs until);

  Context& context_;
  CommitPipeline& commits_;
  Agents& agents_;
  Streams& streams_;
  ChangesDuringRead& changes_during_read_;
  DeliveryHistory& history_;
  DueTimer& due_timer_;
};

/// The history entry of a receipt.
records::ChangeDelivery history_entry_of(Key key, const protocol::Receipt& receipt);
/// The final state that the receipt gives the delivery, if any.
std::optional<records::DeliveryState> end_of(const AgentState& agent, const protocol::Receipt& receipt);

}  // namespace relay::broker
