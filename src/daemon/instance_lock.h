/// One daemon per relay home: a lock that the kernel releases however its owner ends.
///
/// Why not the pid file: it outlives a crash, and its number may then belong to another program.
#pragma once

#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::daemon {

class InstanceLock {
 public:
  /// AlreadyRunning when another process holds it. `pid_path` only serves to name that process.
  static Result<InstanceLock> acquire(const std::string& path, const std::string& pid_path);

 private:
  explicit InstanceLock(UniqueFd fd) : fd_{std::move(fd)} {}
  UniqueFd fd_;  // the file stays: removing it would let two daemons lock two files
};

}  // namespace relay::daemon
