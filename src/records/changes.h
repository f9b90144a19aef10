/// What a commit may do to the store: a closed list.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "records/events.h"
#include "records/records.h"

namespace relay::records {

/// Commits are numbered in the order they were asked for.
using CommitTicket = Named<std::uint64_t, struct TicketTag>;

struct AddMessage {
  Message message;
};  // an event, too
struct AddDelivery {
  Delivery delivery;
  std::string reason = {};
  WallMs at = 0;  // 0: it came with its message
};  // also writes the first line of its history, which is an event
/// Also writes one line of its history, which is an event; unknown keys are ignored, and what may not change (below).
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
  std::optional<std::uint32_t> attempts = {};  // empty: as before
  std::string metadata = {};                   // of the session's own; told on, not kept
  SessionId session = {};                      // whose word it is; may be empty
};
/// What was delivered only gains proof. What ended without its session (it ran out of time, somebody cancelled it) may
/// still hear that one's last word, which was on its way: the agent got it, or perhaps. What ended otherwise is at most
/// cancelled (it was begun anew).
constexpr bool is_legal_transition(DeliveryState state, Proof proof, DeliveryState to, Proof with) {
  using enum DeliveryState;
  if (!is_final(state)) return true;
  if (state == Delivered) return to == Delivered && with > proof;
  if (state == Cancelled) return to == Delivered || to == InDoubt;
  if (state == Expired || state == InDoubt) return is_final(to) && to != state && to != Expired;
  return to == Cancelled;
}

/// A delivery that is not final goes to the end of a queue: Queued, Stored, no hold, with these from now on. Writes a
/// line of its history. Unknown keys and final deliveries are ignored.
struct RequeueDelivery {
  Key key;
  protocol::Lane lane;
  Key rank;
  Seq seq;
  WallMs at = 0;
  std::string reason = {};
};
struct SetStream {
  Stream stream;
};  // last only grows
/// Removes the row of an idle stream, unless its `last` is higher by now, and keeps that number as a mark of its pair
/// and lane: streams of the pair begin behind it, so no number is given out twice.
struct ForgetStream {
  Stream stream;
};
struct PutAgent {
  Agent agent;
};  // insert or replace by name
struct RemoveAgent {
  AgentName name;
  bool with_messages = false;
  WallMs at = 0;
};  // its pending deliveries become Cancelled
struct PutSession {
  Session session;
};  // insert or replace by id
struct JoinChannel {
  Membership membership;
};
struct LeaveChannel {
  Membership membership;
};
struct SetOutboxMark {
  OutboxMark mark;
};
struct PutProposal {
  Proposal proposal;
};  // insert or replace by id

/// Something happened that is no change of its own.
struct AddEvent {
  EventRow event;
};
struct PutUsage {
  UsageRow usage;
};  // insert or replace by session and request
/// Adds to what was done in a session.
struct AddSessionStats {
  SessionId session;
  SessionStats more;
  WallMs at = 0;
};

/// One topic of a session more or less. An unknown session is ignored.
struct AddSubscription {
  SessionId session;
  std::string topic;
};
struct RemoveSubscription {
  SessionId session;
  std::string topic;
};

/// The journal knows them by their place in this list: new ones come last.
using Change = std::variant<AddMessage, AddDelivery, ChangeDelivery, RequeueDelivery, SetStream, PutAgent, RemoveAgent,
                            PutSession, JoinChannel, LeaveChannel, SetOutboxMark, PutProposal, AddEvent, PutUsage,
                            AddSessionStats, ForgetStream, AddSubscription, RemoveSubscription>;

using Changes = std::vector<Change>;

/// Does anybody wait for its commit?
enum class CommitMode : std::uint8_t { Immediate, Piggyback };

}  // namespace relay::records
