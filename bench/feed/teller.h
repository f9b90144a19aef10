/// A session that tells the daemon what it does, so many times a second, in a process of its own.
#pragma once

#include <sys/types.h>

#include <string>

#include "base/result.h"

namespace relay::bench {

struct Teller {
  pid_t pid = 0;

  static Result<Teller> start(const std::string& socket, int events_per_second);
  void stop() const;
};

}  // namespace relay::bench
