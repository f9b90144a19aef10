/// Receives the receipts of deliveries.
#pragma once

#include "client/stream_positions.h"
#include "protocol/send.h"

namespace relay::host {

class ReceiptReporter {
 public:
  virtual ~ReceiptReporter() = default;
  virtual void report(const client::DeliveryRef& delivery, protocol::Receipt receipt) = 0;
};

}  // namespace relay::host
