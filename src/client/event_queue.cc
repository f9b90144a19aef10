#include "client/event_queue.h"

#include <algorithm>

#include "base/format.h"
#include "client/errors.h"

namespace relay::client {
namespace {

constexpr std::size_t kEventEpochBytes = 8;

}  // namespace

Result<std::string> EventQueue::add(std::string payload, Random& random) {
  if (entries_.size() >= kMaxEvents || bytes_ + payload.size() > kMaxEventBytes)
    return fail(Errc::Full, format("the event queue is full: {} events are pending", entries_.size()));
  if (epoch_.empty()) epoch_ = "e" + random.hex(kEventEpochBytes);
  bytes_ += payload.size();
  const auto number = next_++;
  entries_.push_back({number, format("{}-{}", epoch_, number), std::move(payload)});
  return entries_.back().id;
}

const QueuedEvent* EventQueue::next() const {
  const auto found = after_cursor();
  const auto out = static_cast<std::size_t>(found - entries_.begin());
  return found != entries_.end() && out < (daemon_answers_ ? kMaxUnanswered : 1) ? &*found : nullptr;
}

const QueuedEvent* EventQueue::last_chance() const {
  const auto found = after_cursor();
  return found != entries_.end() && daemon_answers_ ? &*found : nullptr;
}

bool EventQueue::answered(std::string_view id, EventResult answer) {
  const auto found = find(id);
  if (found == entries_.end()) return false;
  daemon_answers_ = true;
  ++(answer == EventResult::Taken ? acked_ : refused_);
  bytes_ -= found->payload.size();
  entries_.erase(found);
  return true;
}

bool EventQueue::on_retryable_nack(std::string_view id) {
  const auto found = find(id);
  if (found == entries_.end()) return false;
  cursor_ = std::min(cursor_, found->number - 1);
  return true;
}

EventQueue::Entries::const_iterator EventQueue::find(std::string_view id) const {
  return std::ranges::find(entries_, id, &QueuedEvent::id);
}

EventQueue::Entries::const_iterator EventQueue::after_cursor() const {
  return std::ranges::upper_bound(entries_, cursor_, {}, &QueuedEvent::number);
}

}  // namespace relay::client
