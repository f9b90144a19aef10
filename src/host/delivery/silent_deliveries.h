/// Deliveries that do not wake the agent and wait for one that does.
#pragma once

#include <cstddef>
#include <vector>

#include "host/delivery/delivery.h"

namespace relay::host {

class SilentDeliveries {
 public:
  virtual ~SilentDeliveries() = default;
  /// Takes those whose texts and line breaks fit into so many bytes, with their intent logged.
  virtual std::vector<Delivery> take_silent(std::size_t max_bytes) = 0;
  /// They were not sent.
  virtual void return_silent(std::vector<Delivery> deliveries) = 0;
};

}  // namespace relay::host
