#include <algorithm>
#include <utility>

#include "base/format.h"
#include "client/machine.h"
#include "protocol/bye.h"

namespace relay::client {
namespace {

using protocol::MessageType;

constexpr std::string_view kResumeTooOld = "RESUME_TOO_OLD";
constexpr std::string_view kDuplicateConnection = "DUPLICATE_CONNECTION";

}  // namespace

void Link::Machine::on_bytes(std::string_view bytes) {
  const auto attempt = attempt_;
  last_heard_ = loop_.now().steady;
  reader_.push(bytes);
  while (attempt == attempt_) {
    auto frame = reader_.next();
    if (!frame) return lose(frame.error().message());
    if (!*frame) return;
    const auto envelope = protocol::parse_envelope(**frame);
    // A frame of a type we do not know comes from a newer daemon and is none of our business.
    if (envelope)
      on_frame(*envelope);
    else if (!is(envelope.error(), protocol::Errc::UnknownType))
      return lose(envelope.error().message());
  }
}

void Link::Machine::on_written(std::size_t bytes_left) {
  if (bytes_left < kMaxWaitingBytes / 2) transmit();
}

void Link::Machine::on_frame(const protocol::Envelope& envelope) {
  if (state_ == LinkState::Handshaking) {
    if (envelope.type == MessageType::Welcome) return on_welcome(envelope);
    if (envelope.type == MessageType::Error) return on_error(envelope);
    if (envelope.type == MessageType::Bye) return on_bye(envelope);
    if (envelope.type != MessageType::Ping) return;  // nothing else is meant for us before WELCOME
  }
  switch (envelope.type) {
    case MessageType::Ping:
      return write({.type = MessageType::Pong, .id = envelope.id, .ts = loop_.now().wall, .payload = envelope.payload});
    case MessageType::Bye: return on_bye(envelope);
    case MessageType::Error: return on_error(envelope);
    case MessageType::Ack: return on_ack(envelope);
    case MessageType::Nack: return on_nack(envelope);
    case MessageType::Deliver:
    case MessageType::ChannelMessage: return on_delivery(envelope);
    case MessageType::Pause: return on_pause(envelope);
    case MessageType::Cancel: return on_cancel(envelope);
    default:  // the types a program may understand are an open list
      if (!questions_.answer(envelope)) listener_.on_frame(envelope);
  }
}

void Link::Machine::on_bye(const protocol::Envelope& envelope) {
  const auto bye = protocol::parse_bye(envelope.payload);
  lose(bye && !bye->reason.empty() ? bye->reason : std::string{protocol::kDaemonStopping});
}

void Link::Machine::on_welcome(const protocol::Envelope& envelope) {
  auto welcome = protocol::parse_welcome(envelope.payload);
  if (!welcome) return lose(welcome.error().message());
  enter(LinkEvent::Welcomed);
  backoff_.reset();
  session_.resumed = !options_.hello.resume_token.empty() && !token_refused_;
  session_.id = std::move(welcome->session_id);
  session_.resume_token = std::move(welcome->resume_token);
  session_.max_frame_bytes = welcome->max_frame_bytes;
  options_.hello.resume_token = session_.resume_token;
  // A store begun anew numbers its streams from 1 again: what was taken under the old one says nothing about it.
  if (!welcome->store_id.empty()) {
    if (!session_.store_id.empty() && session_.store_id != welcome->store_id) forget_positions();
    session_.store_id = std::move(welcome->store_id);
  }
  heartbeat_ = Millis{welcome->heartbeat_ms > 0 ? welcome->heartbeat_ms : protocol::kHeartbeatMs};
  watch_for_silence();
  transmission_.on_new_connection();
  events_.on_new_connection();
  custody_.on_new_connection();
  for (const auto& word : custody_.take_resends()) write_receipt(word);
  listener_.on_ready(session_);
  transmit();
}

void Link::Machine::on_error(const protocol::Envelope& envelope) {
  const auto error = protocol::parse_error(envelope.payload);
  if (!error) return lose(error.error().message());
  // Our own ghost may take the name: the HELLO of a life that died just before this one, read by the daemon after ours.
  // It dies at once, so coming back is right; coming back twice would be a fight with somebody who holds our token.
  if (error->fatal && error->code == kDuplicateConnection && !options_.hello.claim_token.empty() && !came_back_) {
    came_back_ = true;
    return lose(error->message);
  }
  if (error->fatal)
    return give_up(Error{{static_cast<int>(Errc::Refused), ErrcCategory<Errc>::instance()},
                         format("the daemon refused {}: {}", options_.hello.agent, error->message)});
  if (error->code == kResumeTooOld && state_ == LinkState::Handshaking) {
    options_.hello.resume_token.clear();
    token_refused_ = true;
    return;
  }
  if (!questions_.answer(envelope)) listener_.on_frame(envelope);
}

void Link::Machine::on_ack(const protocol::Envelope& envelope) {
  const auto ack = protocol::parse_ack(envelope.payload);
  if (!ack) return lose(ack.error().message());
  if (!ack->correlation_id.empty()) return listener_.on_frame(envelope);  // somebody's answer to a blocking send
  if (events_.answered(ack->ack_id, EventQueue::EventResult::Taken)) {
    listener_.on_event_acked();
    return transmit();
  }
  if (!outbox_.answered(ack->ack_id)) return;  // the repetition of an answer
  transmission_.on_answered();
  listener_.on_acknowledged(*ack);
  listener_.on_sent(ack->ack_id);
  transmit();
}

void Link::Machine::on_nack(const protocol::Envelope& envelope) {
  const auto nack = protocol::parse_nack(envelope.payload);
  if (!nack) return lose(nack.error().message());
  if (events_.has(nack->nack_id)) return on_event_refused(*nack);
  const auto* entry = outbox_.find(nack->nack_id);
  if (!entry) {
    if (!questions_.answer(envelope)) listener_.on_frame(envelope);
    return;
  }
  const auto refusal = protocol::parse_nack_code(nack->code);
  if (refusal && protocol::is_retryable(*refusal)) {
    const auto wait = transmission_.on_refused_for_now(*entry, Millis{nack->retry_after_ms});
    if (!retry_) retry_after(wait);
    return;
  }
  const bool known_to_program = !entry->lost;
  outbox_.answered(nack->nack_id);
  transmission_.on_answered();
  if (known_to_program) listener_.on_refused(nack->nack_id, *nack);
  transmit();
}

void Link::Machine::on_event_refused(const protocol::Nack& nack) {
  const auto refusal = protocol::parse_nack_code(nack.code);
  if (!refusal || !protocol::is_retryable(*refusal)) {
    events_.answered(nack.nack_id, EventQueue::EventResult::Refused);
    listener_.on_event_acked();
    return transmit();
  }
  events_.on_retryable_nack(nack.nack_id);
  if (retry_events_) return;
  retry_events_ = loop_.after(std::clamp(Millis{nack.retry_after_ms}, kFirstRetry, kMaxRetry), [this] {
    retry_events_.reset();
    transmit();
  });
}

void Link::Machine::on_delivery(const protocol::Envelope& envelope) {
  // A published daemon puts no delivery block on channel messages: nothing to acknowledge, nothing to recognise.
  if (envelope.delivery.empty()) return listener_.on_frame(envelope);
  const auto delivery = protocol::parse_delivery(envelope.delivery);
  if (!delivery) return lose(delivery.error().message());
  DeliveryRef place{
      std::string{envelope.id}, std::string{envelope.topic}, std::string{envelope.from}, delivery->seq, delivery->lane,
      delivery->attempt};
  const bool is_new = place.seq > positions_.last(place.topic, place.from, place.lane);
  if (custody_.find(place.id) != nullptr) {
    if (!is_new) return custody_.on_redelivered(place.id);  // the daemon grows impatient
    positions_.advance(place.topic, place.from, place.lane, place.seq);
    custody_.move(place);
    return listener_.on_moved(place, delivery->mode.value_or(place.lane.mode));
  }
  const auto* const word = custody_.last_receipt(place.id);
  if (!is_new) {  // what we said of it got lost, or is on its way
    if (word == nullptr) return write_ack(place);
    if (custody_.should_resend(place.id)) say_again(place, *word);
    return;
  }
  if (word != nullptr && !returns_delivery(*word)) {
    // It was put elsewhere while we told of its end.
    positions_.advance(place.topic, place.from, place.lane, place.seq);
    return say_again(place, *word);
  }
  // Skipping one and taking a later one would make it a repetition when it comes again; a new connection brings all.
  if (custody_.full()) return lose("more deliveries are in hand than one connection may have");
  positions_.advance(place.topic, place.from, place.lane, place.seq);
  custody_.take(place);
  if (listener_.on_incoming({place, envelope, *delivery}) == AckMode::Now) acknowledge(place);
}

void Link::Machine::on_pause(const protocol::Envelope& envelope) {
  const auto order = protocol::parse_pause(envelope.payload);
  if (!order) return lose(order.error().message());
  listener_.on_pause(*order);
}

void Link::Machine::on_cancel(const protocol::Envelope& envelope) {
  const auto order = protocol::parse_cancel(envelope.payload);
  if (!order) return lose(order.error().message());
  const DeliveryRef* const in_hand = custody_.find(order->delivery_id);
  if (in_hand == nullptr) {  // its end is told, or was and got lost
    const auto* const word = custody_.last_receipt(order->delivery_id);
    if (word != nullptr && !returns_delivery(*word)) write_receipt(*word);
    return;
  }
  const DeliveryRef place = *in_hand;
  if (listener_.on_cancel(*order))
    report(place, {.status = protocol::ReceiptStatus::Failed,
                   .reason = order->reason,
                   .code = std::string{protocol::kCancelled}});
}

void Link::Machine::say_again(const DeliveryRef& place, const protocol::Receipt& word) {
  if (custody_.acknowledged(place.id)) return write_ack(place);
  write_receipt(word);
}

void Link::Machine::write_ack(const DeliveryRef& place) {
  const auto payload = protocol::write_ack(place.id, place.seq);
  write({.type = MessageType::Ack, .id = random_.hex(8), .ts = loop_.now().wall, .payload = payload});
}

}  // namespace relay::client
