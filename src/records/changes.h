/// The changes a commit may make to the store: a closed list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "records/events.h"
#include "records/records.h"

namespace relay::records {

/// Commits are numbered in the order in which they were requested.
using CommitTicket = Named<std::uint64_t, struct TicketTag>;

/// Also an event.
struct AddMessage {
  Message message;
};
/// Also writes the first history entry, which is an event.
struct AddDelivery {
  Delivery delivery;
  std::string reason = {};
  WallMs at = 0;  // 0: the time of its message
};
/// Also writes a history entry, which is an event. Unknown keys and illegal transitions (below) are ignored.
struct ChangeDelivery {
  Key key;
  DeliveryState state{};
  Proof proof{};
  WallMs at = 0;
  std::string reason = {};
  std::string via = {};
  std::string evidence = {};
  Hold hold = Hold::None;
  WallMs available_at = 0;
  std::optional<std::uint32_t> attempts = {};  // empty: unchanged
  std::string metadata = {};                   // the session's own; forwarded, not stored
  SessionId session = {};                      // the session that reported it; may be empty
};
/// Whether a change may give the delivery this state and proof. A delivered one only gains proof. One that ended without
/// its session (expired, cancelled, in doubt) still accepts the session's late receipt: delivered, in doubt or, unless
/// it was cancelled, failed or expired. Every other final one, and one that expired or is in doubt, may be cancelled (redelivered).
constexpr bool is_legal_transition(DeliveryState state, Proof proof, DeliveryState to, Proof with) {
  using enum DeliveryState;
  if (!is_final(state)) return true;
  if (state == Delivered) return to == Delivered && with > proof;
  if (state == Cancelled) return to == Delivered || to == InDoubt;
  if (state == Expired || state == InDoubt) return is_final(to) && to != state;
  return to == Cancelled;
}

/// Moves a delivery that is not final to the end of a queue: Queued, Stored, no hold, with these values. Writes a
/// history entry. Unknown keys and final deliveries are ignored.
struct RequeueDelivery {
  Key key;
  protocol::Lane lane;
  Key rank;
  Seq seq;
  WallMs at = 0;
  std::string reason = {};
};
/// `last` only grows.
struct SetStream {
  Stream stream;
};
/// Removes the row of an idle stream, unless its `last` has grown since, and keeps that number as a mark of its pair
/// and lane: later streams of the pair continue after it, so no number is assigned twice.
struct ForgetStream {
  Stream stream;
};
/// Inserts or replaces by name.
struct PutAgent {
  Agent agent;
};
/// Its pending deliveries become Cancelled.
struct RemoveAgent {
  AgentName name;
  bool with_messages = false;
  WallMs at = 0;
};
/// Inserts or replaces by id.
struct PutSession {
  Session session;
};
struct JoinChannel {
  Membership membership;
};
struct LeaveChannel {
  Membership membership;
};
struct SetOutboxMark {
  OutboxMark mark;
};
/// Inserts or replaces by id.
struct PutProposal {
  Proposal proposal;
};

/// An event without another change.
struct AddEvent {
  EventRow event;
};
/// Inserts or replaces by session and request.
struct PutUsage {
  UsageRow usage;
};
/// Adds to the totals of a session.
struct AddSessionStats {
  SessionId session;
  SessionStats more;
  WallMs at = 0;
};

/// Adds or removes one topic of a session. An unknown session is ignored.
struct AddSubscription {
  SessionId session;
  std::string topic;
};
struct RemoveSubscription {
  SessionId session;
  std::string topic;
};

/// The journal identifies changes by their index in this list: new ones are appended.
using Change = std::variant<AddMessage, AddDelivery, ChangeDelivery, RequeueDelivery, SetStream, PutAgent, RemoveAgent,
                            PutSession, JoinChannel, LeaveChannel, SetOutboxMark, PutProposal, AddEvent, PutUsage,
                            AddSessionStats, ForgetStream, AddSubscription, RemoveSubscription>;

using Changes = std::vector<Change>;

/// Whether a caller blocks on the commit, or the changes join the next commit.
enum class CommitMode : std::uint8_t { Immediate, Piggyback };

}  // namespace relay::records
