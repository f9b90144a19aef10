#include "host/delivery/fair_queue.h"

namespace relay::host {
namespace {

/// The first delivery of each sender, then the second of each.
template <class Each, class Senders>
std::vector<Each*> rounds_of(Senders& senders) {
  std::vector<Each*> all;
  std::vector<decltype(&senders.front().deliveries)> left;
  for (auto& sender : senders) left.push_back(&sender.deliveries);
  for (std::size_t round = 0; !left.empty(); ++round) {
    for (auto* deliveries : left) all.push_back(&(*deliveries)[round]);
    std::erase_if(left, [&](const auto* deliveries) { return deliveries->size() == round + 1; });
  }
  return all;
}

}  // namespace

FairQueue::Senders::iterator FairQueue::find(std::string_view name) {
  return std::ranges::find(senders_, name, &Sender::name);
}

void FairQueue::add(Delivery delivery) {
  auto sender = find(delivery.from);
  if (sender == senders_.end()) sender = senders_.insert(sender, {.name = delivery.from, .deliveries = {}});
  sender->deliveries.push_back(std::move(delivery));
}

void FairQueue::requeue(Delivery delivery) {
  auto sender = find(delivery.from);
  if (sender == senders_.end())
    senders_.push_front({.name = delivery.from, .deliveries = {}});
  else
    senders_.splice(senders_.begin(), senders_, sender);
  senders_.front().deliveries.push_front(std::move(delivery));
}

Delivery FairQueue::take_from(Senders::iterator sender) {
  auto delivery = std::move(sender->deliveries.front());
  sender->deliveries.pop_front();
  if (sender->deliveries.empty())
    senders_.erase(sender);
  else
    senders_.splice(senders_.end(), senders_, sender);
  return delivery;
}

std::optional<Delivery> FairQueue::extract(std::string_view id) {
  std::optional<Delivery> delivery;
  erase_if([&](Delivery& each) {
    if (delivery || each.ref.id != id) return false;
    delivery = std::move(each);
    return true;
  });
  return delivery;
}

std::vector<Delivery*> FairQueue::in_order() { return rounds_of<Delivery>(senders_); }
std::vector<const Delivery*> FairQueue::in_order() const { return rounds_of<const Delivery>(senders_); }

}  // namespace relay::host
