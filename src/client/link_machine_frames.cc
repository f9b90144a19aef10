#include <algorithm>
#include <utility>

#include "base/format.h"
#include "client/link_machine.h"
#include "protocol/bye.h"

namespace relay::client {
namespace {

using protocol::MessageType;

constexpr std::string_view kResumeTooOld = "RESUME_TOO_OLD";
constexpr std::string_view kDuplicateConnection = "DUPLICATE_CONNECTION";

}  // namespace

void Link::Machine::on_bytes(std::string_view bytes) {
  const auto attempt = attempt_;
  last_received_ = loop_.now().steady;
  reader_.push(bytes);
  while (attempt == attempt_) {
    auto frame = reader_.next();
    if (!frame) return lose(frame.error().message());
    if (!*frame) return;
    const auto envelope = protocol::parse_envelope(**frame);
    // A frame of an unknown type comes from a newer daemon and is ignored.
    if (envelope)
      on_frame(*envelope);
    else if (!is(envelope.error(), protocol::Errc::UnknownType))
      return lose(envelope.error().message());
  }
}

void Link::Machine::on_written(std::size_t bytes_left) {
  if (bytes_left < kMaxUnsentBytes / 2) transmit();
}

void Link::Machine::on_frame(const protocol::Envelope& envelope) {
  if (state_ == LinkState::Handshaking) {
    if (envelope.type == MessageType::Welcome) return on_welcome(envelope);
    if (envelope.type == MessageType::Error) return on_error(envelope);
    if (envelope.type == MessageType::Bye) return on_bye(envelope);
    if (envelope.type != MessageType::Ping) return;  // no other frame is expected before WELCOME
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
    default:  // programs may handle other types
      if (!requests_.answer(envelope)) listener_.on_frame(envelope);
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
  // A new store numbers its streams from 1: positions of the old one do not apply.
  if (!welcome->store_id.empty()) {
    if (!session_.store_id.empty() && session_.store_id != welcome->store_id) forget_positions();
    session_.store_id = std::move(welcome->store_id);
  }
  heartbeat_ = Millis{welcome->heartbeat_ms > 0 ? welcome->heartbeat_ms : protocol::kHeartbeatMs};
  watch_idle_timeout();
  outbox_sender_.on_new_connection();
  events_.on_new_connection();
  deliveries_.on_new_connection();
  for (const auto& receipt : deliveries_.take_resends()) write_receipt(receipt);
  listener_.on_ready(session_);
  transmit();
}

void Link::Machine::on_error(const protocol::Envelope& envelope) {
  const auto error = protocol::parse_error(envelope.payload);
  if (!error) return lose(error.error().message());
  // The HELLO of this program's previous run, which has just ended, may reach the daemon after the new one and take
  // the name. That connection ends at once, so one reconnect is correct; a second one would compete with a program with
  // the same token.
  if (error->fatal && error->code == kDuplicateConnection && !options_.hello.claim_token.empty() && !reclaimed_) {
    reclaimed_ = true;
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
  if (!requests_.answer(envelope)) listener_.on_frame(envelope);
}

void Link::Machine::on_ack(const protocol::Envelope& envelope) {
  const auto ack = protocol::parse_ack(envelope.payload);
  if (!ack) return lose(ack.error().message());
  if (!ack->correlation_id.empty()) return listener_.on_frame(envelope);  // the answer to a blocking SEND
  if (events_.answered(ack->ack_id, EventQueue::EventResult::Taken)) {
    listener_.on_event_acked();
    return transmit();
  }
  if (!outbox_.answered(ack->ack_id)) return;  // a repeated response
  outbox_sender_.on_answered();
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
    if (!requests_.answer(envelope)) listener_.on_frame(envelope);
    return;
  }
  const auto refusal = protocol::parse_nack_code(nack->code);
  if (refusal && protocol::is_retryable(*refusal)) {
    const auto delay = outbox_sender_.on_retryable_nack(*entry, Millis{nack->retry_after_ms});
    if (!retry_) retry_after(delay);
    return;
  }
  const bool sent_by_program = !entry->lost;
  outbox_.answered(nack->nack_id);
  outbox_sender_.on_answered();
  if (sent_by_program) listener_.on_refused(nack->nack_id, *nack);
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
  // Published daemons send channel messages without a delivery block: there is nothing to acknowledge.
  if (envelope.delivery.empty()) return listener_.on_frame(envelope);
  const auto delivery = protocol::parse_delivery(envelope.delivery);
  if (!delivery) return lose(delivery.error().message());
  DeliveryRef ref{
      std::string{envelope.id}, std::string{envelope.topic}, std::string{envelope.from}, delivery->seq, delivery->lane,
      delivery->attempt};
  const bool is_new = ref.seq > positions_.last(ref.topic, ref.from, ref.lane);
  if (deliveries_.find(ref.id) != nullptr) {
    if (!is_new) return deliveries_.on_resent(ref.id);  // repeated by the daemon
    positions_.advance(ref.topic, ref.from, ref.lane, ref.seq);
    deliveries_.move(ref);
    return listener_.on_moved(ref, delivery->mode.value_or(ref.lane.mode));
  }
  const auto* const receipt = deliveries_.last_receipt(ref.id);
  if (!is_new) {  // its receipt was lost or is in transit
    if (receipt == nullptr) return write_ack(ref);
    if (deliveries_.should_resend(ref.id)) resend(ref, *receipt);
    return;
  }
  if (receipt != nullptr && !returns_delivery(*receipt)) {
    // It was moved while its final receipt was in transit.
    positions_.advance(ref.topic, ref.from, ref.lane, ref.seq);
    return resend(ref, *receipt);
  }
  // Skipping it would make its redelivery a duplicate; a new connection redelivers everything.
  if (deliveries_.full()) return lose("too many unsettled deliveries for one connection");
  positions_.advance(ref.topic, ref.from, ref.lane, ref.seq);
  deliveries_.take(ref);
  if (listener_.on_incoming({ref, envelope, *delivery}) == AckMode::Now) acknowledge(ref);
}

void Link::Machine::on_pause(const protocol::Envelope& envelope) {
  const auto command = protocol::parse_pause(envelope.payload);
  if (!command) return lose(command.error().message());
  listener_.on_pause(*command);
}

void Link::Machine::on_cancel(const protocol::Envelope& envelope) {
  const auto command = protocol::parse_cancel(envelope.payload);
  if (!command) return lose(command.error().message());
  const DeliveryRef* const unsettled = deliveries_.find(command->delivery_id);
  if (unsettled == nullptr) {  // its final receipt is in transit or was lost
    const auto* const receipt = deliveries_.last_receipt(command->delivery_id);
    if (receipt != nullptr && !returns_delivery(*receipt)) write_receipt(*receipt);
    return;
  }
  const DeliveryRef ref = *unsettled;
  if (listener_.on_cancel(*command))
    report(ref, {.status = protocol::ReceiptStatus::Failed,
                 .reason = command->reason,
                 .code = std::string{protocol::kCancelled}});
}

void Link::Machine::resend(const DeliveryRef& ref, const protocol::Receipt& receipt) {
  if (deliveries_.acknowledged(ref.id)) return write_ack(ref);
  write_receipt(receipt);
}

void Link::Machine::write_ack(const DeliveryRef& ref) {
  const auto payload = protocol::write_ack(ref.id, ref.seq);
  write({.type = MessageType::Ack, .id = random_.hex(8), .ts = loop_.now().wall, .payload = payload});
}

}  // namespace relay::client
