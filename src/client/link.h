/// The link to the daemon: connects, says who we are, comes back after every loss, and hands each message up once.
///
/// Why: every program that talks to the daemon needs the same five states, the same resume and the same two memories
///   (what was sent and not answered, what was received and must not be received again). They live here, once.
/// Invariants:
///   1. A message given to `send` is transmitted, in the order given, until the daemon answered it: `on_sent` or
///      `on_refused` is called exactly once for each, unless the program dies first (then the outbox file knows).
///   2. Each number of a stream (topic, from, lane) is handed up at most once, in order, also across reconnections; with
///      positions given at the start also across the program's own life. What is still in hand is never handed up
///      again: it is moved.
///   3. Memory is bounded: by the outbox's limits, the event queue's, kMaxWaitingBytes towards the socket, kMaxUnacknowledged,
///      kMaxOpenQuestions and kMaxStreams.
/// Ownership: borrows loop, network, random, outbox and listener; all outlive it. `stop()` may be called inside any
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
inline constexpr std::size_t kMaxWaitingBytes = 512 * 1024;  // towards the socket; the rest stays in the outbox

struct LinkOptions {
  std::string socket_path;
  /// Who we are: agent, capabilities (`send_ack` and `outbox` are set by the link), `resume_token` and `claim_token`.
  protocol::Hello hello;
  RetryLimit timeout = RetryLimit::program();
  /// Where each stream stood when this program last ran; empty for a program that starts anew.
  std::vector<StreamPosition> positions;
  /// The store those positions were taken from (`Session::store_id`); a daemon with another store makes them void.
  std::string store_id;
};

struct Session {
  std::string id;
  std::string resume_token;
  std::string store_id;  // whose numbers the positions are: keep it beside them
  bool resumed = false;  // false: the daemon knows nothing of an earlier session; subscriptions must be said again
  std::size_t max_frame_bytes = protocol::kMaxFrameBytes;
};

/// What came, as views that live until the callback returns. `place` is what to persist and what to acknowledge.
struct IncomingMessage {
  DeliveryRef place;
  const protocol::Envelope& envelope;  // type is Deliver or ChannelMessage
  const protocol::DeliveryView& delivery;
};

enum class AckMode { Now, Later };  // Later: the program calls `acknowledge` when it has taken charge

class LinkListener {
 public:
  virtual ~LinkListener() = default;

  /// READY, after each WELCOME.
  virtual void on_ready(const Session& session) = 0;
  /// Not READY any more, or an attempt failed; the link tries again after `retry_in`.
  virtual void on_lost(const std::string& reason, Millis retry_in) = 0;
  /// The link has stopped for good: patience ran out or the daemon said a fatal ERROR. Last call.
  virtual void on_stopped(const Error& why) = 0;

  /// A message that was not seen before.
  virtual AckMode on_incoming(const IncomingMessage& incoming) = 0;
  /// A delivery in hand waits for another moment now (or was put back while it was here): this is its place from now on.
  virtual void on_moved(const DeliveryRef& place, protocol::DeliveryMode mode) { (void)place, (void)mode; }
  /// A delivery in hand is not wanted any more. True: it was dropped, and that is told; false: it has begun, and its end
  /// will be told as ever.
  virtual bool on_cancel(const protocol::CancelCommand& order) { return (void)order, false; }
  /// Hold what you have, or go on. Told after each WELCOME of a paused agent, and on every change.
  virtual void on_pause(const protocol::PauseCommand& order) { (void)order; }

  /// What the daemon said of a message that it holds durably; `on_sent` follows.
  virtual void on_acknowledged(const protocol::Ack& ack) { (void)ack; }
  /// The daemon holds the message durably.
  virtual void on_sent(const std::string& id) = 0;
  /// The daemon will never take it.
  virtual void on_refused(const std::string& id, const protocol::Nack& why) = 0;

  /// The daemon has answered an event: there is room for another.
  virtual void on_event_acked() {}

  /// Every other frame: RECEIPT, AGENT_READY, CHANNEL_JOIN, a forwarded ACK, an ERROR that is not fatal, …
  virtual void on_frame(const protocol::Envelope& envelope) = 0;
};

class Link {
 public:
  Link(net::EventLoop& loop, net::Network& network, Random& random, Outbox& outbox, LinkOptions options,
       LinkListener& listener);
  ~Link();

  /// Begins to connect. Once.
  void start();
  /// Says BYE with how the session ends (what waits is flushed, events are told first) and stays disconnected. No callback
  /// follows. Without a connection nothing is said, and the daemon ends the session as crashed after its grace, unless
  /// the host left a record of the end (host/control/ended_sessions.h).
  void stop(const protocol::Bye& bye = {});

  /// While waiting to try again: tries at once. Somebody is there who would rather not wait.
  void retry_now();

  [[nodiscard]] LinkState state() const;
  [[nodiscard]] bool ready() const { return state() == LinkState::Ready; }
  /// The process at the other end, as the kernel names it; 0 without a connection.
  [[nodiscard]] pid_t daemon_pid() const;

  /// Puts a message into the outbox (in every state) and transmits it as soon as possible. The id it got.
  Result<std::string> send(const OutgoingMessage& message);
  /// Nothing waits for an answer of the daemon.
  [[nodiscard]] bool is_drained() const;

  /// Tells what happened here (AGENT_EVENT; payload `{"event":{...}}`), in order and after all messages, until the daemon
  /// answered. The id it got; an error when there is no room for it.
  Result<std::string> send_event(std::string payload);
  /// Told and not answered yet.
  [[nodiscard]] bool has_pending_event(std::string_view id) const;
  [[nodiscard]] EventCounts event_counts() const;
  /// Those that the daemon has not answered, in order.
  [[nodiscard]] const std::deque<QueuedEvent>& untold_events() const;

  /// For a delivery that was taken `Later`. Harmless when the link was lost meanwhile.
  void acknowledge(const DeliveryRef& place);
  /// More than an acknowledgement: what became of a delivery that was taken for later. Accepted, and Deferred without a
  /// time, say why it waits. Deferred until a time and Failed retryable give it back: it comes again, as a new delivery
  /// with the same id. The others end it; after Delivered a stronger proof may follow. What was said last is said again
  /// should the same delivery come all the same.
  void report(const DeliveryRef& place, protocol::Receipt receipt);

  /// Asks and hears the `*_RESPONSE` or `*_RESULT`; the callback runs exactly once unless the link is stopped.
  void request(protocol::MessageType type, std::string_view payload, OnResponse on_answer,
               Millis timeout = kRequestTimeout);

  /// Says a frame that has no answer (SUBSCRIBE, CHANNEL_JOIN, SHADOW_BIND, LOG, RECEIPT, SESSION_STATE, …).
  Result<void> send_frame(protocol::MessageType type, std::string_view payload = "{}", std::string_view topic = {},
                          std::string_view to = {});

  /// Where every stream stands now.
  [[nodiscard]] std::vector<StreamPosition> positions() const;
  [[nodiscard]] const Session& session() const;

 private:
  class Machine;
  std::unique_ptr<Machine> machine_;
};

}  // namespace relay::client
