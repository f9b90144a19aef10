/// Restores a terminal to its original state on every exit path that a process can intercept.
///
/// While armed, these restore it (the prepared bytes are written, then the attributes set): `restore`, the destructor,
/// exit() and quick_exit(), SIGHUP SIGINT SIGQUIT SIGTERM while they have their default action, and the crashes SIGSEGV
/// SIGBUS SIGABRT (so also std::terminate) SIGILL SIGFPE. After a signal its earlier action is restored and it is
/// raised again: exit status, core file and a sanitizer's report are unchanged.
///
/// For an orderly shutdown, handle SIGTERM by net::Signals, constructed before or after the guard and kept at least as
/// long: then the loop ends, and the destructor restores.
///
/// Not intercepted: SIGKILL, _exit(), a power cut. The terminal then stays as it is; `reset` helps the user.
///
/// Invariants: one guard per process. The handler calls only async-signal-safe functions, waits at most
///   kRestoreTimeoutMs for a terminal that takes no bytes, and does nothing in a forked child and in the background,
///   where the terminal belongs to another process.
/// Threading: constructed, armed and destroyed on one thread; signals may arrive on any.
#pragma once

#include <termios.h>

#include <string_view>

#include "base/result.h"

namespace relay::pty {

inline constexpr std::size_t kMaxRestoreBytes = 1024;
inline constexpr int kRestoreTimeoutMs = 100;

class TerminalGuard {
 public:
  /// The original state. The descriptors outlive the guard.
  struct SavedState {
    int input = -1;
    int output = -1;
    termios attributes{};
    /// The file status flags to restore, where the descriptor shares them with other processes; else -1.
    int input_flags = -1;
    int output_flags = -1;
  };

  explicit TerminalGuard(const SavedState& saved);
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  /// From now on the terminal must be restored.
  void arm();
  /// Restores, once per `arm`.
  void restore();

  /// The bytes that undo the modes switched on since: copied, and safe to replace at any time. They should start with
  /// CAN, which ends an incomplete sequence.
  Result<void> set_restore_bytes(std::string_view bytes);
};

}  // namespace relay::pty
