#include "client/machine.h"

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
constexpr int kSilentHeartbeats = 2;
constexpr std::size_t kMaxEventsAhead = 64 * 1024;  // bytes of events that a message may find before it
constexpr Millis kDiskRetry{1'000};                 // the outbox could not be synced; nothing leaves meanwhile

/// What is said in place of an entry whose text the disk lost: a SEND to nobody, which the daemon refuses for good.
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
      transmission_{outbox},
      questions_{loop} {
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
  // Behind a HELLO as well: the session it begins would otherwise stay open.
  if (state_ == LinkState::Ready || state_ == LinkState::Handshaking) {
    const auto payload = protocol::write_bye(bye);
    write({.type = MessageType::Bye, .id = random_.hex(kIdBytes), .ts = loop_.now().wall, .payload = payload});
  }
  enter(LinkEvent::Stop);
  drop_stream(net::Drain::Yes);
  questions_.clear();
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
                          [this] { lose(format("no greeting came within {} ms", kHandshakeTimeout.count())); });
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
  options_.hello.unsettled = custody_.ids();
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
  const auto wait = backoff_.next(random_);
  if (!wait) {
    return give_up(Error{{static_cast<int>(Errc::NoDaemon), ErrcCategory<Errc>::instance()},
                         format("cannot reach the daemon at {} ({} attempts): {}; start it with: agent-relay up",
                                options_.socket_path, backoff_.failures(), reason)});
  }
  deadline_ = loop_.after(*wait, [this] { retry_now(); });
  questions_.fail_all(reason);
  if (state_ == LinkState::Backoff && attempt_ == attempt + 1) listener_.on_lost(reason, *wait);
}

void Link::Machine::forget_positions() {
  positions_ = StreamPositions{};
  custody_.clear();
}

void Link::Machine::give_up(Error why) {
  drop_stream(net::Drain::No);
  enter(LinkEvent::Stop);
  questions_.fail_all(why.message());
  listener_.on_stopped(why);
}

void Link::Machine::watch_for_silence() {
  const auto due = last_heard_ + kSilentHeartbeats * heartbeat_;
  deadline_ = loop_.at(due, [this] {
    if (loop_.now().steady - last_heard_ < kSilentHeartbeats * heartbeat_) return watch_for_silence();
    lose(format("nothing was heard of the daemon for {} ms", (kSilentHeartbeats * heartbeat_).count()));
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
  while (stream_->bytes_waiting() < kMaxWaitingBytes) {
    const auto* entry = transmission_.next();
    if (!entry) return send_events();
    // A number that was on the wire must never come back with another text: first the disk, then the wire.
    if (!durable && !outbox_.make_durable()) return retry_after(kDiskRetry);
    durable = true;
    write({.type = entry->message.type,
           .id = entry->id,
           .ts = loop_.now().wall,
           .to = entry->message.to,
           .topic = entry->message.topic,
           .payload = entry->lost ? kLostPayload : std::string_view{entry->message.payload},
           .payload_meta = entry->message.payload_meta});
    transmission_.sent(*entry);
  }
}

Result<std::string> Link::Machine::tell(std::string payload) {
  if (payload.size() + protocol::kMaxIdBytes > protocol::kMaxFrameBytes)
    return fail(Errc::TooLarge, format("an event of {} bytes does not fit a frame", payload.size()));
  auto id = RELAY_TRY(events_.add(std::move(payload), random_));
  transmit();
  return id;
}

/// Only while little waits towards the socket: a message that is sent next must not wait behind them.
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

void Link::Machine::report(const DeliveryRef& place, protocol::Receipt receipt) {
  const auto word = custody_.report(place.id, std::move(receipt));
  if (!word) return;
  if (state_ == LinkState::Ready) return write_receipt(*word);
  // It comes again and hears it then, unless it has ended otherwise meanwhile.
  if (!keeps_delivery(*word) && !returns_delivery(*word)) custody_.queue_resend(place.id);
}

void Link::Machine::write_receipt(const protocol::Receipt& receipt) {
  const auto payload = protocol::write_receipt(receipt);
  write({.type = MessageType::Receipt, .id = random_.hex(kIdBytes), .ts = loop_.now().wall, .payload = payload});
}

void Link::Machine::acknowledge(const DeliveryRef& place) {
  const auto stood = custody_.acknowledge(place.id);
  if (!stood) return;
  // Without a connection the delivery will come again and be recognised; or it has ended otherwise, and hears of it.
  if (state_ == LinkState::Ready) return write_ack(*stood);
  custody_.queue_resend(place.id);
}

void Link::Machine::ask(MessageType type, std::string_view payload, OnResponse on_answer, Millis timeout) {
  if (state_ != LinkState::Ready)
    return on_answer(fail(Errc::NotReady, "the daemon is not connected; try again later"));
  if (questions_.full())
    return on_answer(
        fail(Errc::Full, format("{} questions to the daemon are open; wait for an answer first", kMaxOpenQuestions)));
  if (payload.size() + protocol::kMaxIdBytes > protocol::kMaxFrameBytes)
    return on_answer(fail(Errc::TooLarge, format("the {} frame is too large; {} bytes are allowed",
                                                 protocol::name_of(type), protocol::kMaxFrameBytes)));
  auto id = random_.hex(kIdBytes);
  write({.type = type, .id = id, .ts = loop_.now().wall, .payload = payload});
  questions_.add(std::move(id), timeout, std::move(on_answer));
}

Result<void> Link::Machine::say(MessageType type, std::string_view payload, std::string_view topic,
                                std::string_view to) {
  if (type == MessageType::SessionState)  // a daemon that was restarted hears it with the greeting
    if (const auto told = protocol::parse_session_state(payload)) options_.hello.state = told->state;
  if (state_ != LinkState::Ready) return fail(Errc::NotReady, "the daemon is not connected; try again later");
  if (payload.size() + topic.size() + to.size() + protocol::kMaxIdBytes > protocol::kMaxFrameBytes)
    return fail(Errc::TooLarge, format("the {} frame is too large; {} bytes are allowed", protocol::name_of(type),
                                       protocol::kMaxFrameBytes));
  const auto id = random_.hex(kIdBytes);
  write({.type = type, .id = id, .ts = loop_.now().wall, .to = to, .topic = topic, .payload = payload});
  return {};
}

}  // namespace relay::client
