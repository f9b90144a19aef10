// Receipts: what a session says about a delivery becomes a line of the ledger, and the line is told on.
#include <algorithm>

#include "base/format.h"
#include "broker/core.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::ReceiptStatus;
using records::DeliveryState;
using records::Hold;
using records::Proof;

namespace {

constexpr std::size_t kMaxFollowed = 256;  // messages of a connection that were delivered and may still be seen

Proof parse_proof(std::string_view name) {
  for (const Proof proof : {Proof::Written, Proof::Submitted, Proof::Seen}) {
    if (name_of(proof) == name) return proof;
  }
  return Proof::Accepted;
}

ReceiptStatus status_of(DeliveryState state) {
  switch (state) {
    case DeliveryState::Queued:
    case DeliveryState::Accepted: return ReceiptStatus::Accepted;
    case DeliveryState::Delivered: return ReceiptStatus::Delivered;
    case DeliveryState::Deferred: return ReceiptStatus::Deferred;
    case DeliveryState::InDoubt: return ReceiptStatus::InDoubt;
    case DeliveryState::Failed:
    case DeliveryState::Expired:
    case DeliveryState::Cancelled:
    case DeliveryState::Dead: return ReceiptStatus::Failed;
  }
  std::unreachable();
}

/// Doubled with every failure.
std::int64_t pause_after(std::uint32_t failures) {
  std::int64_t pause = protocol::kFirstRetryMs;
  for (std::uint32_t n = 1; n < failures && pause < protocol::kMaxRetryMs; ++n) pause *= 2;
  return std::min(pause, protocol::kMaxRetryMs);
}

}  // namespace

// ---------------------------------------------------------------- what sessions say

void Core::on_ack(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto ack = protocol::parse_ack(envelope.payload);
  if (!ack) return error(connection, protocol::ErrorCode::BadRequest, ack.error().message());
  if (!ack->correlation_id.empty()) {
    const auto place = syncs_.find(ack->correlation_id);
    if (place != syncs_.end() && (place->second.to.empty() || place->second.to == connection.agent.value())) {
      if (ConnectionState* asker = find(place->second.asker); asker != nullptr && asker->speaks()) {
        send_new(*asker, MessageType::Ack, envelope.payload, connection.agent.value(), asker->agent.value());
      }
      end_sync(place);
    }
  }
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto key = records::key_of_delivery_id(ack->ack_id);
  if (agent == nullptr || !key) return;
  if (!agent->session->capabilities.queue) {  // it is the one whom the message is for: that is the end of it
    if (const auto item = agent->mailbox.finish(*key)) {
      complete(*agent, *item, {.key = *key, .proof = Proof::Accepted});
      return deliver_pending(*agent);
    }
  }
  const protocol::Receipt taken{.status = ReceiptStatus::Delivered, .delivery_id = ack->ack_id};
  if (agent->mailbox.flight().contains(*key)) return on_receipt_for(*agent, *key, taken);
  if (agent->session->capabilities.modes) return on_late_receipt(*agent, *key, taken);
  deliver_pending(*agent);  // acknowledged before, or expired: nothing to say about it
}

void Core::on_nack(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto nack = protocol::parse_nack(envelope.payload);
  if (!nack) return error(connection, protocol::ErrorCode::BadRequest, nack.error().message());
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto key = records::key_of_delivery_id(nack->nack_id);
  if (agent == nullptr || !key) return;
  const auto item = agent->mailbox.finish(*key);
  if (!item) return;
  const auto refusal = protocol::parse_nack_code(nack->code);
  records::ChangeDelivery line{.key = *key, .reason = nack->message.empty() ? nack->code : nack->message};
  if (refusal && is_retryable(*refusal))
    take_given_back(*agent, *item, [&] { retry_later(*agent, *item, std::move(line), nack->retry_after_ms); });
  else
    end_delivery(*agent, item->parcel, DeliveryState::Failed, std::move(line));
  deliver_pending(*agent);
}

void Core::on_receipt(ConnectionState& connection, const protocol::Envelope& envelope) {
  const auto receipt = protocol::parse_receipt(envelope.payload);
  if (!receipt) return error(connection, protocol::ErrorCode::BadRequest, receipt.error().message());
  AgentState* agent = connection.query_only ? nullptr : find_agent(connection.agent.value());
  const auto key = records::key_of_delivery_id(receipt->delivery_id);
  if (agent == nullptr || !key) return;
  if (agent->mailbox.flight().contains(*key))
    on_receipt_for(*agent, *key, *receipt);
  else
    on_late_receipt(*agent, *key, *receipt);
}

records::ChangeDelivery Core::history_entry_of(Key key, const protocol::Receipt& receipt) {
  return {.key = key,
          .proof = receipt.status == ReceiptStatus::InDoubt ? Proof::Written : parse_proof(receipt.proof),
          .reason = receipt.reason,
          .via = receipt.via,
          .evidence = receipt.evidence,
          .metadata = receipt.metadata};
}

std::optional<DeliveryState> Core::end_of(const AgentState& agent, const protocol::Receipt& receipt) {
  if (protocol::keeps_delivery(receipt) || protocol::returns_delivery(receipt)) return std::nullopt;
  switch (receipt.status) {
    case ReceiptStatus::Delivered:
      // A session that brings messages to somebody else must show that they came; one that is the somebody need not.
      if (agent.session->capabilities.queue && parse_proof(receipt.proof) < Proof::Submitted) return std::nullopt;
      return DeliveryState::Delivered;
    case ReceiptStatus::InDoubt: return DeliveryState::InDoubt;
    case ReceiptStatus::Failed:
      if (receipt.code == protocol::kCancelled) return DeliveryState::Cancelled;
      return receipt.code == name_of(protocol::NackCode::Expired) ? DeliveryState::Expired : DeliveryState::Failed;
    case ReceiptStatus::Accepted:
    case ReceiptStatus::Deferred: break;
  }
  return std::nullopt;
}

/// About a delivery in flight.
void Core::on_receipt_for(AgentState& agent, Key key, const protocol::Receipt& receipt) {
  InFlight& item = agent.mailbox.flight().at(key);
  records::ChangeDelivery line = history_entry_of(key, receipt);
  const auto end = end_of(agent, receipt);
  if (!end && protocol::returns_delivery(receipt)) {
    const InFlight given = *agent.mailbox.finish(key);
    take_given_back(agent, given, [&] {
      if (receipt.status == ReceiptStatus::Failed)
        retry_later(agent, given, std::move(line), 0);
      else
        defer(agent, given, std::move(line), receipt.available_at);
    });
  } else if (!end) {
    if (receipt.status == ReceiptStatus::Deferred) line.state = DeliveryState::Deferred;
    return keep(agent, item, std::move(line));
  } else if (*end == DeliveryState::Delivered) {
    complete(agent, *agent.mailbox.finish(key), std::move(line));
  } else {
    end_delivery(agent, agent.mailbox.finish(key)->parcel, *end, std::move(line));
  }
  deliver_pending(agent);
}

// ---------------------------------------------------------------- what becomes of a delivery

/// The session has it: it is not sent again on this connection, and stays in flight until there is more to say.
void Core::keep(AgentState& agent, InFlight& item, records::ChangeDelivery line) {
  item.resend_at = SteadyTime::max();
  auto& delivery = item.parcel.delivery;
  if (line.state != DeliveryState::Deferred) line.state = DeliveryState::Accepted;
  line.proof = std::max(line.proof, delivery.proof);
  const bool news = line.state != delivery.state || line.proof != delivery.proof || !line.reason.empty();
  delivery.state = line.state;
  delivery.proof = line.proof;
  if (news) record_history(agent, item.parcel.message, std::move(line));
}

void Core::count_sent(const AgentName& sender) {
  AgentState* agent = find_agent(sender.value());
  if (agent == nullptr) return;
  ++agent->sent;
  counts_changed_ = true;
}

void Core::count_received(AgentState& agent) {
  ++agent.received;
  counts_changed_ = true;
}

/// Nothing further happens to it by itself.
void Core::settle_delivery(AgentState& agent, Key key) {
  agent.mailbox.settled_one();
  agent.asked_back.erase(key);
  agent.failing_since.erase(key);
  unseen_.add(DeliveryChange::Finished, key);
}

void Core::complete(AgentState& agent, const InFlight& item, records::ChangeDelivery line) {
  const auto& delivery = item.parcel.delivery;
  settle_delivery(agent, delivery.key);
  count_received(agent);
  streams_.acknowledged(item.parcel.message->topic, item.parcel.message->from, agent.name(), delivery.lane,
                        delivery.seq);
  line.proof = std::max(line.proof, delivery.proof);
  if (line.proof < Proof::Seen && agent.session && agent.session->capabilities.modes) {  // others never tell more
    agent.done.push_back({delivery.key, line.proof, delivery.message, delivery.from});
    if (agent.done.size() > kMaxDone) agent.done.pop_front();
  }
  line.state = DeliveryState::Delivered;
  agent.thread = item.parcel.message->thread;
  record_history(agent, item.parcel.message, std::move(line));
}

void Core::end_delivery(AgentState& agent, const OutboundDelivery& parcel, DeliveryState state,
                        records::ChangeDelivery line) {
  settle_delivery(agent, parcel.delivery.key);
  if (state == DeliveryState::Delivered) count_received(agent);
  line.state = state;
  line.proof = std::max(line.proof, parcel.delivery.proof);
  record_history(agent, parcel.message, std::move(line));
}

/// What was asked back is given back for good; else it comes again.
template <class Again>
void Core::take_given_back(AgentState& agent, const InFlight& item, Again again) {
  const auto asked = agent.asked_back.find(item.parcel.delivery.key);
  if (asked == agent.asked_back.end()) return again();
  end_delivery(agent, item.parcel, DeliveryState::Cancelled,
               {.key = item.parcel.delivery.key, .reason = asked->second.reason});
}

void Core::retry_later(AgentState& agent, const InFlight& item, records::ChangeDelivery line, std::int64_t wait_ms) {
  const auto& delivery = item.parcel.delivery;
  const std::uint32_t failures = delivery.attempts + 1;
  line.attempts = failures;
  const std::string why = std::exchange(line.reason, {});
  const auto pause = std::clamp(wait_ms, pause_after(failures), protocol::kMaxRetryMs);
  const WallMs since = agent.failing_since.try_emplace(delivery.key, now_.wall).first->second;
  const bool too_old = now_.wall + pause > since + protocol::kMaxRetryAgeMs;
  if (failures >= protocol::kMaxAttempts || too_old) {
    line.reason = failures >= protocol::kMaxAttempts ? format("given up after {} tries; the last: {}", failures, why)
                                                     : format("given up after a day of tries; the last: {}", why);
    return end_delivery(agent, item.parcel, DeliveryState::Dead, std::move(line));
  }
  line.reason = format("try {} of {} failed: {}", failures, protocol::kMaxAttempts, why);
  defer(agent, item, std::move(line), now_.wall + pause);
}

/// It is not in its session's hands any more, and comes again at that time.
void Core::defer(AgentState& agent, const InFlight& item, records::ChangeDelivery line, WallMs until) {
  line.state = DeliveryState::Deferred;
  line.hold = Hold::Time;
  line.available_at = std::clamp(until, now_.wall + 1, now_.wall + protocol::kMaxTtlMs);
  line.proof = Proof::Stored;
  ++agent.mailbox.held;
  unseen_.add(DeliveryChange::Deferred, line.key);
  const WallMs at = line.available_at;
  record_history(agent, item.parcel.message, std::move(line));
  when_saved([this, at] { arm_due(at); });  // before that the store would not find it
}

// ---------------------------------------------------------------- telling

void Core::record_history(AgentState& agent, std::shared_ptr<const records::Message> message,
                          records::ChangeDelivery line, std::optional<protocol::NackCode> code) {
  line.at = now_.wall;
  if (agent.session) line.session = agent.session->id;
  if (line.state == DeliveryState::Expired) code = protocol::NackCode::Expired;
  if (line.state == DeliveryState::Delivered || line.proof >= Proof::Written)
    mark_request_given(agent.name(), message->key);
  if (limits_.explain)
    note(WriteLog::Level::Debug, format("delivery changed message={} to={} state={} proof={} via={} reason=\"{}\"",
                                        records::short_id(message->key), agent.name().value(), name_of(line.state),
                                        name_of(line.proof), line.via, line.reason));
  save_eventually(std::move(line), ReceiptContext{std::move(message), agent.name(), code});
}

void Core::tell(const records::ChangeDelivery& line, const ReceiptContext& news) {
  send_receipt(news.message->key, line, news.code);
}

void Core::send_receipt(Key message, const records::ChangeDelivery& line, std::optional<protocol::NackCode> code) {
  const auto awaited = receipts_.find(message);
  if (awaited == receipts_.end()) return;
  auto& entry = awaited->second;
  const auto open = entry.open.find(line.key);
  if (open == entry.open.end()) return;
  const bool ends = records::is_final(line.state);
  const bool may_be_seen = entry.steps && line.state == DeliveryState::Delivered && line.proof < Proof::Seen;
  ConnectionState* sender = find(entry.connection);
  if (sender != nullptr && sender->speaks() && (ends || entry.steps)) {
    const bool proven = line.state == DeliveryState::Delivered || line.state == DeliveryState::Accepted;
    send_new(*sender, MessageType::Receipt,
             protocol::write_receipt({.status = status_of(line.state),
                                      .delivery_id = records::delivery_id(line.key),
                                      .message_id = entry.id,
                                      .agent = open->second.value(),
                                      .proof = std::string{proven ? name_of(line.proof) : ""},
                                      .reason = line.reason,
                                      .available_at = line.available_at,
                                      .retryable = line.hold == Hold::Time && line.attempts.has_value(),
                                      .code = std::string{code ? name_of(*code) : ""},
                                      .via = line.via,
                                      .evidence = line.evidence,
                                      .metadata = line.metadata,
                                      .at = line.at}));
  }
  if (!ends) return;
  if (may_be_seen && sender != nullptr) {
    entry.delivered.insert(line.key);
  } else {
    entry.delivered.erase(line.key);
    entry.open.erase(open);
  }
  if (entry.open.empty()) return end_receipts(awaited);
  // Nothing but proof may come of it now, which is waited for as long as there is room.
  if (sender == nullptr || entry.delivered.size() < entry.open.size() || std::exchange(entry.followed, true)) return;
  sender->followed.push_back(message);
  if (sender->followed.size() <= kMaxFollowed) return;
  const auto oldest = receipts_.find(sender->followed.front());
  sender->followed.pop_front();
  if (oldest != receipts_.end() && oldest->second.connection == sender->id) end_receipts(oldest);
}

void Core::end_receipts(std::map<Key, AwaitedReceipts>::iterator awaited) {
  if (ConnectionState* sender = find(awaited->second.connection)) --sender->watched_messages;
  receipts_.erase(awaited);
}

}  // namespace relay::broker
