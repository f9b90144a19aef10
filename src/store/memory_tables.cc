#include "store/memory_tables.h"

#include <algorithm>

#include "store/message_rows.h"

namespace relay::store {
namespace {

template <class Map>
void erase_from(Map& map, const typename Map::key_type& key, std::int64_t value) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(value);
  if (found->second.empty()) map.erase(found);
}

}  // namespace

void MemoryTables::add(records::Message message) {
  const auto key = message.key.value();
  bytes += size_of(message);
  newest = std::max(newest, key);
  if (!message.thread.empty()) threads_[message.thread].insert(key);
  messages.emplace(key, std::move(message));
}

void MemoryTables::remove_message(std::int64_t key) {
  const auto found = messages.find(key);
  bytes -= size_of(found->second);
  erase_from(threads_, found->second.thread, key);
  messages.erase(found);
}

void MemoryTables::add(Tracked tracked) {
  const auto& delivery = tracked.delivery;
  const auto key = delivery.key.value();
  newest = std::max(newest, key);
  by_message_[delivery.message.value()].insert(key);
  inbox_[delivery.to.value()].insert(key);
  enter_pending(delivery);
  deliveries.emplace(key, std::move(tracked));
}

void MemoryTables::remove_delivery(std::int64_t key) {
  const auto found = deliveries.find(key);
  const auto& delivery = found->second.delivery;
  leave_pending(delivery);
  erase_from(by_message_, delivery.message.value(), key);
  erase_from(inbox_, delivery.to.value(), key);
  deliveries.erase(found);
}

void MemoryTables::replace(std::int64_t key, Tracked tracked) {
  auto& current = deliveries.at(key);
  leave_pending(current.delivery);
  current = std::move(tracked);
  enter_pending(current.delivery);
}

bool MemoryTables::is_pending(std::int64_t message) const {
  const auto& keys = deliveries_of(message);
  return std::any_of(keys.begin(), keys.end(), [&](auto key) { return !is_final(deliveries.at(key).delivery.state); });
}

void MemoryTables::enter_pending(const records::Delivery& delivery) {
  if (is_final(delivery.state)) return;
  pending_[delivery.to.value()].insert(delivery.key.value());
  if (delivery.expires_at > 0) expiring_.emplace(delivery.expires_at, delivery.key.value());
}

void MemoryTables::leave_pending(const records::Delivery& delivery) {
  erase_from(pending_, delivery.to.value(), delivery.key.value());
  expiring_.erase({delivery.expires_at, delivery.key.value()});
}

}  // namespace relay::store
