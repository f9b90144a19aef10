/// What the broker keeps of one connection and of one agent.
#pragma once

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "broker/broker.h"
#include "broker/deduplication.h"
#include "broker/heartbeat.h"
#include "broker/hosts.h"
#include "broker/mailbox.h"
#include "broker/prompts.h"
#include "broker/token_bucket.h"
#include "protocol/requests.h"

namespace relay::broker {

///   AwaitingHello ──HELLO──▶ Opening ──committed──▶ Active ──BYE, error, take-over──▶ Closing
///         └──SEND with from and to──▶ OneShot                 (a resumed session skips Opening)
enum class Phase : std::uint8_t { AwaitingHello, Opening, OneShot, Active, Closing };

/// Reasons not to read from a connection. All of them end by themselves, never by another peer's doing.
enum class Pause : std::uint8_t { Opening = 1, Uncommitted = 2, Rate = 4 };

/// A connection that follows what happens, from page to page of the log: whatever was stored behind `cursor` is asked for
/// as soon as it reads, so past and present are one, and one that reads slowly costs a query later instead of memory now.
struct EventSubscription {
  records::EventFilter filter;
  WallMs since = 0;
  records::EventSeq cursor = 0;  // everything up to here was told, or is not wanted
  bool logs = false;             // what LOG brings, which is not kept
  std::string request_id;
};

struct FirstEvent {
  std::string epoch;
  std::uint64_t number = 0;
};

struct ConnectionState {
  ConnectionId id;
  PeerProcess peer;
  Phase phase = Phase::AwaitingHello;
  AgentName agent;          // empty before HELLO
  bool trusted = false;     // it showed the system token, or is the daemon's own
  bool query_only = false;  // the command line: asks and speaks, is never spoken to
  SessionId session;
  protocol::Capabilities capabilities;
  Heartbeat heartbeat;
  std::size_t waiting_bytes = 0;  // handed to the stream and not yet taken by the peer
  bool stuck = false;             // the last write left bytes behind
  std::size_t uncommitted_bytes = 0;
  std::uint64_t active_mark = 0;  // see Speakers
  std::uint8_t pauses = 0;
  std::size_t open_queries = 0;
  std::size_t open_requests = 0;     // blocking messages that are not answered
  std::size_t watched_messages = 0;  // sent messages whose receipts are awaited
  std::deque<Key> followed;          // of those, what was delivered and may still be seen; newest last, bounded
  std::deque<std::string> held;      // frames that came before HELLO was committed
  bool ended_known = false;          // records of ended sessions were read before its HELLO
  std::optional<EventSubscription> watch;
  std::optional<std::uint64_t> first_number;  // of its outbox, on this connection
  std::optional<FirstEvent> first_event;      // the same of the events it tells
  std::optional<QueryId> events_page;         // asked for a watcher, not here yet
  bool page_is_old = false;                   // it was for a subscription that is over

  [[nodiscard]] bool speaks() const { return phase == Phase::Active || phase == Phase::OneShot; }
  [[nodiscard]] bool wants_answers() const { return capabilities.send_ack || phase == Phase::OneShot; }
};

/// A delivery that ended well, and may still be shown to have been seen.
struct SettledDelivery {
  Key delivery;
  records::Proof proof{};
  Key message;
  AgentName from;
};
inline constexpr std::size_t kMaxDone = 64;

struct AgentState {
  records::Agent record;
  std::size_t described_bytes = 0;  // of the record, as they are counted
  std::optional<records::Session> session;
  std::string resume_token;               // in clear, while it is connected
  std::vector<ConnectionId> connections;  // several only for users
  Mailbox mailbox;
  TokenBucket bucket;
  RecentIds recent;
  RecentIds recent_keys;  // of idempotency
  OutboxMarks outboxes;
  RecentIds executed;                // what it asked of us that is done, though the answer could not be stored yet
  std::deque<SteadyTime> takeovers;  // recent ones, to tell a fight from a restart
  SteadyTime connected_at{};
  SteadyTime lost_at{};
  std::int32_t lost_pid = 0;  // of the process that had its last connection; 0: not known since the daemon started
  WallMs restored_at = 0;     // its session was read from the store then, and was connected when the daemon before died
  protocol::SessionStateChange activity;                // as its session told; empty when it never did
  std::map<protocol::DeliveryMode, Key> boundaries;     // up to what its session wants to hear at the moment it told of
  std::set<Key> unsettled;                              // as it told when it resumed
  std::set<Key> unchecked;                              // of those, what may have ended while it was away
  std::multimap<Key, protocol::Receipt> late_receipts;  // about what is not in flight; bounded
  bool inquiring = false;                               // the store is asked about some of these
  struct CancelRequest {
    std::string reason;
    OutboundDelivery parcel;
  };
  std::map<Key, CancelRequest> asked_back;  // from its session, which has not answered
  std::map<Key, WallMs> failing_since;      // of those that are tried again, as far as this daemon knows
  std::deque<SettledDelivery> done;         // newest last, bounded
  std::vector<protocol::StreamPosition> resume_positions;
  std::uint64_t sent = 0;
  std::uint64_t received = 0;
  std::optional<SteadyTime> resend_at;  // when the timer is due
  bool saved = false;
  bool session_saved = false;              // the open session is in the store
  bool has_user_authority = false;         // its session; without one: whoever spoke under its name last
  bool removing = false;                   // REMOVE_AGENT is being committed
  std::optional<Release> releasing;        // its end was asked for
  std::string thread;                      // of what it was given last
  PromptTable requests;                    // what it asks a person
  std::optional<SteadyTime> requests_due;  // when the timer is due
  bool approved_by_rule = false;           // in this session, at least once
  std::optional<SteadyTime> grace_due;     // when the timer is due that ends its lost session

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
