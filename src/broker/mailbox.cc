#include "broker/mailbox.h"

#include <algorithm>

namespace relay::broker {

void Mailbox::connect(std::uint32_t window) {
  disconnect();
  window_ = window;
  more_in_store_ = true;  // for all we know
}

void Mailbox::disconnect() {
  window_ = 0;
  flight_.clear();
  until_written_ = 0;
  ready_.clear();
  cursor_ = Key{};
  more_in_store_ = false;
  load_is_stale_ = loading_;
}

void Mailbox::committed(Parcel parcel, std::size_t max_ready) {
  if (!connected()) return;
  if (more_in_store_ || loading_ || ready_.size() >= max_ready) {
    more_in_store_ = true;
    return;
  }
  cursor_ = parcel.delivery.key;
  ready_.push_back(std::move(parcel));
}

InFlight* Mailbox::take_ready() {
  if (ready_.empty() || flight_.size() >= window_) return nullptr;
  const Key key = ready_.front().delivery.key;
  auto [place, inserted] = flight_.emplace(key, InFlight{.parcel = std::move(ready_.front())});
  ready_.pop_front();
  return &place->second;
}

Key Mailbox::begin_load() {
  loading_ = true;
  load_is_stale_ = false;
  more_in_store_ = false;  // whatever is committed from now on says so again
  return cursor_;
}

void Mailbox::page_arrived(records::BacklogPage page) {
  loading_ = false;
  if (load_is_stale_) {
    load_is_stale_ = false;
    return;
  }
  more_in_store_ = more_in_store_ || page.more;
  pending = std::max<std::uint64_t>(pending, flight_.size() + page.items.size());
  for (auto& item : page.items) {
    cursor_ = item.delivery.key;
    ready_.push_back({std::move(item.delivery), std::make_shared<const records::Message>(std::move(item.message))});
  }
}

void Mailbox::page_failed() {
  loading_ = false;
  load_is_stale_ = false;
  more_in_store_ = true;
}

std::optional<InFlight> Mailbox::finish(Key key) {
  const auto place = flight_.find(key);
  if (place == flight_.end()) return std::nullopt;
  auto done = std::move(place->second);
  flight_.erase(place);
  if (done.done == DoneWhen::Written) --until_written_;
  return done;
}

std::vector<InFlight> Mailbox::finish_written() {
  std::vector<InFlight> done;
  if (until_written_ == 0) return done;
  until_written_ = 0;
  for (auto place = flight_.begin(); place != flight_.end();) {
    if (place->second.done != DoneWhen::Written) {
      ++place;
      continue;
    }
    done.push_back(std::move(place->second));
    place = flight_.erase(place);
  }
  return done;
}

bool Mailbox::drop(Key key) {
  if (finish(key)) return true;
  return std::erase_if(ready_, [&](const Parcel& parcel) { return parcel.delivery.key == key; }) > 0;
}

}  // namespace relay::broker
