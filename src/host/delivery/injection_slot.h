/// The injector as the scheduler uses it: holds one delivery, and types it.
#pragma once

#include <optional>

#include "host/delivery/delivery.h"

namespace relay::host {

class InjectionSlot {
 public:
  virtual ~InjectionSlot() = default;
  /// Accepts a delivery without a native interface. Only while `can_accept`.
  virtual void add(Delivery delivery) = 0;
  /// The slot is empty.
  [[nodiscard]] virtual bool can_accept() const = 0;
  /// Returns the delivery, unless its injection has started.
  virtual std::optional<Delivery> reclaim() = 0;
  /// A turn was interrupted for the delivery that `reclaim` would return.
  [[nodiscard]] virtual bool has_interrupted() const = 0;
  /// The composer holds an injected text whose Enter is due by then; a turn that starts earlier keeps it unsent.
  [[nodiscard]] virtual std::optional<SteadyTime> sending_until() const = 0;
};

}  // namespace relay::host
