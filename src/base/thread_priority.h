/// This thread does what nobody waits for: it runs when those do not that somebody waits for.
#pragma once

#ifdef __linux__
#include <sys/resource.h>
#include <unistd.h>
#endif

namespace relay {

/// Cannot fail in a way that matters. Elsewhere than on Linux priorities are of processes, and nothing is done.
inline void lower_thread_priority() {
#ifdef __linux__
  constexpr int kNice = 10;
  ::setpriority(PRIO_PROCESS, static_cast<id_t>(::gettid()), kNice);
#endif
}

}  // namespace relay
