/// Letters that wait for the same moment: their senders take turns, and each sender's letters keep their order.
///
/// Why turns: who writes a hundred letters must not keep the one of another waiting.
/// Invariants: no sender is kept without letters; what is put back is the next one again, its sender's turn with it.
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
  /// The next one. Not of an empty queue.
  [[nodiscard]] Delivery& front() { return senders_.front().letters.front(); }

  /// The last of its sender's.
  void add(Delivery letter);
  /// Taken, and it could not go.
  void put_back(Delivery letter);
  /// The next one, and its sender's turn is over.
  Delivery take() { return take_from(senders_.begin()); }
  /// The next one that fits, of those that stand first with their sender: what does not fit keeps its turn, and its
  /// sender's later ones wait behind it.
  template <class Fits>
  std::optional<Delivery> take_if(Fits fits) {
    const auto found = std::ranges::find_if(senders_, [&](const Sender& each) { return fits(each.letters.front()); });
    return found == senders_.end() ? std::nullopt : std::optional{take_from(found)};
  }
  std::optional<Delivery> extract(std::string_view delivery);
  template <class Predicate>
  void erase_if(Predicate predicate) {
    for (auto& sender : senders_) std::erase_if(sender.letters, predicate);
    std::erase_if(senders_, [](const Sender& sender) { return sender.letters.empty(); });
  }

  /// All, as they would go.
  [[nodiscard]] std::vector<Delivery*> in_order();
  [[nodiscard]] std::vector<const Delivery*> in_order() const;

 private:
  struct Sender {
    std::string name;
    std::deque<Delivery> letters;
  };
  using Senders = std::list<Sender>;

  Senders::iterator find(std::string_view name);
  Delivery take_from(Senders::iterator sender);

  Senders senders_;  // whose turn it is stands in front
};

}  // namespace relay::host
