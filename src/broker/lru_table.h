/// What was noted last under a hashed key: a table that grows to a bound and then forgets the longest unused.
///
/// Why not a map with a list of ages: a lookup looks at one set of four neighbours, and nothing is ever allocated per
/// entry. Forgetting is near enough to the oldest, for those who use it can do without what is forgotten.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace relay::broker {

template <class Value>
class LruTable {
 public:
  /// At most so many entries; a power of two.
  explicit LruTable(std::size_t most) : most_{most} {}

  [[nodiscard]] Value* find(std::uint64_t key) {
    Entry* const set = set_of(key);
    for (std::size_t i = 0; set != nullptr && i < kWays; ++i) {
      if (set[i].used != 0 && set[i].key == key) return &set[i].value;
    }
    return nullptr;
  }

  /// A fresh one if there is none. `now` tells what was used last: it never falls, and is not 0.
  Value& at(std::uint64_t key, std::uint64_t now) {
    while (true) {
      Entry* const set = set_of(key);
      if (set != nullptr) {
        const auto end = set + kWays;
        auto place = std::find_if(set, end, [&](const Entry& entry) { return entry.used != 0 && entry.key == key; });
        if (place == end) {
          place = std::min_element(set, end, [](const Entry& a, const Entry& b) { return a.used < b.used; });
          if (place->used != 0 && entries_.size() < most_) {
            grow();
            continue;
          }
          *place = {key, 0, {}};
        }
        place->used = now;
        return place->value;
      }
      grow();
    }
  }

  void erase(std::uint64_t key) {
    Entry* const set = set_of(key);
    for (std::size_t i = 0; set != nullptr && i < kWays; ++i) {
      if (set[i].key == key) set[i] = {};
    }
  }

  [[nodiscard]] std::size_t bytes() const { return entries_.capacity() * sizeof(Entry); }

 private:
  static constexpr std::size_t kWays = 4;
  static constexpr std::size_t kFirst = 64;

  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t used = 0;  // 0: free
    Value value{};
  };

  Entry* set_of(std::uint64_t key) {
    return entries_.empty() ? nullptr : &entries_[key % (entries_.size() / kWays) * kWays];
  }

  void grow() {
    std::vector<Entry> old(std::max(kFirst, 2 * entries_.size()));
    old.swap(entries_);
    for (Entry& entry : old) {
      if (entry.used == 0) continue;
      Entry* const set = set_of(entry.key);
      *std::find_if(set, set + kWays, [](const Entry& free) { return free.used == 0; }) = std::move(entry);
    }
  }

  std::size_t most_;
  std::vector<Entry> entries_;
};

}  // namespace relay::broker
