#include "cli/framework/interrupts.h"

#include <pthread.h>
#include <sys/signalfd.h>

namespace relay::cli {

Interrupts::Interrupts() {
  ::pthread_sigmask(SIG_SETMASK, nullptr, &before_);
  struct sigaction now{};
  if (::sigaction(SIGINT, nullptr, &now) != 0 || now.sa_handler == SIG_IGN) return;
  sigset_t interrupts;
  ::sigemptyset(&interrupts);
  ::sigaddset(&interrupts, SIGINT);
  fd_ = UniqueFd{::signalfd(-1, &interrupts, SFD_CLOEXEC | SFD_NONBLOCK)};
  if (fd_) ::pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
}

Interrupts::~Interrupts() { ::pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

}  // namespace relay::cli
