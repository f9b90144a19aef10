/// The state of one agent: who it is, its session, its mailbox, and the state of single parts.
///
/// Each member belongs to one part, which alone changes it (owned.h). `mailbox` and `outboxes` are parts themselves:
/// others call their methods.
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

/// Of `Agents`.
struct AgentCounts {
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::size_t description_bytes = 0;  // of the record
};

/// Of `Sessions`, for all parts.
struct ConnectionTimes {
  SteadyTime connected_at{};
  SteadyTime lost_at{};
  std::int32_t lost_pid = 0;  // of the process that had its last connection; 0: unknown since the daemon started
  WallMs restored_at = 0;     // when its session was loaded that was connected when the previous daemon died
};

/// Of `Sessions`.
struct SessionLease {
  std::string resume_token;             // in clear, while it is connected
  std::deque<SteadyTime> takeovers;     // recent ones, to distinguish two programs competing for a name from a restart
  bool session_saved = false;           // the open session is in the store
  std::optional<SteadyTime> grace_due;  // when the timer is due that ends its lost session
};

/// Of `Audiences`.
struct SessionAudience {
  std::vector<std::string> topics;
  std::vector<records::ShadowBinding> shadows;
};

/// Of `SendReplies`: distinguishes a repeated message from a new one.
struct SentIds {
  RecentIds recent;
  RecentIds recent_keys;  // idempotency keys
  RecentIds executed;     // requests that were executed although their ACK could not be stored yet
};

/// Of `Deliveries`.
struct DeliveryWindow {
  std::vector<protocol::StreamPosition> resume_positions;
  std::optional<SteadyTime> resend_at;  // when the timer is due
};

/// A delivered delivery whose proof may still improve to `seen`.
struct SettledDelivery {
  Key delivery;
  records::Proof proof{};
  Key message;
  AgentName from;
};

/// A CANCEL that the session has not answered.
struct CancelRequest {
  std::string reason;
  OutboundDelivery delivery;
};

/// Of `Settlement`.
struct SettlementState {
  std::map<Key, CancelRequest> cancels;
  std::map<Key, WallMs> failing_since;  // of deliveries that are retried; first failure seen by this daemon
  std::deque<SettledDelivery> settled;  // newest last, bounded
};

/// Of `LateReceipts`.
struct LookupState {
  std::set<Key> unchecked;                              // unsettled deliveries that may have ended while it was offline
  std::multimap<Key, protocol::Receipt> late_receipts;  // about deliveries that are not in flight; bounded
  bool looking_up = false;                              // a query for some of these is open
};

/// Of `Prompts`.
struct AgentPrompts {
  PromptTable table;
  std::optional<SteadyTime> due;  // when the timer is due
  bool approved_by_rule = false;  // in this session, at least once
};

/// Of `AgentEvents`, for all parts: what the session reports.
struct AgentActivity {
  protocol::SessionStateChange state;                // the last report; empty before the first
  std::map<protocol::DeliveryMode, Key> boundaries;  // the newest key at the boundary that the session reported
};

struct AgentState {
  Published<class Agents, records::Agent> record;
  Published<class Agents, bool> saved;           // the record is in the store
  Published<class AgentRemoval, bool> removing;  // REMOVE_AGENT is being committed

  Published<class Sessions, std::optional<records::Session>> session;  // without its topics and shadows
  Published<class Sessions, std::vector<ConnectionId>> connections;    // several only for users
  Published<class Sessions, ConnectionTimes> times;
  Published<class AgentEvents, AgentActivity> activity;
  Published<class Authority, bool> has_user_authority;  // its session; without one: the last sender under its name
  Published<class Settlement, std::string> thread;      // of the message that was delivered last

  Mailbox mailbox;
  OutboxMarks outboxes;

  Owned<class Agents, AgentCounts> counts;
  Owned<class Sessions, SessionLease> lease;
  Owned<class Audiences, SessionAudience> audience;
  Owned<class Router, std::optional<TokenBucket>> bucket;
  Owned<class SendReplies, SentIds> sent_ids;
  Owned<class Deliveries, DeliveryWindow> window;
  Owned<class Settlement, SettlementState> settlement;
  Owned<class LateReceipts, LookupState> lookup;
  Owned<class Prompts, AgentPrompts> prompts;
  Owned<class Workers, std::optional<Release>> releasing;  // the RELEASE that is being executed

  [[nodiscard]] bool connected() const { return !connections->empty(); }
  /// While it is not connected. A session that a dead daemon lost counts from the start of this daemon.
  [[nodiscard]] WallMs offline_since() const { return std::max({record->last_seen, times->restored_at, WallMs{1}}); }
  [[nodiscard]] bool observed() const { return record->program == protocol::kObserverProgram; }
  /// Only observed, and the agent CLI has no inbox.
  [[nodiscard]] bool cannot_be_addressed() const {
    const auto& modes = activity->state.modes;
    return observed() && !(connected() && modes && !modes->empty());
  }
  [[nodiscard]] const AgentName& name() const { return record->name; }
};

}  // namespace relay::broker
