/// The newest events of a workspace, in order, as many as fit.
///
/// Invariants: holds exactly the numbers base()+1 to newest(), without holes; bounded by count and bytes, the oldest give
///   way. One event always fits.
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

  /// Empty, and everything up to that number lies before it.
  void reset_to(std::uint64_t base);
  /// The next: its number is newest() + 1.
  void push(FeedEvent event);

  [[nodiscard]] std::uint64_t base() const { return base_; }
  [[nodiscard]] std::uint64_t newest() const { return base_ + events_.size(); }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }
  /// base() < number <= newest().
  [[nodiscard]] const FeedEvent& at(std::uint64_t number) const { return events_[number - base_ - 1]; }

 private:
  std::size_t max_events_, max_bytes_;
  std::uint64_t base_ = 0;
  std::size_t bytes_ = 0;
  std::deque<FeedEvent> events_;
};

}  // namespace relay::api
