/// The queries of the store and their results.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "records/events.h"
#include "records/records.h"

namespace relay::records {

/// Everything the broker needs to continue after a restart. Bounded: no message bodies.
struct WorkspaceState {
  std::string store_id;  // identifies this store; numbers assigned by another store are meaningless
  Key newest;            // highest key ever used
  EventSeq newest_event = 0;
  std::vector<Agent> agents;
  struct Counts {
    AgentName agent;
    std::uint64_t sent = 0;      // messages
    std::uint64_t received = 0;  // deliveries that reached Delivered
  };
  std::vector<Counts> counts;     // of agents with a count other than 0; by name
  std::vector<Session> sessions;  // sessions that have not ended
  std::vector<Stream> streams;
  std::vector<Stream> stream_marks;  // of pairs with forgotten streams: `last` of those; without a topic
  std::vector<Membership> memberships;
  std::vector<OutboxMark> marks;
  std::vector<Proposal> proposals;  // open proposals
  struct RecentId {
    AgentName from;
    std::string id;
    Key message;
  };
  std::vector<RecentId> recent_ids;  // of the newest kRecentIdRows messages, oldest first
  struct RecentKey {
    AgentName from;
    std::string idempotency_key;
  };
  std::vector<RecentKey> recent_keys;  // of the same messages, those that had one
  struct Backlog {
    AgentName to;
    protocol::Lane lane;
    AgentName from;
    std::uint64_t pending = 0;  // deliveries that are not final, held ones included
    std::uint64_t held = 0;     // of those, the held ones
  };
  std::vector<Backlog> backlogs;  // flows with deliveries that are not final
  WallMs next_expiry = 0;         // earliest expires_at of those; 0 when none
  WallMs next_due = 0;            // earliest available_at of those held for a time; 0 when none
};
inline constexpr std::size_t kRecentIdRows = 65'536;

/// The next deliveries of one flow that are neither final nor held, after a rank, in the order of ranks.
struct BacklogRequest {
  AgentName to;
  protocol::Lane lane;
  AgentName from;
  Key after;
  std::size_t max_rows = 0;
  std::size_t max_bytes = 0;  // one row is returned even if it is larger
};
struct BacklogItem {
  Delivery delivery;
  Message message;
};
struct BacklogPage {
  AgentName to;
  protocol::Lane lane;
  AgentName from;
  Key after;  // as requested
  std::vector<BacklogItem> items;
  bool more = false;
};

/// Marks expired deliveries (state_on_expiry) and returns them.
struct ExpireRequest {
  WallMs now = 0;
  std::size_t max_rows = 1'000;
};
struct Expired {
  Key delivery;
  Key message;
  AgentName from;
  AgentName to;
  std::string message_id;
  Hold hold{};                                   // before it expired
  DeliveryState state = DeliveryState::Expired;  // or InDoubt: it may have arrived
  std::string reason = {};                       // the limit that ended it
};
struct ExpireResult {
  std::vector<Expired> expired;
  WallMs next_expiry = 0;  // earliest of those left; 0 when none
  EventSeq newest_event = 0;
};

/// Selects held deliveries that may be released: by time, or because a user releases those of one agent. Changes
/// nothing.
struct HeldRequest {
  WallMs due_by = 0;                           // those of Hold::Time that are due; ignored with `to`
  AgentName to;                                // all held ones of this agent, and those in its manual lanes
  std::optional<protocol::DeliveryMode> mode;  // with `to`: only of this mode
  bool ready = false;                          // with `to` and `mode`: instead, those that are not held
  Key after;                                   // with `to`: only newer keys
  std::size_t max_rows = 1'000;
};
struct HeldDelivery {
  Delivery delivery;
  Topic topic;
  std::string last_reason = {};  // with `ready`: the reason of the newest history entry
};
struct HeldPage {
  std::vector<HeldDelivery> items;  // by due time, or by key
  bool more = false;
  WallMs next_due = 0;  // without `to`: earliest available_at of those left; 0 when none
};

/// Selects deliveries that ended without being delivered, newest first; with `deliveries`, these in any state.
struct DeliveryQuery {
  std::string to, from;               // empty: any
  std::vector<DeliveryState> states;  // empty: Dead, Failed, Expired, InDoubt
  Key before;                         // only older keys; 0: all
  Key after;                          // only newer keys
  bool oldest_first = false;
  std::size_t limit = 100;
  std::vector<Key> deliveries;  // only these, in any state and in this order; empty: dead ones
};
struct DeliveryRow {
  Delivery delivery;
  Message message;
  HistoryEntry last;  // the newest history entry
};

struct MessageQuery {
  std::size_t limit = 100;
  WallMs since = 0;
  std::string from, to, thread, channel, topic;
  std::string delivered_to;  // messages with a delivery to this agent (an inbox)
  bool unread_only = false;  // with delivered_to: only those not yet delivered
  bool ascending = false;
  std::string id;      // short id or prefix
  std::string search;  // full-text query, plain words
  Key after;           // only newer keys
  Key before;          // only older keys; 0: all
};
struct MessageRow {
  Message message;
  DeliveryState state{};  // of its least advanced delivery
  std::size_t deliveries = 0;
  std::size_t reply_count = 0;  // messages whose thread is this message's id
};

/// The delivery history of one message.
struct TraceEntry {
  Delivery delivery;
  std::vector<HistoryEntry> history;
};
struct Trace {
  Message message;
  std::vector<TraceEntry> deliveries;
};

/// The ids that match an ambiguous prefix, for the user to choose from.
struct Ambiguous {
  std::vector<std::string> ids;
};

/// One session, open or ended.
struct SessionRow {
  Session session;
  SessionStats stats;
};

struct StoreStats {
  std::string driver;  // "memory" or "sqlite"
  bool persistent = false;
  std::uint64_t messages = 0;
  std::uint64_t pending = 0;
  std::uint64_t dead = 0;     // ended undelivered and not redelivered
  WallMs oldest_pending = 0;  // when the oldest pending delivery's message was accepted; 0: none
  std::uint64_t bytes = 0;
};

}  // namespace relay::records
