/// What a commit may do to the store: a closed list.
#pragma once

#include <string>
#include <variant>
#include <vector>

#include "records/records.h"

namespace relay::records {

/// Commits are numbered in the order they were asked for.
using Ticket = Named<std::uint64_t, struct TicketTag>;

struct AddMessage {
  Message message;
};
struct AddDelivery {
  Delivery delivery;
};  // also writes the first line of its history
struct ChangeDelivery {  // also writes one line of its history; unknown keys are ignored
  Key key;
  DeliveryState state{};
  Proof proof{};
  WallMs at = 0;
  std::string reason = {};
};
struct SetStream {
  Stream stream;
};  // last only grows
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

using Change = std::variant<AddMessage, AddDelivery, ChangeDelivery, SetStream, PutAgent, RemoveAgent, PutSession,
                            JoinChannel, LeaveChannel, SetOutboxMark, PutProposal>;

using Changes = std::vector<Change>;

}  // namespace relay::records
