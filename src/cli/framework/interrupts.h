/// Ctrl-C while a command waits: it ends the waiting instead of the program, so that the command can say how things stand.
///
/// Invariants: the interrupt is kept, so the program ends by it when this object is destroyed, with the exit code of one that
///   nobody caught. A SIGINT that the caller ignores (`nohup`, a background job) stays ignored.
/// Threading: one thread. A program that is started meanwhile inherits the blocked signal, unless its start resets the mask as
///   launch.cc does.
#pragma once

#include <signal.h>

#include "base/unique_fd.h"

namespace relay::cli {

class Interrupts {
 public:
  Interrupts();
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;

  /// Readable once there was an interrupt; -1 when it is ignored.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace relay::cli
