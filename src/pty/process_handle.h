/// A descriptor that identifies one process even if its number is reused; readable once the process ended.
///
/// Uses system calls: Debian 12's <sys/pidfd.h> declares these functions with C++ linkage, and they do not link.
#pragma once

#include <sys/syscall.h>
#include <sys/types.h>

#include "base/unique_fd.h"

namespace relay::pty {

inline UniqueFd open_process(pid_t pid) { return UniqueFd{static_cast<int>(::syscall(SYS_pidfd_open, pid, 0))}; }

inline bool send_to(const UniqueFd& process, int signal) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), signal, nullptr, 0) == 0;
}

}  // namespace relay::pty
