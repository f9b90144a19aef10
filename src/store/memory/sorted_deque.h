/// An ordered set for values that grow: inserting at the end and erasing at the front are cheap, and entries have no
/// nodes. Elsewhere an insertion or removal moves the values on the nearer side.
#pragma once

#include <algorithm>
#include <deque>

namespace relay::store {

template <class Value>
class SortedDeque {
 public:
  using value_type = Value;

  void insert(const Value& value) {
    if (values_.empty() || values_.back() < value) return values_.push_back(value);
    const auto place = lower_bound(value);
    if (place == values_.end() || *place != value) values_.insert(place, value);
  }
  void erase(const Value& value) {
    const auto place = lower_bound(value);
    if (place != values_.end() && *place == value) values_.erase(place);
  }
  [[nodiscard]] auto lower_bound(const Value& value) const {
    return std::lower_bound(values_.begin(), values_.end(), value);
  }
  [[nodiscard]] auto begin() const { return values_.begin(); }
  [[nodiscard]] auto end() const { return values_.end(); }
  [[nodiscard]] bool empty() const { return values_.empty(); }

 private:
  std::deque<Value> values_;
};

}  // namespace relay::store
