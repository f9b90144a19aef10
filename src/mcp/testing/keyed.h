/// The meta of a message with an idempotency key.
#pragma once

#include <string>

#include "protocol/send.h"

namespace relay::mcp::testing {

inline protocol::SendMeta keyed(std::string key) {
  return {.delivery = protocol::DeliveryOptions{.idempotency_key = std::move(key)}};
}

}  // namespace relay::mcp::testing
