/// Pending silent deliveries, which are delivered together with one that wakes the agent.
#pragma once

#include <cstddef>
#include <vector>

#include "host/delivery/delivery.h"

namespace relay::host {

class SilentDeliveries {
 public:
  virtual ~SilentDeliveries() = default;
  /// Takes those whose texts and line breaks fit into `max_bytes`; their intents are logged.
  virtual std::vector<Delivery> take_silent(std::size_t max_bytes) = 0;
  /// Requeues deliveries that were not sent.
  virtual void return_silent(std::vector<Delivery> deliveries) = 0;
};

}  // namespace relay::host
