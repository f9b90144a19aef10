/// The memory store's rows and the orders they are found by. Private to src/store.
///
/// Invariants: every index agrees with the rows: rows enter and leave only through the functions here.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "records/events.h"
#include "records/records.h"

namespace relay::store {

class MemoryTables {
 public:
  struct Tracked {
    records::Delivery delivery;
    std::vector<records::DeliveryEvent> history;
  };
  using Keys = std::set<std::int64_t>;

  void add(records::Message message);
  void remove_message(std::int64_t key);
  void add(Tracked tracked);
  void remove_delivery(std::int64_t key);
  /// Changes what may change of a delivery, keeping the indexes in step.
  void replace(std::int64_t key, Tracked tracked);

  [[nodiscard]] const Keys& deliveries_of(std::int64_t message) const { return at(by_message_, message); }
  [[nodiscard]] const Keys& inbox_of(const std::string& agent) const { return at(inbox_, agent); }
  [[nodiscard]] const Keys& pending_of(const std::string& agent) const { return at(pending_, agent); }
  [[nodiscard]] const Keys& dead_of(const std::string& agent) const { return at(dead_of_, agent); }
  [[nodiscard]] const Keys& thread(const std::string& name) const { return at(threads_, name); }
  [[nodiscard]] const std::map<std::string, Keys>& pending() const { return pending_; }
  [[nodiscard]] const std::set<std::pair<WallMs, std::int64_t>>& expiring() const { return expiring_; }
  /// Deliveries that are held for a time, by its end.
  [[nodiscard]] const std::set<std::pair<WallMs, std::int64_t>>& due() const { return due_; }
  [[nodiscard]] const Keys& dead() const { return dead_; }
  /// The queue of one flow: ranks and whose they are.
  using Ranks = std::set<std::pair<std::int64_t, std::int64_t>>;
  [[nodiscard]] const Ranks& waiting(const std::string& to, protocol::Lane lane, const std::string& from) const {
    return at(waiting_, {to, protocol::code_of(lane), from});
  }
  [[nodiscard]] bool is_pending(std::int64_t message) const;

  std::map<std::int64_t, records::Message> messages;
  std::map<std::int64_t, Tracked> deliveries;
  std::map<std::tuple<std::string, std::string, std::string, std::uint8_t>, records::Stream> streams;
  std::map<std::string, records::Agent> agents;
  std::map<std::string, records::Session> sessions;
  std::map<std::pair<std::string, std::string>, bool> members;  // channel, member
  std::map<std::pair<std::string, std::string>, records::OutboxMark> marks;
  std::map<std::string, records::Proposal> proposals;
  struct EventRow {
    records::Event event;
    std::int64_t message = 0;   // 0: none
    std::int64_t delivery = 0;  // 0: none
    std::size_t line = 0;       // of its history
  };
  std::map<records::EventNumber, EventRow> events;
  std::map<std::pair<std::string, std::string>, records::Usage> usage;  // session, request
  std::map<std::string, records::Work> work;                            // by session
  records::EventNumber newest_event = 0;
  std::int64_t newest = 0;
  std::uint64_t bytes = 0;

 private:
  template <class Map>
  static const typename Map::mapped_type& at(const Map& map, const typename Map::key_type& key) {
    static const typename Map::mapped_type none;
    const auto found = map.find(key);
    return found == map.end() ? none : found->second;
  }
  void enter_state(const records::Delivery& delivery);
  void leave_state(const records::Delivery& delivery);

  std::map<std::int64_t, Keys> by_message_;
  std::map<std::string, Keys> inbox_;
  std::map<std::string, Keys> pending_;
  std::map<std::string, Keys> threads_;
  std::set<std::pair<WallMs, std::int64_t>> expiring_, due_;
  std::map<std::tuple<std::string, std::uint8_t, std::string>, Ranks> waiting_;  // recipient, lane, sender
  Keys dead_;
  std::map<std::string, Keys> dead_of_;
};

}  // namespace relay::store
