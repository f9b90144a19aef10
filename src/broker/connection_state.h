/// The state of one connection. Each member belongs to one part, which alone changes it (owned.h).
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

#include "broker/effects.h"
#include "broker/heartbeat.h"
#include "broker/owned.h"
#include "broker/peer_process.h"
#include "protocol/hello.h"
#include "records/events.h"

namespace relay::broker {

///   AwaitingHello ──HELLO──▶ Opening ──committed──▶ Active ──BYE, error, take-over──▶ Closing
///         └──SEND with from and to──▶ OneShot                 (a resumed session skips Opening)
enum class Phase : std::uint8_t { AwaitingHello, Opening, OneShot, Active, Closing };

/// Reasons not to read from a connection. Each of them ends without an action of another client.
enum class Pause : std::uint8_t { Opening = 1, Uncommitted = 2, Rate = 4 };

/// Of `Connections`.
struct ConnectionFlow {
  Heartbeat heartbeat;
  std::size_t queued_bytes = 0;  // written to the stream and not yet taken by the kernel
  bool stuck = false;            // the last write left bytes behind
  std::uint8_t pauses = 0;
};

/// Of `CommitBudget`.
struct UncommittedBytes {
  std::size_t bytes = 0;
  std::uint64_t active_mark = 0;  // see ActiveSenders
};

/// A connection that follows the event log page by page. The broker queries the store for the events after `cursor`
/// whenever the connection has room: old and new events take the same path, and a slow reader costs a query later
/// instead of memory now.
struct EventSubscription {
  records::EventFilter filter;
  WallMs since = 0;
  records::EventSeq cursor = 0;  // everything up to here was sent, or does not match
  bool logs = false;             // also the lines of LOG, which are not stored
  std::string request_id;
};

/// Of `EventSubscriptions`.
struct SubscriptionState {
  std::optional<EventSubscription> subscription;
  bool loading = false;      // a page was requested and has not arrived
  bool page_is_old = false;  // it is for a subscription that has ended
};

/// Of `SenderReceipts`.
struct AwaitedMessages {
  std::size_t count = 0;      // sent messages whose receipts are awaited
  std::deque<Key> delivered;  // of those, delivered ones that may still be seen; newest last, bounded
};

/// Of `Sessions`.
struct Handshake {
  std::deque<std::string> held;  // frames that arrived before HELLO was committed
  bool ended_read = false;       // records of ended sessions were read before its HELLO
};

/// The first event of a connection. All its events have this epoch.
struct FirstEvent {
  std::string epoch;
  std::uint64_t number = 0;
};

struct ConnectionState {
  Published<class Connections, ConnectionId> id;
  Published<class Connections, PeerProcess> peer;
  Published<class Connections, Phase> phase;
  Published<class Authority, bool> trusted;    // it showed the system token, or is the daemon's own
  Published<class Sessions, AgentName> agent;  // empty before HELLO
  Published<class Sessions, bool> query_only;  // the command line: sends requests and messages, receives no deliveries
  Published<class Sessions, SessionId> session;
  Published<class Sessions, protocol::Capabilities> capabilities;

  Owned<class Connections, ConnectionFlow> flow;
  Owned<class CommitBudget, UncommittedBytes> uncommitted;
  Owned<class ClientRequests, std::size_t> open_requests;
  Owned<class BlockingRequests, std::size_t> blocking_requests;  // that are not answered
  Owned<class SenderReceipts, AwaitedMessages> awaited;
  Owned<class Sessions, Handshake> handshake;
  Owned<class EventSubscriptions, SubscriptionState> events;
  Owned<class SendReplies, std::optional<std::uint64_t>> first_number;  // of its outbox, on this connection
  Owned<class AgentEvents, std::optional<FirstEvent>> first_event;

  /// Whether frames can be sent to it: its session is open, or it is a one-shot sender.
  [[nodiscard]] bool is_open() const { return phase == Phase::Active || phase == Phase::OneShot; }
  [[nodiscard]] bool wants_answers() const { return capabilities->send_ack || phase == Phase::OneShot; }
};

}  // namespace relay::broker
