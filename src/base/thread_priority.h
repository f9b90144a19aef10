/// Lowers the calling thread's scheduling priority, for background work.
#pragma once

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace relay {

/// Errors are ignored: a missing privilege only costs speed. Does nothing except on Linux, where priorities are per
///   thread.
inline void lower_thread_priority() {
#ifdef __linux__
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
#endif
}

}  // namespace relay
