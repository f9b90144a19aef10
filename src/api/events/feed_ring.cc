#include "api/events/feed_ring.h"

namespace relay::api {
namespace {

std::size_t bytes_of(const FeedEvent& event) {
  return sizeof event + event.json.size() + event.type.size() + event.agent.size() + event.session.size();
}

}  // namespace

void FeedRing::reset_to(std::uint64_t base) {
  base_ = base;
  bytes_ = 0;
  std::deque<FeedEvent>{}.swap(events_);
}

void FeedRing::push(FeedEvent event) {
  RELAY_ASSERT(event.number == newest() + 1);
  bytes_ += bytes_of(event);
  events_.push_back(std::move(event));
  while (events_.size() > 1 && (events_.size() > max_events_ || bytes_ > max_bytes_)) {
    bytes_ -= bytes_of(events_.front());
    events_.pop_front();
    ++base_;
  }
}

}  // namespace relay::api
