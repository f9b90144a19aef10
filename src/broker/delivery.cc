// DELIVER: a window of each agent's mail in flight, repeated until acknowledged, let go when its time is over.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "protocol/json_writer.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::ReceiptStatus;
using records::Carriage;
using records::DeliveryState;
using records::Proof;

namespace {

constexpr Millis kReloadRetryDelay{1'000};

/// Wall time may jump, steady time may not: an expiry further off than this is looked at again in between.
constexpr Millis kLongestExpiryWait{3'600'000};

/// What published clients expect to find in `data`, as JSON members without braces.
std::string spliced_members(const records::Delivery& delivery, const records::Message& message) {
  std::string members;
  if (delivery.queued_offline) members = format(R"("_offlineQueued":true,"_queuedAt":{})", message.ts);
  if (delivery.carriage == Carriage::ShadowIncoming || delivery.carriage == Carriage::ShadowOutgoing) {
    if (!members.empty()) members += ',';
    members += R"("_shadowCopy":true,"_shadowOf":)";
    protocol::append_json_string(members, delivery.shadow_of);
    members +=
        format(R"(,"_shadowDirection":"{}")", delivery.carriage == Carriage::ShadowIncoming ? "incoming" : "outgoing");
  }
  return members;
}

}  // namespace

DoneWhen Core::done_rule(const AgentState& agent, const Parcel& parcel) {
  const Connection* first = find(agent.connections.front());
  if (first == nullptr || !first->capabilities.ack) return DoneWhen::Written;
  // Published clients acknowledge a DELIVER but not a CHANNEL_MESSAGE; ours acknowledge both.
  const bool silent = parcel.delivery.carriage == Carriage::ChannelMessage && !first->capabilities.send_ack;
  return silent ? DoneWhen::Written : DoneWhen::Acknowledged;
}

bool Core::has_room(const AgentState& agent) {
  return std::ranges::all_of(agent.connections, [&](ConnectionId id) {
    const Connection* connection = find(id);
    return connection == nullptr || connection->waiting_bytes < limits_.max_waiting_bytes;
  });
}

void Core::pump(AgentState& agent) {
  if (!agent.mailbox.connected() || !agent.connected() || store_ != StoreState::Works) return;
  while (has_room(agent)) {
    InFlight* item = agent.mailbox.send_next([&](const Parcel& parcel) { return done_rule(agent, parcel); });
    if (item == nullptr) break;
    deliver(agent, *item);
  }
  if (agent.mailbox.wants_page()) {
    flush_changes();
    emit(LoadBacklog{{.to = agent.name(),
                      .after = agent.mailbox.begin_load(),
                      .max_rows = limits_.max_page_rows,
                      .max_bytes = limits_.max_page_bytes}});
  }
}

void Core::deliver(AgentState& agent, InFlight& item) {
  const auto& delivery = item.parcel.delivery;
  const auto& message = *item.parcel.message;
  if (delivery.expires_at <= now_.wall) {
    // Out of time while it waited. Final here and now: were the wall clock to step back, it would be sent after later
    // ones of its stream, and be taken for a repetition.
    expire_delivery(agent, *agent.mailbox.finish(delivery.key));
    return;
  }
  for (const auto& position : agent.resume_positions) {
    const bool topic_fits =
        position.topic == message.topic.value() || (message.topic.value().empty() && position.topic == "default");
    if (topic_fits && (position.peer.empty() || position.peer == message.from.value()) &&
        delivery.seq.value() <= position.last_seq) {
      complete(agent, *agent.mailbox.finish(delivery.key), Proof::Accepted);  // RESUME said it was received
      return;
    }
  }
  transmit(agent, item.parcel);
  if (item.done == DoneWhen::Written) return;
  put_off_resend(item);
  arm_resend(agent, item.resend_at);
}

void Core::transmit(AgentState& agent, const Parcel& parcel) {
  const std::string frame = frame_of(agent, parcel);
  for (const ConnectionId id : agent.connections) {
    Connection* connection = find(id);
    if (connection != nullptr && connection->phase == Phase::Active) send(*connection, frame);
  }
}

void Core::put_off_resend(InFlight& item) const {
  const Millis shortest{limits_.ack_timeout_ms};
  const Millis longest = std::max(Millis{protocol::kMaxAckTimeoutMs}, shortest);
  item.resend_after = std::clamp(2 * item.resend_after, shortest, longest);
  item.resend_at = now_.steady + item.resend_after;
}

std::string Core::frame_of(const AgentState& agent, const Parcel& parcel) const {
  const auto& delivery = parcel.delivery;
  const auto& message = *parcel.message;
  std::string_view payload = message.payload;
  std::string spliced;
  if (const std::string members = spliced_members(delivery, message); !members.empty()) {
    if (const auto view = protocol::parse_send(payload)) {
      spliced = protocol::splice_data(payload, *view, members);
      payload = spliced;
    }
  }
  const bool channel = delivery.carriage == Carriage::ChannelMessage;
  const bool own_address = channel || message.to == agent.name().value() || message.to == protocol::kConsensus;
  const std::string id = records::delivery_id(delivery.key);
  const std::string message_id = records::short_id(message.key);
  const std::string block = protocol::write_delivery({
      .seq = delivery.seq.value(),
      .session_id = agent.session->id.value(),
      .original_to = own_address ? std::string_view{} : std::string_view{message.to},
      .message_id = message_id,
  });
  return protocol::write_envelope({
      .type = channel ? MessageType::ChannelMessage : MessageType::Deliver,
      .id = id,
      .ts = message.ts,
      .from = message.from.value(),
      .to = channel ? std::string_view{} : std::string_view{agent.name().value()},
      .topic = message.topic.value(),
      .payload = payload,
      .payload_meta = message.payload_meta,
      .delivery = block,
  });
}

void Core::on_ack(Connection& connection, const protocol::Envelope& envelope) {
  const auto ack = protocol::parse_ack(envelope.payload);
  if (!ack) return error(connection, protocol::ErrorCode::BadRequest, ack.error().message());
  if (!ack->correlation_id.empty()) {
    const auto place = syncs_.find(ack->correlation_id);
    if (place != syncs_.end() && (place->second.to.empty() || place->second.to == connection.agent.value())) {
      if (Connection* asker = find(place->second.asker); asker != nullptr && asker->speaks()) {
        say(*asker, MessageType::Ack, envelope.payload, connection.agent.value(), asker->agent.value());
      }
      syncs_.erase(place);
    }
  }
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto key = records::key_of_delivery_id(ack->ack_id);
  if (agent == nullptr || !key) return;
  // One that is not in flight was acknowledged before, or expired: nothing to say about it.
  if (const auto item = agent->mailbox.finish(*key)) complete(*agent, *item, Proof::Accepted);
  pump(*agent);
}

void Core::complete(AgentState& agent, const InFlight& item, Proof proof, std::string_view how) {
  const auto& delivery = item.parcel.delivery;
  agent.mailbox.settled_one();
  finished_.insert(delivery.key);
  ++agent.received;
  streams_.acknowledged(item.parcel.message->topic, item.parcel.message->from, agent.name(), delivery.seq);
  save_eventually(records::ChangeDelivery{delivery.key, DeliveryState::Delivered, proof, now_.wall, std::string{how}});
  tell_sender(delivery.message, delivery.key, ReceiptStatus::Delivered, proof, how);
}

void Core::fail_delivery(AgentState& agent, const InFlight& item, std::string_view reason, ReceiptStatus status) {
  const bool doubt = status == ReceiptStatus::InDoubt;
  agent.mailbox.settled_one();
  finished_.insert(item.parcel.delivery.key);
  save_eventually(
      records::ChangeDelivery{item.parcel.delivery.key, doubt ? DeliveryState::InDoubt : DeliveryState::Failed,
                              doubt ? Proof::Written : item.parcel.delivery.proof, now_.wall, std::string{reason}});
  tell_sender(item.parcel.delivery.message, item.parcel.delivery.key, status, Proof::Stored, reason);
}

void Core::expire_delivery(AgentState& agent, const InFlight& item) {
  const auto& delivery = item.parcel.delivery;
  constexpr std::string_view kReason = "it expired before it could be delivered";
  agent.mailbox.settled_one();
  finished_.insert(delivery.key);
  save_eventually(
      records::ChangeDelivery{delivery.key, DeliveryState::Expired, delivery.proof, now_.wall, std::string{kReason}});
  tell_sender(delivery.message, delivery.key, ReceiptStatus::Failed, Proof::Stored, kReason);
}

void Core::on_nack(Connection& connection, const protocol::Envelope& envelope) {
  const auto nack = protocol::parse_nack(envelope.payload);
  if (!nack) return error(connection, protocol::ErrorCode::BadRequest, nack.error().message());
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto key = records::key_of_delivery_id(nack->nack_id);
  if (agent == nullptr || !key) return;
  const auto refusal = protocol::refusal_named(nack->code);
  const auto place = agent->mailbox.flight().find(*key);
  if (place == agent->mailbox.flight().end()) return;
  if (refusal && is_retryable(*refusal)) {
    const Millis wait{std::clamp(nack->retry_after_ms, limits_.ack_timeout_ms, protocol::kMaxAckTimeoutMs)};
    place->second.resend_at = now_.steady + wait;
    arm_resend(*agent, place->second.resend_at);
    return;
  }
  fail_delivery(*agent, *agent->mailbox.finish(*key), nack->message.empty() ? nack->code : nack->message);
  pump(*agent);
}

void Core::on_receipt(Connection& connection, const protocol::Envelope& envelope) {
  const auto receipt = protocol::parse_receipt(envelope.payload);
  if (!receipt) return error(connection, protocol::ErrorCode::BadRequest, receipt.error().message());
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto key = records::key_of_delivery_id(receipt->delivery_id);
  if (agent == nullptr || !key) return;
  const auto place = agent->mailbox.flight().find(*key);
  if (place == agent->mailbox.flight().end()) return;
  switch (receipt->status) {
    case ReceiptStatus::Delivered: {
      const Proof proof = receipt->proof == "seen"        ? Proof::Seen
                          : receipt->proof == "submitted" ? Proof::Submitted
                                                          : Proof::Accepted;
      complete(*agent, *agent->mailbox.finish(*key), proof, receipt->reason);
      break;
    }
    case ReceiptStatus::Failed:
    case ReceiptStatus::InDoubt:
      fail_delivery(*agent, *agent->mailbox.finish(*key), receipt->reason, receipt->status);
      break;
    case ReceiptStatus::Accepted:
    case ReceiptStatus::Deferred:
      // The session has it: it is not sent again on this connection, and stays in flight until there is more to say.
      place->second.resend_at = SteadyTime::max();
      save_eventually(records::ChangeDelivery{
          *key, receipt->status == ReceiptStatus::Accepted ? DeliveryState::Accepted : DeliveryState::Deferred,
          Proof::Accepted, now_.wall, receipt->reason});
      return;
  }
  pump(*agent);
}

void Core::arm_resend(AgentState& agent, SteadyTime at) {
  if (agent.resend_at && *agent.resend_at <= at) return;
  agent.resend_at = at;
  timers_.arm(at, {.kind = TimerKind::Resend, .name = agent.name().value()});
}

void Core::resend_due(AgentState& agent, SteadyTime due) {
  if (agent.resend_at != due) return;  // another one was armed for an earlier time
  agent.resend_at.reset();
  if (!agent.mailbox.connected()) return;
  auto next = SteadyTime::max();
  const bool room = has_room(agent);
  for (auto& [key, item] : agent.mailbox.flight()) {
    if (item.done == DoneWhen::Written) continue;
    if (item.resend_at <= now_.steady) {
      // A peer that has not taken what it was sent needs time, not another copy.
      put_off_resend(item);
      if (room) transmit(agent, item.parcel);
    }
    next = std::min(next, item.resend_at);
  }
  if (next != SteadyTime::max()) arm_resend(agent, next);
}

void Core::backlog(records::BacklogPage page) {
  AgentState* agent = find_agent(page.to.value());
  if (agent == nullptr) return;
  // Finished, though the store does not know it yet: not to be sent or counted again.
  std::erase_if(page.items, [&](const auto& item) { return finished_.contains(item.delivery.key); });
  agent->mailbox.page_arrived(std::move(page));
  pump(*agent);
}

void Core::backlog_failed(const AgentName& to, std::string_view why) {
  AgentState* agent = find_agent(to.value());
  if (agent == nullptr) return;
  note(Note::Level::Warn, format("the mail of {} could not be read: {}", to.value(), why));
  agent->mailbox.page_failed();
  timers_.arm(now_.steady + kReloadRetryDelay, {.kind = TimerKind::ReloadRetry, .name = to.value()});
}

void Core::arm_expiry(WallMs at) {
  if (next_expiry_ != 0 && next_expiry_ <= at && (expiry_due_ || expiring_)) return;
  next_expiry_ = next_expiry_ == 0 ? at : std::min(at, next_expiry_);
  const auto wait = std::clamp(Millis{next_expiry_ - now_.wall}, Millis{0}, kLongestExpiryWait);
  if (!expiring_) expiry_due_ = now_.steady + wait;
}

void Core::expire_due() {
  expiry_due_.reset();
  if (expiring_ || next_expiry_ == 0) return;
  if (next_expiry_ > now_.wall) return arm_expiry(next_expiry_);
  expiring_ = true;
  next_expiry_ = 0;
  flush_changes();
  emit(ExpireDue{{.now = now_.wall}});
}

void Core::expired(records::ExpireResult result) {
  expiring_ = false;
  const WallMs known = std::exchange(next_expiry_, 0);
  const auto finished = std::exchange(finished_while_expiring_, {});
  for (const auto& gone : result.expired) {
    if (finished_.contains(gone.delivery) || finished.contains(gone.delivery)) continue;  // it was finished first
    if (AgentState* to = find_agent(gone.to.value())) {
      to->mailbox.drop(gone.delivery);
      to->mailbox.settled_one();
      pump(*to);
    }
    tell_sender(gone.message, gone.delivery, ReceiptStatus::Failed, Proof::Stored,
                "it expired before it could be delivered");
  }
  if (known != 0) arm_expiry(known);
  if (result.next_expiry != 0) arm_expiry(result.next_expiry);
}

void Core::expire_failed(std::string_view why) {
  note(Note::Level::Warn, format("expired messages could not be marked: {}", why));
  expiring_ = false;
  next_expiry_ = next_expiry_ == 0 ? now_.wall : std::min(next_expiry_, now_.wall);  // what was due is due still
  expiry_due_ = now_.steady + kReloadRetryDelay;
}

void Core::tell_sender(Key message, Key delivery, ReceiptStatus status, Proof proof, std::string_view reason) {
  const auto awaited = receipts_.find(message);
  if (awaited == receipts_.end()) return;
  const auto ended = awaited->second.open.extract(delivery);
  if (ended.empty()) return;
  if (Connection* sender = find(awaited->second.connection); sender != nullptr && sender->speaks()) {
    say(*sender, MessageType::Receipt,
        protocol::write_receipt({.status = status,
                                 .delivery_id = records::delivery_id(delivery),
                                 .message_id = awaited->second.id,
                                 .agent = ended.mapped().value(),
                                 .proof = std::string{status == ReceiptStatus::Delivered ? name_of(proof) : ""},
                                 .reason = std::string{reason},
                                 .available_at = 0,
                                 .retryable = false}));
  }
  if (awaited->second.open.empty()) end_receipts(awaited);
}

void Core::end_receipts(std::map<Key, AwaitedReceipts>::iterator awaited) {
  if (Connection* sender = find(awaited->second.connection)) --sender->watched_messages;
  receipts_.erase(awaited);
}

}  // namespace relay::broker
