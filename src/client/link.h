/// A program's session with the daemon: connects, sends HELLO, reconnects after every loss, and passes on each message
/// once.
///
/// Why: every client of the daemon needs the same five states, the same resume, and the same two records: messages
///   sent and not answered, and messages received.
/// Invariants:
///   1. A message given to `send` is transmitted, in order, until the daemon answers it: `on_sent` or `on_refused` runs
///      exactly once for each, unless the program dies first (the outbox file then still contains it).
///   2. Each number of a stream (topic, from, lane) is passed on at most once, in order, including across reconnections
///      and, with the positions of an earlier run, across restarts. A repeat of an unsettled delivery is not passed on;
///      it updates the position.
///   3. Memory is bounded: by the limits of the outbox and the event queue, kMaxUnsentBytes towards the socket,
///      kMaxUnacknowledged, kMaxPendingRequests and kMaxStreams.
/// Ownership: borrows loop, network, random, outbox and listener, which outlive it. `stop()` may be called inside any
///   callback; destroying the link there may not.
/// Threading: loop thread only.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "client/backoff.h"
#include "client/delivery_tracker.h"
#include "client/errors.h"
#include "client/event_queue.h"
#include "client/link_state.h"
#include "client/outbox.h"
#include "client/pending_requests.h"
#include "client/stream_positions.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "protocol/bye.h"
#include "protocol/control.h"
#include "protocol/envelope.h"
#include "protocol/hello.h"
#include "protocol/send.h"

namespace relay::client {

inline constexpr Millis kRequestTimeout{5'000};
inline constexpr std::size_t kMaxUnsentBytes =
    512 * 1024;  // not yet written to the socket; the rest stays in the outbox

struct LinkOptions {
  std::string socket_path;
  /// Agent, capabilities (the link sets `send_ack` and `outbox`), `resume_token` and `claim_token`.
  protocol::Hello hello;
  RetryLimit timeout = RetryLimit::program();
  /// The stream positions of the program's previous run; empty without one.
  std::vector<StreamPosition> positions;
  /// The store of those positions (`Session::store_id`). They do not apply to another store.
  std::string store_id;
};

struct Session {
  std::string id;
  std::string resume_token;
  std::string store_id;  // the store of the stream positions: save it with them
  bool resumed = false;  // false: a new session; subscriptions must be made again
  std::size_t max_frame_bytes = protocol::kMaxFrameBytes;
};

/// A received message, as views that live until the callback returns. `ref` is the reference to save and to
/// acknowledge.
struct IncomingMessage {
  DeliveryRef ref;
  const protocol::Envelope& envelope;  // type is Deliver or ChannelMessage
  const protocol::DeliveryView& delivery;
};

enum class AckMode { Now, Later };  // Later: the program calls `acknowledge` or `report`

class LinkListener {
 public:
  virtual ~LinkListener() = default;

  /// READY, after each WELCOME.
  virtual void on_ready(const Session& session) = 0;
  /// The connection was lost, or an attempt failed; the link retries after `retry_in`.
  virtual void on_lost(const std::string& reason, Millis retry_in) = 0;
  /// The link has stopped permanently: no attempts are left, or the daemon sent a fatal ERROR. The last call.
  virtual void on_stopped(const Error& why) = 0;

  /// A new message.
  virtual AckMode on_incoming(const IncomingMessage& incoming) = 0;
  /// An unsettled delivery changed its mode or was requeued: `ref` replaces its ref.
  virtual void on_moved(const DeliveryRef& ref, protocol::DeliveryMode mode) { (void)ref, (void)mode; }
  /// The daemon cancels an unsettled delivery. True: it was dropped, and the link reports that. False: it has started,
  /// and the program reports its end as usual.
  virtual bool on_cancel(const protocol::CancelCommand& command) { return (void)command, false; }
  /// Pause or continue. Called after each WELCOME of a paused agent, and on every change.
  virtual void on_pause(const protocol::PauseCommand& command) { (void)command; }

  /// The ACK of a message that is durable; `on_sent` follows.
  virtual void on_acknowledged(const protocol::Ack& ack) { (void)ack; }
  /// The message is durable at the daemon.
  virtual void on_sent(const std::string& id) = 0;
  /// The daemon refused the message permanently.
  virtual void on_refused(const std::string& id, const protocol::Nack& why) = 0;

  /// The daemon answered an event: the queue has room for another.
  virtual void on_event_acked() {}

  /// Every other frame: RECEIPT, AGENT_READY, CHANNEL_JOIN, a forwarded ACK, an ERROR that is not fatal, …
  virtual void on_frame(const protocol::Envelope& envelope) = 0;
};

class Link {
 public:
  Link(net::EventLoop& loop, net::Network& network, Random& random, Outbox& outbox, LinkOptions options,
       LinkListener& listener);
  ~Link();

  /// Connects and stays connected. Once.
  void start();
  /// Sends pending events and BYE, flushes, and stays disconnected. No callback runs afterwards. Without a connection
  /// nothing is sent, and the daemon ends the session as crashed after its grace period, unless the host left a record
  /// of the end (host/control/ended_sessions.h).
  void stop(const protocol::Bye& bye = {});

  /// During back-off: reconnects at once.
  void retry_now();

  [[nodiscard]] LinkState state() const;
  [[nodiscard]] bool ready() const { return state() == LinkState::Ready; }
  /// The peer process, from the kernel; 0 without a connection.
  [[nodiscard]] pid_t daemon_pid() const;

  /// Adds a message to the outbox (in every state) and transmits it as soon as possible. Returns its id.
  Result<std::string> send(const OutgoingMessage& message);
  /// The daemon has answered every message.
  [[nodiscard]] bool is_drained() const;

  /// Sends an AGENT_EVENT (payload `{"event":{...}}`), in order and after all messages, until the daemon answers it.
  /// Returns its id; an error when the queue is full.
  Result<std::string> send_event(std::string payload);
  /// True until the daemon has answered this event.
  [[nodiscard]] bool has_pending_event(std::string_view id) const;
  [[nodiscard]] EventCounts event_counts() const;
  /// The unanswered events, in order.
  [[nodiscard]] const std::deque<QueuedEvent>& pending_events() const;

  /// For a delivery with AckMode::Later. Has no effect for a settled one.
  void acknowledge(const DeliveryRef& ref);
  /// Sends a receipt for a delivery with AckMode::Later. Accepted, and Deferred without a time, keep it pending with a
  /// reason. Deferred until a time and Failed retryable return it: the daemon sends it again, as a new delivery with
  /// the same id. The others end it; after Delivered a stronger proof may follow. The link repeats the last receipt if
  /// the delivery is sent again.
  void report(const DeliveryRef& ref, protocol::Receipt receipt);

  /// Sends a request. The callback gets the `*_RESPONSE` or `*_RESULT`, exactly once unless the link is stopped.
  void request(protocol::MessageType type, std::string_view payload, OnResponse on_response,
               Millis timeout = kRequestTimeout);

  /// Sends a frame that has no response (SUBSCRIBE, CHANNEL_JOIN, SHADOW_BIND, LOG, RECEIPT, SESSION_STATE, …).
  Result<void> send_frame(protocol::MessageType type, std::string_view payload = "{}", std::string_view topic = {},
                          std::string_view to = {});

  /// The current position of every stream.
  [[nodiscard]] std::vector<StreamPosition> positions() const;
  [[nodiscard]] const Session& session() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace relay::client
