/// A server of its own process: the API's feed over a workspace in which something happens so many times a second.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "base/result.h"

namespace relay::bench {

struct TickingServer {
  pid_t pid = 0;
  std::uint16_t port = 0;

  static Result<TickingServer> start(int events_per_second);
  void stop() const;
};

}  // namespace relay::bench
