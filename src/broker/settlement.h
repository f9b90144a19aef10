/// What becomes of a delivery once its session has it: it stays, comes again later, or ends.
///
/// Invariants: a delivery is settled once; every change is a history entry.
/// Threading: the broker's.
#pragma once

#include <memory>
#include <string>

#include "broker/agents.h"
#include "broker/delivery_history.h"
#include "broker/due_timer.h"
#include "broker/streams.h"
#include "broker/unseen_changes.h"

namespace relay::broker {

class Settlement {
 public:
  Settlement(Context& context, CommitPipeline& commits, Agents& agents, Streams& streams, UnseenChanges& unseen,
             DeliveryHistory& history, DueTimer& due_timer)
      : context_{context},
        commits_{commits},
        agents_{agents},
        streams_{streams},
        unseen_{unseen},
        history_{history},
        due_timer_{due_timer} {}

  /// About a delivery in flight. True when the agent's window may have room now.
  bool apply(AgentState& agent, Key key, const protocol::Receipt& receipt);
  /// The session refused a delivery that was in flight.
  void apply_nack(AgentState& agent, const InFlight& item, const protocol::Nack& nack);
  /// A delivery that ended well, a moment ago, may turn out to have been seen; false: it is not one of those.
  bool upgrade_proof(AgentState& agent, Key key, const protocol::Receipt& receipt);

  /// Delivered.
  void complete(AgentState& agent, const InFlight& item, records::ChangeDelivery entry);
  /// Ended otherwise.
  void end_delivery(AgentState& agent, const OutboundDelivery& delivery, records::DeliveryState state,
                    records::ChangeDelivery entry);
  /// Nothing further happens to it by itself.
  void settle(AgentState& agent, Key key);

  void request_cancel(AgentState& agent, Key key, std::string reason, OutboundDelivery delivery);
  /// The session left without an answer to these requests. It is told when it returns, and may know better.
  void cancel_requested(AgentState& agent);

  /// A message that is committed, and a delivery that became Delivered: the store counts the same.
  void count_sent(const AgentName& sender);
  void count_received(AgentState& agent);
  /// Has a count changed since the last call?
  bool take_counts_changed() { return std::exchange(counts_changed_, false); }

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
  UnseenChanges& unseen_;
  DeliveryHistory& history_;
  DueTimer& due_timer_;
  bool counts_changed_ = false;
};

/// A receipt as the history entry that it makes.
records::ChangeDelivery history_entry_of(Key key, const protocol::Receipt& receipt);
/// The state that a receipt ends the delivery in, if it does.
std::optional<records::DeliveryState> end_of(const AgentState& agent, const protocol::Receipt& receipt);

}  // namespace relay::broker
