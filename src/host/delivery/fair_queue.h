/// A queue of deliveries in which the senders take turns; the deliveries of each sender keep their order.
///
/// Why turns: a sender of a hundred messages must not delay the one message of another.
/// Invariants: every listed sender has deliveries; a requeued delivery is the next one again, with its sender's turn.
/// Threading: one thread.
#pragma once

#include <algorithm>
#include <deque>
#include <list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "host/delivery/delivery.h"

namespace relay::host {

class FairQueue {
 public:
  [[nodiscard]] bool empty() const { return senders_.empty(); }
  /// The next one; the queue must not be empty.
  [[nodiscard]] Delivery& front() { return senders_.front().deliveries.front(); }

  /// After the other deliveries of its sender.
  void add(Delivery delivery);
  /// Puts a removed delivery that could not be delivered at the front.
  void requeue(Delivery delivery);
  /// Removes the next one; its sender's turn is over.
  Delivery take() { return take_from(senders_.begin()); }
  /// Removes the next one that fits among the first ones of all senders. One that does not fit keeps its turn and delays
  /// its sender's later ones.
  template <class Fits>
  std::optional<Delivery> take_if(Fits fits) {
    const auto found =
        std::ranges::find_if(senders_, [&](const Sender& each) { return fits(each.deliveries.front()); });
    return found == senders_.end() ? std::nullopt : std::optional{take_from(found)};
  }
  std::optional<Delivery> extract(std::string_view id);
  template <class Predicate>
  void erase_if(Predicate predicate) {
    for (auto& sender : senders_) std::erase_if(sender.deliveries, predicate);
    std::erase_if(senders_, [](const Sender& sender) { return sender.deliveries.empty(); });
  }

  /// All, in the order of delivery.
  [[nodiscard]] std::vector<Delivery*> in_order();
  [[nodiscard]] std::vector<const Delivery*> in_order() const;

 private:
  struct Sender {
    std::string name;
    std::deque<Delivery> deliveries;
  };
  using Senders = std::list<Sender>;

  Senders::iterator find(std::string_view name);
  Delivery take_from(Senders::iterator sender);

  Senders senders_;  // in the order of their turns
};

}  // namespace relay::host
