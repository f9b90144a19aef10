/// What was done to deliveries and a look into the store may not show yet.
///
/// Why: the store is asked (what is held, what is dead, what has expired) and answers later, perhaps as it was before a
///   commit that has ended by now. Whoever acts on such an answer asks here first whether the row is out of date.
/// Invariant: a deed is known from the moment it is decided until it is stored and no look is under way that began
///   before that. Bounded by what is being stored and what was stored during the oldest look.
/// Threading: the broker's.
#pragma once

#include <cstdint>
#include <deque>
#include <set>
#include <unordered_map>
#include <utility>

#include "protocol/names.h"

namespace relay::broker {

enum class DeliveryChange : std::uint8_t { Finished, Deferred, Requeued, Redelivered };

class UnseenChanges {
 public:
  using ReadId = std::uint64_t;

  void add(DeliveryChange deed, Key delivery) { ++deeds_[{deed, delivery}]; }
  /// It could not be stored, and is not tried again.
  void undo(DeliveryChange deed, Key delivery) { drop({deed, delivery}); }
  void stored(DeliveryChange deed, Key delivery) {
    if (!deeds_.contains({deed, delivery})) return;
    if (looks_.empty()) return drop({deed, delivery});
    stored_.push_back({next_, {deed, delivery}});
  }
  [[nodiscard]] bool has(DeliveryChange deed, Key delivery) const { return deeds_.contains({deed, delivery}); }

  ReadId begin_read() {
    looks_.insert(++next_);
    return next_;
  }
  void end_read(ReadId look) {
    looks_.erase(look);
    while (!stored_.empty() && (looks_.empty() || stored_.front().first < *looks_.begin())) {
      drop(stored_.front().second);
      stored_.pop_front();
    }
  }

 private:
  using Entry = std::pair<DeliveryChange, Key>;
  struct EntryHash {
    std::size_t operator()(const Entry& entry) const {
      return static_cast<std::size_t>(entry.second.value()) * 4 + static_cast<std::size_t>(entry.first);
    }
  };
  void drop(const Entry& entry) {
    const auto place = deeds_.find(entry);
    if (place != deeds_.end() && --place->second == 0) deeds_.erase(place);
  }

  std::unordered_map<Entry, unsigned, EntryHash> deeds_;
  std::deque<std::pair<ReadId, Entry>> stored_;  // with the newest look that may have missed it
  std::set<ReadId> looks_;                       // under way
  ReadId next_ = 0;
};

}  // namespace relay::broker
