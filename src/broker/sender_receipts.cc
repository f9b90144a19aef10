#include "broker/sender_receipts.h"

#include "base/format.h"
#include "records/short_id.h"

namespace relay::broker {

using protocol::MessageType;
using protocol::ReceiptStatus;
using records::DeliveryState;
using records::Hold;
using records::Proof;

namespace {

constexpr std::size_t kMaxAwaitedMessages = 4'096;
constexpr std::size_t kMaxDelivered = 256;

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

}  // namespace

void SenderReceipts::await(ConnectionState& sender, const PendingSend& sent) {
  if (sender.awaited->count >= kMaxAwaitedMessages) return;
  auto& awaited = awaited_[sent.message->key];
  awaited = {.connection = sender.id, .id = sent.id, .open = {}, .steps = sent.steps};
  ++sender.awaited->count;
  for (const auto& delivery : sent.deliveries) awaited.open.emplace(delivery.key, delivery.to);
  for (const auto& refused : sent.refused) awaited.open.emplace(refused.delivery.key, refused.delivery.to);
  if (awaited.open.empty()) end(awaited_.find(sent.message->key));
}

void SenderReceipts::send(Key message, const records::ChangeDelivery& entry, std::optional<protocol::NackCode> code) {
  const auto found = awaited_.find(message);
  if (found == awaited_.end()) return;
  Awaited& awaited = found->second;
  const auto open = awaited.open.find(entry.key);
  if (open == awaited.open.end()) return;
  const bool ends = records::is_final(entry.state);
  const bool may_be_seen = awaited.steps && entry.state == DeliveryState::Delivered && entry.proof < Proof::Seen;
  ConnectionState* sender = connections_.find(awaited.connection);
  if (sender != nullptr && sender->is_open() && (ends || awaited.steps)) {
    const bool proven = entry.state == DeliveryState::Delivered || entry.state == DeliveryState::Accepted;
    connections_.send_new(*sender, MessageType::Receipt,
                          protocol::write_receipt({.status = status_of(entry.state),
                                                   .delivery_id = records::delivery_id(entry.key),
                                                   .message_id = awaited.id,
                                                   .agent = open->second.value(),
                                                   .proof = std::string{proven ? name_of(entry.proof) : ""},
                                                   .reason = entry.reason,
                                                   .available_at = entry.available_at,
                                                   .retryable = entry.hold == Hold::Time && entry.attempts.has_value(),
                                                   .code = std::string{code ? name_of(*code) : ""},
                                                   .via = entry.via,
                                                   .evidence = entry.evidence,
                                                   .metadata = entry.metadata,
                                                   .at = entry.at}));
  }
  if (!ends) return;
  if (may_be_seen && sender != nullptr) {
    awaited.delivered.insert(entry.key);
  } else {
    awaited.delivered.erase(entry.key);
    awaited.open.erase(open);
  }
  if (awaited.open.empty()) return end(found);
  // Only a better proof is still possible. It is awaited as long as there is room.
  if (sender == nullptr || awaited.delivered.size() < awaited.open.size() || std::exchange(awaited.all_delivered, true))
    return;
  auto& delivered = sender->awaited->delivered;
  delivered.push_back(message);
  if (delivered.size() <= kMaxDelivered) return;
  const auto oldest = awaited_.find(delivered.front());
  delivered.pop_front();
  if (oldest != awaited_.end() && oldest->second.connection == sender->id) end(oldest);
}

void SenderReceipts::cancel_deliveries_to(const AgentName& agent, WallMs at) {
  std::vector<std::pair<Key, Key>> cancelled;  // message, delivery
  for (const auto& [message, awaited] : awaited_) {
    for (const auto& [delivery, to] : awaited.open) {
      if (to == agent) cancelled.emplace_back(message, delivery);
    }
  }
  for (const auto& [message, delivery] : cancelled) {
    send(message, {.key = delivery,
                   .state = DeliveryState::Cancelled,
                   .at = at,
                   .reason = format("{} was removed", agent.value())});
  }
}

void SenderReceipts::forget(const ConnectionState& sender) {
  if (sender.awaited->count > 0)
    std::erase_if(awaited_, [&](const auto& entry) { return entry.second.connection == sender.id; });
}

void SenderReceipts::end(Table::iterator awaited) {
  if (ConnectionState* sender = connections_.find(awaited->second.connection)) --sender->awaited->count;
  awaited_.erase(awaited);
}

}  // namespace relay::broker
