/// A bounded cache of recent keys, to detect repetitions. The oldest key is dropped first.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "transcripts/limits.h"

namespace relay::transcripts {

/// Maps each key to its last value.
template <class Value>
class DedupCache {
 public:
  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(std::string{key}); }
  /// False if the key is already present.
  bool add(std::string_view key) { return at(key).second; }
  /// The value of the key, created if it is new.
  std::pair<Value&, bool> at(std::string_view key) {
    const auto [entry, is_new] = values_.try_emplace(std::string{key});
    if (is_new) {
      order_.push_back(&entry->first);
      if (order_.size() > kMaxRememberedIds) {
        values_.erase(values_.find(*order_.front()));
        order_.pop_front();
      }
    }
    return {entry->second, is_new};
  }

 private:
  std::unordered_map<std::string, Value> values_;
  std::deque<const std::string*> order_;  // the keys above, oldest first
};

}  // namespace relay::transcripts
