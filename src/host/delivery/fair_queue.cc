#include "host/delivery/fair_queue.h"

namespace relay::host {
namespace {

/// The first of each, then the second of each.
template <class Each, class Senders>
std::vector<Each*> rounds_of(Senders& senders) {
  std::vector<Each*> all;
  std::vector<decltype(&senders.front().letters)> left;
  for (auto& sender : senders) left.push_back(&sender.letters);
  for (std::size_t round = 0; !left.empty(); ++round) {
    for (auto* letters : left) all.push_back(&(*letters)[round]);
    std::erase_if(left, [&](const auto* letters) { return letters->size() == round + 1; });
  }
  return all;
}

}  // namespace

FairQueue::Senders::iterator FairQueue::find(std::string_view name) {
  return std::ranges::find(senders_, name, &Sender::name);
}

void FairQueue::add(Delivery letter) {
  auto sender = find(letter.from);
  if (sender == senders_.end()) sender = senders_.insert(sender, {.name = letter.from, .letters = {}});
  sender->letters.push_back(std::move(letter));
}

void FairQueue::put_back(Delivery letter) {
  auto sender = find(letter.from);
  if (sender == senders_.end())
    senders_.push_front({.name = letter.from, .letters = {}});
  else
    senders_.splice(senders_.begin(), senders_, sender);
  senders_.front().letters.push_front(std::move(letter));
}

Delivery FairQueue::take_from(Senders::iterator sender) {
  auto letter = std::move(sender->letters.front());
  sender->letters.pop_front();
  if (sender->letters.empty())
    senders_.erase(sender);
  else
    senders_.splice(senders_.end(), senders_, sender);
  return letter;
}

std::optional<Delivery> FairQueue::extract(std::string_view delivery) {
  std::optional<Delivery> letter;
  erase_if([&](Delivery& each) {
    if (letter || each.ref.id != delivery) return false;
    letter = std::move(each);
    return true;
  });
  return letter;
}

std::vector<Delivery*> FairQueue::in_order() { return rounds_of<Delivery>(senders_); }
std::vector<const Delivery*> FairQueue::in_order() const { return rounds_of<const Delivery>(senders_); }

}  // namespace relay::host
