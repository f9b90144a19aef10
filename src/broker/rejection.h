/// Why a request is not executed: a code of the wire, a message for the peer, and when it may try again.
#pragma once

#include <cstdint>
#include <string>

#include "protocol/send.h"

namespace relay::broker {

inline constexpr std::int64_t kBusyRetryMs = 250;       // sent with BUSY
inline constexpr std::int64_t kStorageRetryMs = 1'000;  // sent with STORAGE

struct Rejection {
  protocol::NackCode code;
  std::string message;
  std::int64_t retry_after_ms = 0;
};

}  // namespace relay::broker
