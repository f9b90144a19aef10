#include "store/memory/tables.h"

#include <algorithm>

#include "store/message_rows.h"

namespace relay::store {
namespace {

template <class Map>
void erase_from(Map& map, const typename Map::key_type& key, const typename Map::mapped_type::value_type& value) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(value);
  if (found->second.empty()) map.erase(found);
}

std::tuple<std::string, std::uint8_t, std::string> flow_of(const records::Delivery& delivery) {
  return {delivery.to.value(), protocol::lane_code(delivery.lane), delivery.from.value()};
}

// Overhead of a row in maps and indexes.
constexpr std::size_t kMessageOverheadBytes = 64;
constexpr std::size_t kDeliveryOverheadBytes = 256;

std::size_t bytes_of(const records::Message& message) {
  return sizeof message + kMessageOverheadBytes + size_of(message);
}

std::size_t bytes_of(const records::HistoryEntry& entry) {
  return sizeof entry + entry.reason.size() + entry.via.size() + entry.evidence.size();
}

std::size_t bytes_of(const MemoryTables::DeliveryRow& row) {
  std::size_t bytes = sizeof row + kDeliveryOverheadBytes;
  for (const auto& entry : row.history) bytes += bytes_of(entry);
  return bytes;
}

/// The fields of a delivery that the indexes depend on and that can change.
auto queue_key_of(const records::Delivery& delivery) {
  return std::tuple{is_final(delivery.state), ended_undelivered(delivery.state),  delivery.hold,
                    delivery.available_at,    protocol::lane_code(delivery.lane), delivery.rank};
}

}  // namespace

void MemoryTables::add(records::Message message) {
  const auto key = message.key.value();
  bytes += bytes_of(message);
  newest = std::max(newest, key);
  if (!message.thread.empty()) threads_[message.thread].insert(key);
  if (key <= scanned_up_to_) settled_late_.insert(key);
  messages.emplace_hint(messages.end(), key, std::move(message));
}

void MemoryTables::remove_message(std::int64_t key) {
  const auto found = messages.find(key);
  bytes -= bytes_of(found->second);
  if (!found->second.thread.empty()) erase_from(threads_, found->second.thread, key);
  messages.erase(found);
}

void MemoryTables::add(DeliveryRow row) {
  const auto& delivery = row.delivery;
  const auto key = delivery.key.value();
  bytes += bytes_of(row);
  newest = std::max({newest, key, delivery.rank.value()});
  by_message_.insert({delivery.message.value(), key});
  inbox_[delivery.to.value()].insert(key);
  enter_state(delivery);
  deliveries.emplace_hint(deliveries.end(), key, std::move(row));
}

void MemoryTables::remove_delivery(std::int64_t key) {
  const auto found = deliveries.find(key);
  const auto& delivery = found->second.delivery;
  bytes -= bytes_of(found->second);
  leave_state(delivery);
  by_message_.erase({delivery.message.value(), key});
  erase_from(inbox_, delivery.to.value(), key);
  deliveries.erase(found);
}

std::size_t MemoryTables::remove_all(std::int64_t message) {
  const auto keys = deliveries_of(message);
  for (const auto key : keys) remove_delivery(key);
  remove_message(message);
  return 1 + keys.size();
}

void MemoryTables::place(DeliveryRow& row, records::Delivery next) {
  if (queue_key_of(row.delivery) != queue_key_of(next)) {
    leave_state(row.delivery);
    enter_state(next);
  }
  newest = std::max(newest, next.rank.value());
  const auto message = next.message.value();
  if (message <= scanned_up_to_ && is_final(next.state)) settled_late_.insert(message);
  row.delivery = std::move(next);
}

void MemoryTables::advance(DeliveryRow& row, records::Delivery next, records::HistoryEntry entry) {
  bytes += bytes_of(entry);
  row.history.push_back(std::move(entry));
  place(row, std::move(next));
}

void MemoryTables::revert(std::int64_t key, records::Delivery before) {
  auto& row = deliveries.at(key);
  bytes -= bytes_of(row.history.back());
  row.history.pop_back();
  place(row, std::move(before));
}

std::optional<std::int64_t> MemoryTables::next_settled() {
  while (!settled_late_.empty()) {
    const auto key = *settled_late_.begin();
    settled_late_.erase(settled_late_.begin());
    if (messages.contains(key) && !is_pending(key)) return key;
  }
  for (auto at = messages.upper_bound(scanned_up_to_); at != messages.end(); ++at) {
    scanned_up_to_ = at->first;
    if (!is_pending(scanned_up_to_)) return scanned_up_to_;
  }
  return std::nullopt;
}

std::vector<std::int64_t> MemoryTables::deliveries_of(std::int64_t message) const {
  std::vector<std::int64_t> keys;
  for (auto at = by_message_.lower_bound({message, 0}); at != by_message_.end() && at->first == message; ++at)
    keys.push_back(at->second);
  return keys;
}

bool MemoryTables::is_pending(std::int64_t message) const {
  for (auto at = by_message_.lower_bound({message, 0}); at != by_message_.end() && at->first == message; ++at)
    if (!is_final(deliveries.at(at->second).delivery.state)) return true;
  return false;
}

void MemoryTables::enter_state(const records::Delivery& delivery) {
  const auto key = delivery.key.value();
  if (ended_undelivered(delivery.state)) {
    dead_.insert(key);
    dead_of_[delivery.to.value()].insert(key);
  }
  if (is_final(delivery.state)) return;
  pending_[delivery.to.value()].insert(key);
  if (delivery.expires_at > 0) expiring_.emplace(delivery.expires_at, key);
  if (delivery.hold == records::Hold::Time) due_.emplace(delivery.available_at, key);
  if (delivery.hold == records::Hold::None) ready_[flow_of(delivery)].emplace(delivery.rank.value(), key);
}

void MemoryTables::leave_state(const records::Delivery& delivery) {
  const auto key = delivery.key.value();
  if (ended_undelivered(delivery.state)) {
    dead_.erase(key);
    erase_from(dead_of_, delivery.to.value(), key);
  }
  if (is_final(delivery.state)) return;
  erase_from(pending_, delivery.to.value(), key);
  if (delivery.expires_at > 0) expiring_.erase({delivery.expires_at, key});
  if (delivery.hold == records::Hold::Time) due_.erase({delivery.available_at, key});
  if (delivery.hold == records::Hold::None) erase_from(ready_, flow_of(delivery), {delivery.rank.value(), key});
}

}  // namespace relay::store
