/// A table of values by hashed key that grows to a bound and then replaces the least recently used entries.
///
/// Why not a map with a list: a lookup reads one set of four adjacent entries, and no entry is allocated by itself. The
/// replaced entry is the least recently used one of its set, which is close enough for the loop breaker.
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
  /// At most `max` entries, a power of two.
  explicit LruTable(std::size_t max) : max_{max} {}

  [[nodiscard]] Value* find(std::uint64_t key) {
    Entry* const set = set_of(key);
    for (std::size_t i = 0; set != nullptr && i < kWays; ++i) {
      if (set[i].used != 0 && set[i].key == key) return &set[i].value;
    }
    return nullptr;
  }

  /// The value of the key, a new one if there is none. `now` marks the use: it never decreases and is not 0.
  Value& at(std::uint64_t key, std::uint64_t now) {
    while (true) {
      Entry* const set = set_of(key);
      if (set != nullptr) {
        const auto end = set + kWays;
        auto entry = std::find_if(set, end, [&](const Entry& one) { return one.used != 0 && one.key == key; });
        if (entry == end) {
          entry = std::min_element(set, end, [](const Entry& a, const Entry& b) { return a.used < b.used; });
          if (entry->used != 0 && entries_.size() < max_) {
            grow();
            continue;
          }
          *entry = {key, 0, {}};
        }
        entry->used = now;
        return entry->value;
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
  static constexpr std::size_t kMinEntries = 64;

  struct Entry {
    std::uint64_t key = 0;
    std::uint64_t used = 0;  // 0: free
    Value value{};
  };

  Entry* set_of(std::uint64_t key) {
    return entries_.empty() ? nullptr : &entries_[key % (entries_.size() / kWays) * kWays];
  }

  void grow() {
    std::vector<Entry> old(std::max(kMinEntries, 2 * entries_.size()));
    old.swap(entries_);
    for (Entry& entry : old) {
      if (entry.used == 0) continue;
      Entry* const set = set_of(entry.key);
      *std::find_if(set, set + kWays, [](const Entry& free) { return free.used == 0; }) = std::move(entry);
    }
  }

  std::size_t max_;
  std::vector<Entry> entries_;
};

}  // namespace relay::broker
