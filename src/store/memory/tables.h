/// The memory store's rows and their indexes. Private to src/store.
///
/// Invariants: every index agrees with the rows, because rows are added and removed only by the functions here.
///   next_settled() finds every settled message in the end; it examines each message once, or once more if it settles
///   late.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "records/events.h"
#include "records/queries.h"
#include "records/records.h"
#include "store/memory/event_log.h"
#include "store/memory/sorted_deque.h"

namespace relay::store {

class MemoryTables {
 public:
  struct DeliveryRow {
    records::Delivery delivery;
    std::vector<records::HistoryEntry> history;
  };
  using Keys = std::set<std::int64_t>;

  void add(records::Message message);
  void remove_message(std::int64_t key);
  void add(DeliveryRow row);
  void remove_delivery(std::int64_t key);
  /// Removes a message with its deliveries; returns the number of rows removed.
  std::size_t remove_all(std::int64_t message);
  /// Replaces a delivery and adds a history entry.
  void advance(DeliveryRow& row, records::Delivery next, records::HistoryEntry entry);
  /// Undoes advance(): the earlier delivery, without the newest history entry.
  void revert(std::int64_t key, records::Delivery before);
  /// The oldest message without pending deliveries among those not returned before.
  std::optional<std::int64_t> next_settled();

  [[nodiscard]] std::vector<std::int64_t> deliveries_of(std::int64_t message) const;
  [[nodiscard]] const SortedDeque<std::int64_t>& inbox_of(const std::string& agent) const { return at(inbox_, agent); }
  [[nodiscard]] const Keys& pending_of(const std::string& agent) const { return at(pending_, agent); }
  [[nodiscard]] const Keys& dead_of(const std::string& agent) const { return at(dead_of_, agent); }
  [[nodiscard]] const Keys& thread(const std::string& name) const { return at(threads_, name); }
  [[nodiscard]] const std::map<std::string, Keys>& pending() const { return pending_; }
  [[nodiscard]] const std::set<std::pair<WallMs, std::int64_t>>& expiring() const { return expiring_; }
  /// Delayed deliveries, by available_at.
  [[nodiscard]] const std::set<std::pair<WallMs, std::int64_t>>& due() const { return due_; }
  [[nodiscard]] const Keys& dead() const { return dead_; }
  /// The queue of one flow: ranks and their deliveries.
  using Ranks = std::set<std::pair<std::int64_t, std::int64_t>>;
  [[nodiscard]] const Ranks& ready(const std::string& to, protocol::Lane lane, const std::string& from) const {
    return at(ready_, {to, protocol::lane_code(lane), from});
  }
  [[nodiscard]] bool is_pending(std::int64_t message) const;

  std::map<std::int64_t, records::Message> messages;
  std::map<std::int64_t, DeliveryRow> deliveries;
  std::map<std::tuple<std::string, std::string, std::string, std::uint8_t>, records::Stream> streams;
  std::map<std::tuple<std::string, std::string, std::uint8_t>, records::Stream> stream_marks;
  std::map<std::string, records::Agent> agents;
  std::map<std::string, records::WorkspaceState::Counts> counts;  // one for each agent
  std::map<std::string, records::Session> sessions;
  std::map<std::pair<std::string, std::string>, bool> members;  // channel, member
  std::map<std::pair<std::string, std::string>, records::OutboxMark> marks;
  std::map<std::string, records::Proposal> proposals;
  MemoryEventLog log;
  std::map<std::pair<std::string, std::string>, records::UsageRow> usage;  // session, request
  std::map<std::string, records::SessionStats> session_stats;              // by session
  std::int64_t newest = 0;
  std::uint64_t bytes = 0;  // of messages and deliveries

 private:
  template <class Map>
  static const typename Map::mapped_type& at(const Map& map, const typename Map::key_type& key) {
    static const typename Map::mapped_type none;
    const auto found = map.find(key);
    return found == map.end() ? none : found->second;
  }
  void enter_state(const records::Delivery& delivery);
  void leave_state(const records::Delivery& delivery);
  void place(DeliveryRow& row, records::Delivery next);

  SortedDeque<std::pair<std::int64_t, std::int64_t>> by_message_;  // message, delivery
  std::map<std::string, SortedDeque<std::int64_t>> inbox_;
  std::map<std::string, Keys> pending_;
  std::map<std::string, Keys> threads_;
  std::set<std::pair<WallMs, std::int64_t>> expiring_, due_;
  std::map<std::tuple<std::string, std::uint8_t, std::string>, Ranks> ready_;  // recipient, lane, sender
  Keys dead_;
  std::map<std::string, Keys> dead_of_;
  std::int64_t scanned_up_to_ = 0;  // next_settled() has examined the messages up to here
  Keys settled_late_;               // examined while pending, and possibly settled since
};

}  // namespace relay::store
