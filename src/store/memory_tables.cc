#include "store/memory_tables.h"

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
  return {delivery.to.value(), protocol::code_of(delivery.lane), delivery.from.value()};
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
  newest = std::max({newest, key, delivery.rank.value()});
  by_message_[delivery.message.value()].insert(key);
  inbox_[delivery.to.value()].insert(key);
  enter_state(delivery);
  deliveries.emplace(key, std::move(tracked));
}

void MemoryTables::remove_delivery(std::int64_t key) {
  const auto found = deliveries.find(key);
  const auto& delivery = found->second.delivery;
  leave_state(delivery);
  erase_from(by_message_, delivery.message.value(), key);
  erase_from(inbox_, delivery.to.value(), key);
  deliveries.erase(found);
}

void MemoryTables::replace(std::int64_t key, Tracked tracked) {
  auto& current = deliveries.at(key);
  leave_state(current.delivery);
  current = std::move(tracked);
  newest = std::max(newest, current.delivery.rank.value());
  enter_state(current.delivery);
}

bool MemoryTables::is_pending(std::int64_t message) const {
  const auto& keys = deliveries_of(message);
  return std::any_of(keys.begin(), keys.end(), [&](auto key) { return !is_final(deliveries.at(key).delivery.state); });
}

void MemoryTables::enter_state(const records::Delivery& delivery) {
  const auto key = delivery.key.value();
  if (is_dead(delivery.state)) {
    dead_.insert(key);
    dead_of_[delivery.to.value()].insert(key);
  }
  if (is_final(delivery.state)) return;
  pending_[delivery.to.value()].insert(key);
  if (delivery.expires_at > 0) expiring_.emplace(delivery.expires_at, key);
  if (delivery.hold == records::Hold::Time) due_.emplace(delivery.available_at, key);
  if (delivery.hold == records::Hold::None) waiting_[flow_of(delivery)].emplace(delivery.rank.value(), key);
}

void MemoryTables::leave_state(const records::Delivery& delivery) {
  const auto key = delivery.key.value();
  dead_.erase(key);
  erase_from(dead_of_, delivery.to.value(), key);
  erase_from(pending_, delivery.to.value(), key);
  expiring_.erase({delivery.expires_at, key});
  due_.erase({delivery.available_at, key});
  erase_from(waiting_, flow_of(delivery), {delivery.rank.value(), key});
}

}  // namespace relay::store
