/// Gives a terminal back as it was found, on every way out that a process can notice.
///
/// While armed, these lead to restoring (the prepared bytes are written, then the attributes set): `restore`, the
/// destructor, exit() and quick_exit(), SIGHUP SIGINT SIGQUIT SIGTERM as long as they have their default meaning, and
/// the crashes SIGSEGV SIGBUS SIGABRT (so also std::terminate) SIGILL SIGFPE. After a signal its former meaning is
/// put back and it is raised again: exit status, core file and a sanitizer's report stay what they were.
///
/// Who wants to shut down in an orderly manner handles SIGTERM by net::Signals, made *after* the guard or before, and
/// kept at least as long: then the loop ends, and the destructor restores.
///
/// What cannot be noticed: SIGKILL, _exit(), a power cut. The terminal then stays as it is; `reset` helps a person.
///
/// Invariants: one guard per process. The handler calls async-signal-safe functions only, waits at most
///   kRestorePatienceMs for a terminal that takes no bytes, and keeps quiet in a forked child and in the background,
///   where the terminal belongs to somebody else by now.
/// Threading: made, armed and destroyed on one thread; signals may arrive on any.
#pragma once

#include <termios.h>

#include <string_view>

#include "base/result.h"

namespace relay::pty {

inline constexpr std::size_t kMaxRestoreBytes = 1024;
inline constexpr int kRestoreTimeoutMs = 100;

class TerminalGuard {
 public:
  /// What was found. The descriptors outlive the guard.
  struct SavedState {
    int input = -1;
    int output = -1;
    termios attributes{};
    /// The file status flags to put back, where the descriptor shares them with other processes; else -1.
    int input_flags = -1;
    int output_flags = -1;
  };

  explicit TerminalGuard(const SavedState& found);
  ~TerminalGuard();
  TerminalGuard(const TerminalGuard&) = delete;
  TerminalGuard& operator=(const TerminalGuard&) = delete;

  /// From now on there is something to restore.
  void arm();
  /// Restores, once per `arm`.
  void restore();

  /// What undoes the modes that were switched on since: copied, and safe to replace at any moment. Best begun with
  /// CAN, which ends a sequence that was cut in the middle.
  Result<void> set_restore_bytes(std::string_view bytes);
};

}  // namespace relay::pty
