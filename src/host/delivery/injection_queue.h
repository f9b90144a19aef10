/// The injector as the scheduler sees it: it takes one delivery at a time to be typed.
#pragma once

#include <optional>

#include "host/delivery/delivery.h"

namespace relay::host {

class InjectionQueue {
 public:
  virtual ~InjectionQueue() = default;
  /// Takes a delivery that has no native interface. Only while `can_accept`.
  virtual void add(Delivery delivery) = 0;
  /// Nothing waits there.
  [[nodiscard]] virtual bool can_accept() const = 0;
  /// Gives back the delivery that waits there, unless its injection has begun.
  virtual std::optional<Delivery> take_back() = 0;
  /// A turn was interrupted for the delivery that `take_back` would give.
  [[nodiscard]] virtual bool has_interrupted() const = 0;
  /// Text of ours is in the composer, and its Enter is due by then: a turn that starts before would keep it unsent.
  [[nodiscard]] virtual std::optional<SteadyTime> sending_until() const = 0;
};

}  // namespace relay::host
