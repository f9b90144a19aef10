/// The last few things that were seen, so that a repetition can be told. Bounded: the oldest is forgotten first.
#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>

#include "transcripts/limits.h"

namespace relay::transcripts {

/// For each key the last value.
template <class Value>
class DedupCache {
 public:
  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(std::string{key}); }
  /// False when it was known already.
  bool add(std::string_view key) { return at(key).second; }
  /// The value kept for that key, made if it is new.
  std::pair<Value&, bool> at(std::string_view key) {
    const auto [place, is_new] = values_.try_emplace(std::string{key});
    if (is_new) {
      order_.push_back(&place->first);
      if (order_.size() > kRemembered) {
        values_.erase(values_.find(*order_.front()));
        order_.pop_front();
      }
    }
    return {place->second, is_new};
  }

 private:
  std::unordered_map<std::string, Value> values_;
  std::deque<const std::string*> order_;  // the keys above, oldest first
};

}  // namespace relay::transcripts
