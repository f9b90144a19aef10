/// Events computed from their number, so that none has to be stored.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/format.h"

namespace relay::bench {

/// An item.delta of a few words.
inline std::string tick_event(std::uint64_t number) {
  return format(
      R"({{"type":"item.delta","sessionId":"s-4f2a","itemId":"i-{0}","delta":{{"type":"text","content":"another few words of what it thinks"}},"_seq":{0},"_ts":17340000{0:08},"_sessionId":"s-4f2a","_agentName":"Alice"}})",
      number);
}

/// The number of events after that time.
inline std::uint64_t ticks_after(std::chrono::steady_clock::duration passed, int per_second) {
  const auto microseconds = std::chrono::duration_cast<std::chrono::microseconds>(passed).count();
  return static_cast<std::uint64_t>(microseconds * per_second / 1'000'000);
}

}  // namespace relay::bench
