/// What the broker keeps of one agent: who it is, what its session reports, its mailbox, and what single parts keep beside it.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/deduplication.h"
#include "broker/effects.h"
#include "broker/hosts.h"
#include "broker/mailbox.h"
#include "broker/owned.h"
#include "broker/prompt_table.h"
#include "broker/token_bucket.h"
#include "protocol/names.h"
#include "protocol/requests.h"
#include "protocol/send.h"

namespace relay::broker {

/// Of `Sessions`.
struct SessionLease {
  std::string resume_token;             // in clear, while it is connected
  std::deque<SteadyTime> takeovers;     // recent ones, to tell a fight from a restart
  bool session_saved = false;           // the open session is in the store
  std::optional<SteadyTime> grace_due;  // when the timer is due that ends its lost session
};

/// Of `SendReplies`: what tells a repeated message from a new one.
struct SentIds {
  RecentIds recent;
  RecentIds recent_keys;  // of idempotency
  RecentIds executed;     // requests that were executed though their ACK could not be stored yet
};

/// Of `Deliveries`.
struct DeliveryWindow {
  std::vector<protocol::StreamPosition> resume_positions;
  std::optional<SteadyTime> resend_at;  // when the timer is due
};

/// A delivery that ended well, and may still be shown to have been seen.
struct SettledDelivery {
  Key delivery;
  records::Proof proof{};
  Key message;
  AgentName from;
};

/// A cancellation that the session was asked for and has not answered.
struct CancelRequest {
  std::string reason;
  OutboundDelivery delivery;
};

/// Of `Settlement`.
struct SettlementState {
  std::map<Key, CancelRequest> cancels;
  std::map<Key, WallMs> failing_since;  // of those that are tried again, as far as this daemon knows
  std::deque<SettledDelivery> settled;  // newest last, bounded
};

/// Of `LateReceipts`.
struct LookupState {
  std::set<Key> unchecked;                              // unsettled ones that may have ended while it was away
  std::multimap<Key, protocol::Receipt> late_receipts;  // about deliveries that are not in flight; bounded
  bool looking_up = false;                              // a query for some of these is open
};

/// Of `Prompts`.
struct AgentPrompts {
  PromptTable table;
  std::optional<SteadyTime> due;  // when the timer is due
  bool approved_by_rule = false;  // in this session, at least once
};

struct AgentState {
  records::Agent record;
  bool saved = false;     // the record is in the store
  bool removing = false;  // REMOVE_AGENT is being committed

  std::optional<records::Session> session;
  std::vector<ConnectionId> connections;             // several only for users
  protocol::SessionStateChange activity;             // as its session reports; empty when it never did
  std::map<protocol::DeliveryMode, Key> boundaries;  // the newest key at the boundary that its session reported
  bool has_user_authority = false;                   // its session; without one: the last sender under its name
  std::optional<Release> releasing;                  // its end was requested
  SteadyTime connected_at{};
  SteadyTime lost_at{};
  std::int32_t lost_pid = 0;  // of the process that had its last connection; 0: not known since the daemon started
  WallMs restored_at = 0;     // its session was read from the store then, and was connected when the daemon before died

  Mailbox mailbox;
  OutboxMarks outboxes;
  TokenBucket bucket;
  std::string thread;  // of the message that was delivered last
  std::uint64_t sent = 0;
  std::uint64_t received = 0;

  Owned<class Agents, std::size_t> description_bytes;  // of the record, as they are counted
  Owned<class Sessions, SessionLease> lease;
  Owned<class SendReplies, SentIds> sent_ids;
  Owned<class Deliveries, DeliveryWindow> window;
  Owned<class Settlement, SettlementState> settlement;
  Owned<class LateReceipts, LookupState> lookup;
  Owned<class Prompts, AgentPrompts> prompts;

  [[nodiscard]] bool connected() const { return !connections.empty(); }
  /// While it is not connected. When a daemon that died lost it is not known; this daemon never had it.
  [[nodiscard]] WallMs offline_since() const { return std::max({record.last_seen, restored_at, WallMs{1}}); }
  [[nodiscard]] bool observed() const { return record.program == protocol::kObserverProgram; }
  /// Only observed, and its own program has no inbox.
  [[nodiscard]] bool cannot_be_addressed() const {
    return observed() && !(connected() && activity.modes && !activity.modes->empty());
  }
  [[nodiscard]] const AgentName& name() const { return record.name; }
};

}  // namespace relay::broker
