/// Blocks all signals for the calling thread, and for threads and processes it starts, during the object's lifetime.
#pragma once

#include <signal.h>

namespace relay {

class ScopedSignalBlock {
 public:
  ScopedSignalBlock() {
    sigset_t all;
    ::sigfillset(&all);
    ::pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~ScopedSignalBlock() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  ScopedSignalBlock(const ScopedSignalBlock&) = delete;
  ScopedSignalBlock& operator=(const ScopedSignalBlock&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace relay
