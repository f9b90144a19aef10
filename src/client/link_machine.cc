#include "client/link_machine.h"

#include <utility>

#include "base/format.h"
#include "client/hello_frame.h"
#include "protocol/limits.h"
#include "protocol/requests.h"

namespace relay::client {
namespace {

using protocol::MessageType;

constexpr std::size_t kIdBytes = 12;
constexpr Millis kHandshakeTimeout{protocol::kHandshakeTimeoutMs};
constexpr int kMissedHeartbeats = 2;
constexpr std::size_t kMaxEventsAhead = 64 * 1024;  // bytes of events that may be queued before a message
constexpr Millis kDiskRetry{1'000};                 // after a failed sync of the outbox; nothing is sent meanwhile

/// Sent for an entry whose content the disk lost: a SEND without a recipient, which the daemon refuses for good.
constexpr std::string_view kLostPayload = R"({"kind":"state","body":""})";

}  // namespace

Link::Machine::Machine(net::EventLoop& loop, net::Network& network, Random& random, Outbox& outbox, LinkOptions options,
                       LinkListener& listener)
    : loop_{loop},
      network_{network},
      random_{random},
      outbox_{outbox},
      listener_{listener},
      options_{std::move(options)},
      backoff_{options_.timeout},
      outbox_sender_{outbox},
      requests_{loop} {
  session_.store_id = options_.store_id;
  auto& can = options_.hello.capabilities;
  can.ack = true;
  can.resume = true;
  can.send_ack = true;
  can.outbox = outbox.epoch();
  for (const auto& position : std::exchange(options_.positions, {}))
    positions_.advance(position.topic, position.from, position.lane, position.seq);
}

void Link::Machine::enter(LinkEvent event) {
  const auto next = next_state(state_, event);
  RELAY_ASSERT(next.has_value());
  state_ = *next;
}

void Link::Machine::start() {
  enter(LinkEvent::Start);
  connect();
}

void Link::Machine::stop(const protocol::Bye& bye) {
  if (state_ == LinkState::Ready)
    while (const auto* event = events_.last_chance()) write_event(*event);
  // After a HELLO as well: the session it started would otherwise stay open.
  if (state_ == LinkState::Ready || state_ == LinkState::Handshaking) {
    const auto payload = protocol::write_bye(bye);
    write({.type = MessageType::Bye, .id = random_.hex(kIdBytes), .ts = loop_.now().wall, .payload = payload});
  }
  enter(LinkEvent::Stop);
  drop_stream(net::Drain::Yes);
  requests_.clear();
}

void Link::Machine::retry_now() {
  if (state_ != LinkState::Backoff) return;
  enter(LinkEvent::TimerFired);
  connect();
}

void Link::Machine::connect() {
  const auto attempt = ++attempt_;
  reader_ = protocol::FrameReader{};
  token_refused_ = false;
  deadline_ = loop_.after(kHandshakeTimeout,
                          [this] { lose(format("no WELCOME was received within {} ms", kHandshakeTimeout.count())); });
  network_.connect(options_.socket_path, [this, attempt, alive = lifetime_.watch()](auto result) {
    if (!alive || attempt != attempt_ || state_ != LinkState::Connecting) return;
    if (!result) return lose(result.error().message());
    on_connected(std::move(*result));
  });
}

void Link::Machine::on_connected(std::unique_ptr<net::Stream> stream) {
  enter(LinkEvent::Connected);
  stream_ = std::move(stream);
  stream_->start(*this);
  options_.hello.unsettled = deliveries_.ids();
  const auto payload = write_hello(options_.hello);
  write({.type = MessageType::Hello, .id = random_.hex(kIdBytes), .ts = loop_.now().wall, .payload = payload});
}

void Link::Machine::drop_stream(net::Drain drain) {
  deadline_.reset();
  retry_.reset();
  retry_events_.reset();
  ++attempt_;
  if (auto stream = std::exchange(stream_, nullptr)) stream->close(drain);
}

void Link::Machine::lose(const std::string& reason) {
  const auto attempt = attempt_;
  drop_stream(net::Drain::No);
  enter(LinkEvent::Lost);
  const auto delay = backoff_.next(random_);
  if (!delay) {
    return give_up(Error{{static_cast<int>(Errc::NoDaemon), ErrcCategory<Errc>::instance()},
                         format("cannot reach the daemon at {} ({} attempts): {}; start it with: agent-relay up",
                                options_.socket_path, backoff_.failures(), reason)});
  }
  deadline_ = loop_.after(*delay, [this] { retry_now(); });
  requests_.fail_all(reason);
  if (state_ == LinkState::Backoff && attempt_ == attempt + 1) listener_.on_lost(reason, *delay);
}

void Link::Machine::forget_positions() {
  positions_ = StreamPositions{};
  deliveries_.clear();
}

void Link::Machine::give_up(Error why) {
  drop_stream(net::Drain::No);
  enter(LinkEvent::Stop);
  requests_.fail_all(why.message());
  listener_.on_stopped(why);
}

void Link::Machine::watch_idle_timeout() {
  const auto due = last_received_ + kMissedHeartbeats * heartbeat_;
  deadline_ = loop_.at(due, [this] {
    if (loop_.now().steady - last_received_ < kMissedHeartbeats * heartbeat_) return watch_idle_timeout();
    lose(format("nothing was received from the daemon for {} ms", (kMissedHeartbeats * heartbeat_).count()));
  });
}

void Link::Machine::write(const protocol::OutEnvelope& envelope) {
  out_.clear();
  protocol::append_frame(out_, protocol::HeaderStyle::Four, protocol::write_envelope(envelope));
  stream_->write(out_);
}

Result<std::string> Link::Machine::send(const OutgoingMessage& message) {
  auto id = RELAY_TRY(outbox_.add(message));
  transmit();
  return id;
}

void Link::Machine::transmit() {
  if (state_ != LinkState::Ready || retry_) return;
  bool durable = false;
  while (stream_->bytes_waiting() < kMaxUnsentBytes) {
    const auto* entry = outbox_sender_.next();
    if (!entry) return send_events();
    // A number that was sent must never be used for another message: sync before sending.
    if (!durable && !outbox_.make_durable()) return retry_after(kDiskRetry);
    durable = true;
    write({.type = entry->message.type,
           .id = entry->id,
           .ts = loop_.now().wall,
           .to = entry->message.to,
           .topic = entry->message.topic,
           .payload = entry->lost ? kLostPayload : std::string_view{entry->message.payload},
           .payload_meta = entry->message.payload_meta});
    outbox_sender_.sent(*entry);
  }
}

Result<std::string> Link::Machine::send_event(std::string payload) {
  if (payload.size() + protocol::kMaxIdBytes > protocol::kMaxFrameBytes)
    return fail(Errc::TooLarge, format("an event of {} bytes does not fit a frame", payload.size()));
  auto id = RELAY_TRY(events_.add(std::move(payload), random_));
  transmit();
  return id;
}

/// Only while few bytes are unsent: events must not delay the next message.
void Link::Machine::send_events() {
  while (!retry_events_ && stream_->bytes_waiting() < kMaxEventsAhead) {
    const auto* event = events_.next();
    if (!event) return;
    write_event(*event);
  }
}

void Link::Machine::write_event(const QueuedEvent& event) {
  write({.type = MessageType::AgentEvent, .id = event.id, .ts = loop_.now().wall, .payload = event.payload});
  events_.sent(event);
}

void Link::Machine::retry_after(Millis delay) {
  retry_ = loop_.after(delay, [this] {
    retry_.reset();
    transmit();
  });
}

void Link::Machine::report(const DeliveryRef& ref, protocol::Receipt receipt) {
  const auto reported = deliveries_.report(ref.id, std::move(receipt));
  if (!reported) return;
  if (state_ == LinkState::Ready) return write_receipt(*reported);
  // The daemon redelivers it and gets the receipt then, unless the delivery ended otherwise meanwhile.
  if (!keeps_delivery(*reported) && !returns_delivery(*reported)) deliveries_.queue_resend(ref.id);
}

void Link::Machine::write_receipt(const protocol::Receipt& receipt) {
  const auto payload = protocol::write_receipt(receipt);
  write({.type = MessageType::Receipt, .id = random_.hex(kIdBytes), .ts = loop_.now().wall, .payload = payload});
}

void Link::Machine::acknowledge(const DeliveryRef& ref) {
  const auto current = deliveries_.acknowledge(ref.id);
  if (!current) return;
  // Without a connection the daemon redelivers it, which is recognized, or the delivery ended otherwise and gets the
  // receipt.
  if (state_ == LinkState::Ready) return write_ack(*current);
  deliveries_.queue_resend(ref.id);
}

void Link::Machine::request(MessageType type, std::string_view payload, OnResponse on_response, Millis timeout) {
  if (state_ != LinkState::Ready)
    return on_response(fail(Errc::NotReady, "the daemon is not connected; try again later"));
  if (requests_.full())
    return on_response(
        fail(Errc::Full, format("{} requests to the daemon are open; wait for a response first", kMaxPendingRequests)));
  if (payload.size() + protocol::kMaxIdBytes > protocol::kMaxFrameBytes)
    return on_response(fail(Errc::TooLarge, format("the {} frame is too large; {} bytes are allowed",
                                                   protocol::name_of(type), protocol::kMaxFrameBytes)));
  auto id = random_.hex(kIdBytes);
  write({.type = type, .id = id, .ts = loop_.now().wall, .payload = payload});
  requests_.add(std::move(id), timeout, std::move(on_response));
}

Result<void> Link::Machine::send_frame(MessageType type, std::string_view payload, std::string_view topic,
                                       std::string_view to) {
  if (type == MessageType::SessionState)  // HELLO repeats it to a restarted daemon
    if (const auto state = protocol::parse_session_state(payload)) options_.hello.state = state->state;
  if (state_ != LinkState::Ready) return fail(Errc::NotReady, "the daemon is not connected; try again later");
  if (payload.size() + topic.size() + to.size() + protocol::kMaxIdBytes > protocol::kMaxFrameBytes)
    return fail(Errc::TooLarge, format("the {} frame is too large; {} bytes are allowed", protocol::name_of(type),
                                       protocol::kMaxFrameBytes));
  const auto id = random_.hex(kIdBytes);
  write({.type = type, .id = id, .ts = loop_.now().wall, .to = to, .topic = topic, .payload = payload});
  return {};
}

}  // namespace relay::client
