/// Delivery changes that a store read in progress may not reflect yet.
///
/// Why: the store answers a query later, perhaps from before a commit that has ended by then. A part that acts on such
///   a result checks here first whether the row is out of date.
/// Invariant: a change is listed from its decision until it is stored and no read that started before that is in
///   progress. Bounded by the changes that are being stored and those stored during the oldest read.
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

class ChangesDuringRead {
 public:
  using ReadId = std::uint64_t;

  void add(DeliveryChange change, Key delivery) { ++changes_[{change, delivery}]; }
  /// It could not be stored, and is not retried.
  void undo(DeliveryChange change, Key delivery) { drop({change, delivery}); }
  void stored(DeliveryChange change, Key delivery) {
    if (!changes_.contains({change, delivery})) return;
    if (reads_.empty()) return drop({change, delivery});
    stored_.push_back({next_, {change, delivery}});
  }
  [[nodiscard]] bool has(DeliveryChange change, Key delivery) const { return changes_.contains({change, delivery}); }

  /// True if the delivery is held. `row_is_held` is from the store, perhaps from before it was deferred or requeued.
  [[nodiscard]] bool is_held(Key delivery, bool row_is_held) const {
    const bool deferred = has(DeliveryChange::Deferred, delivery), requeued = has(DeliveryChange::Requeued, delivery);
    return deferred == requeued ? row_is_held : deferred;
  }

  ReadId start_read() {
    reads_.insert(++next_);
    return next_;
  }
  void end_read(ReadId read) {
    reads_.erase(read);
    while (!stored_.empty() && (reads_.empty() || stored_.front().first < *reads_.begin())) {
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
    const auto place = changes_.find(entry);
    if (place != changes_.end() && --place->second == 0) changes_.erase(place);
  }

  std::unordered_map<Entry, unsigned, EntryHash> changes_;
  std::deque<std::pair<ReadId, Entry>> stored_;  // with the newest read that may have missed it
  std::set<ReadId> reads_;                       // in progress
  ReadId next_ = 0;
};

}  // namespace relay::broker
