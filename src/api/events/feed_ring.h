/// A bounded buffer of the newest events of a workspace, in order.
///
/// Invariants: holds the numbers base()+1 to newest() without gaps; bounded by count and bytes. A new event evicts the
///   oldest ones. One event always fits.
/// Threading: one thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>

#include "api/events/event_text.h"

namespace relay::api {

class FeedRing {
 public:
  FeedRing(std::size_t max_events, std::size_t max_bytes) : max_events_{max_events}, max_bytes_{max_bytes} {}

  /// Clears the ring; the next event is base + 1.
  void reset_to(std::uint64_t base);
  /// Adds the event with number newest() + 1.
  void push(FeedEvent event);

  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] std::uint64_t newest() const { return base_ + events_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// Requires base() < number <= newest().
  [[nodiscard]] const FeedEvent& at(std::uint64_t number) const { return events_[number - base_ - 1]; }

 private:
  std::size_t max_events_, max_bytes_;
  std::uint64_t base_ = 0;
  std::size_t bytes_ = 0;
  std::deque<FeedEvent> events_;
};

}  // namespace relay::api
