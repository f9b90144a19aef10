/// Lets Ctrl-C end a wait instead of the program, so that the command can report the progress.
///
/// Invariants: the signal stays pending, so the program ends by it when this object is destroyed, with the exit code of an
///   uncaught signal. A SIGINT that the caller ignores (`nohup`, a background job) stays ignored.
/// Threading: one thread. A child process inherits the blocked signal unless its start resets the mask, as launch.cc
///   does.
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

  /// Readable after an interrupt; -1 when interrupts are ignored.
  [[nodiscard]] int fd() const { return fd_.get(); }

 private:
  sigset_t before_{};
  UniqueFd fd_;
};

}  // namespace relay::cli
