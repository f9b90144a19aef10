#include "pty/terminal_guard.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <csignal>
#include <cstdlib>

#include "base/format.h"

namespace relay::pty {
namespace {

constexpr std::size_t kHandlerStackBytes = 64 * 1024;  // a crash by stack overflow needs another stack

constexpr std::array kTerminationSignals{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
constexpr std::array kCrashSignals{SIGSEGV, SIGBUS, SIGABRT, SIGILL, SIGFPE};

struct RestoreBytes {
  std::array<char, kMaxRestoreBytes> bytes{};
  std::size_t size = 0;
};

/// The state that the signal handler reads. The guard's thread writes it before it sets `armed`; the handler reads it
/// only after it has taken `armed`.
struct GuardState {
  TerminalGuard::SavedState saved;
  pid_t owner = 0;
  std::array<RestoreBytes, 2> buffers;  // one is current, the other may be written
  std::atomic<const RestoreBytes*> current = nullptr;
  std::atomic<bool> armed = false;
  bool used = false;  // one guard at a time
  std::array<struct sigaction, NSIG> before{};
  std::array<bool, NSIG> installed{};
};

static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<const RestoreBytes*>::is_always_lock_free);

GuardState state;  // NOLINT: a signal handler can only reach globals

void write_with_timeout(int fd, const RestoreBytes& restore) {
  std::size_t done = 0;
  while (done < restore.size) {
    const auto count = ::write(fd, restore.bytes.data() + done, restore.size - done);
    if (count > 0) {
      done += static_cast<std::size_t>(count);
    } else if (count < 0 && errno == EAGAIN) {
      pollfd wait{.fd = fd, .events = POLLOUT, .revents = 0};
      if (::poll(&wait, 1, kRestoreTimeoutMs) <= 0) return;
    } else if (count == 0 || errno != EINTR) {
      return;
    }
  }
}

bool in_background(int terminal) {
  const pid_t foreground = ::tcgetpgrp(terminal);
  return foreground > 0 && foreground != ::getpgrp();
}

/// Async-signal-safe.
void restore_now() {
  if (state.owner != ::getpid() || !state.armed.exchange(false)) return;
  const int error = errno;
  sigset_t stop, before;
  ::sigemptyset(&stop);
  ::sigaddset(&stop, SIGTTOU);  // setting attributes must not stop us
  ::pthread_sigmask(SIG_BLOCK, &stop, &before);
  const auto& saved = state.saved;
  if (!in_background(saved.input)) {
    if (const auto* bytes = state.current.load()) write_with_timeout(saved.output, *bytes);
    while (::tcsetattr(saved.input, TCSANOW, &saved.attributes) != 0 && errno == EINTR) {}
  }
  if (saved.input_flags >= 0) ::fcntl(saved.input, F_SETFL, saved.input_flags);
  if (saved.output_flags >= 0) ::fcntl(saved.output, F_SETFL, saved.output_flags);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = error;
}

void on_signal(int number) {
  restore_now();
  ::sigaction(number, &state.before[static_cast<std::size_t>(number)], nullptr);
  ::raise(number);  // blocked until we return, then it has its earlier effect
}

void install(int number) {
  const auto index = static_cast<std::size_t>(number);
  struct sigaction own{};
  own.sa_handler = on_signal;
  own.sa_flags = SA_ONSTACK;
  ::sigfillset(&own.sa_mask);
  state.installed[index] = ::sigaction(number, &own, &state.before[index]) == 0;
}

void install_all() {
  for (const int number : kTerminationSignals) {
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_DFL) install(number);
  }
  for (const int number : kCrashSignals) install(number);
}

void uninstall_all() {
  for (int number = 1; number < NSIG; ++number) {
    const auto index = static_cast<std::size_t>(number);
    if (!std::exchange(state.installed[index], false)) continue;
    struct sigaction now{};
    ::sigaction(number, nullptr, &now);
    if ((now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == on_signal)
      ::sigaction(number, &state.before[index], nullptr);
  }
}

void set_handler_stack() {
  static std::array<char, kHandlerStackBytes> memory;
  stack_t now{};
  if (::sigaltstack(nullptr, &now) != 0 || (now.ss_flags & SS_DISABLE) == 0) return;  // a stack is already set
  const stack_t own{.ss_sp = memory.data(), .ss_flags = 0, .ss_size = memory.size()};
  ::sigaltstack(&own, nullptr);
}

void watch_exits() {
  [[maybe_unused]] static const bool once = [] {
    std::atexit(restore_now);
    std::at_quick_exit(restore_now);
    return true;
  }();
}

}  // namespace

TerminalGuard::TerminalGuard(const SavedState& saved) {
  RELAY_ASSERT(!state.used);
  state.used = true;
  state.saved = saved;
  state.owner = ::getpid();
  state.current = nullptr;
  set_handler_stack();
  watch_exits();
  install_all();
}

TerminalGuard::~TerminalGuard() {
  restore();
  uninstall_all();
  state.used = false;
}

void TerminalGuard::arm() { state.armed = true; }

void TerminalGuard::restore() { restore_now(); }

Result<void> TerminalGuard::set_restore_bytes(std::string_view bytes) {
  if (bytes.size() > kMaxRestoreBytes)
    return fail(format("{} bytes to restore a terminal exceed the maximum of {}", bytes.size(), kMaxRestoreBytes));
  auto& next = state.current.load() == &state.buffers[0] ? state.buffers[1] : state.buffers[0];
  std::ranges::copy(bytes, next.bytes.begin());
  next.size = bytes.size();
  state.current = &next;
  return {};
}

}  // namespace relay::pty
