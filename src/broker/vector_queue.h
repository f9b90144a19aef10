/// A queue in contiguous memory.
///
/// Why not std::deque: it allocates and frees a block for each large element, at the rate of messages.
/// Invariants: a taken element is destroyed at once; its memory is reused when the queue is empty or half of it is
///   free. An empty queue has memory for at most `max_idle` elements.
/// Threading: its owner's.
#pragma once

#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace relay::broker {

template <class T, std::size_t max_idle>
class VectorQueue {
 public:
  [[nodiscard]] bool empty() const { return first_ == items_.size(); }
  [[nodiscard]] T& front() { return items_[first_]; }
  [[nodiscard]] const T& front() const { return items_[first_]; }
  [[nodiscard]] T& back() { return items_.back(); }
  auto begin() { return items_.begin() + static_cast<std::ptrdiff_t>(first_); }
  auto end() { return items_.end(); }
  [[nodiscard]] auto rbegin() const { return items_.rbegin(); }
  [[nodiscard]] auto rend() const { return items_.rend() - static_cast<std::ptrdiff_t>(first_); }

  template <class... Parts>
  void emplace_back(Parts&&... parts) {
    items_.emplace_back(std::forward<Parts>(parts)...);
  }

  T take_front() {
    T taken = std::move(items_[first_]);
    ++first_;
    if (empty())
      clear();
    else if (first_ >= max_idle && first_ * 2 >= items_.size())
      compact();
    return taken;
  }

  /// The number of erased elements.
  template <class Fits>
  std::size_t erase_if(Fits fits) {
    compact();
    const auto erased = std::erase_if(items_, fits);
    if (empty()) clear();
    return erased;
  }

  void clear() {
    first_ = 0;
    items_.clear();
    if (items_.capacity() > max_idle) std::vector<T>{}.swap(items_);
  }

  /// Removes and returns the elements from the first matching one, in order.
  template <class Fits>
  std::vector<T> take_from(Fits fits) {
    auto place = begin();
    while (place != end() && !fits(*place)) ++place;
    std::vector<T> taken{std::make_move_iterator(place), std::make_move_iterator(end())};
    items_.erase(place, end());
    if (empty()) clear();
    return taken;
  }

 private:
  void compact() {
    items_.erase(items_.begin(), begin());
    first_ = 0;
  }

  std::vector<T> items_;
  std::size_t first_ = 0;  // elements before it were taken
};

}  // namespace relay::broker
