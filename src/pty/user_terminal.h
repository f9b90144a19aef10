/// The terminal we were started in, and the person at it.
///
/// Invariants
/// - It is given back as it was found on every way out (terminal_guard.h names them, and the few that are impossible).
/// - Nothing blocks and nothing is lost: what the terminal does not take waits, in order, in a queue of
///   kMaxTerminalBytes. Who forwards a child's output pauses the child while `wants_pause`, and goes on when
///   `on_written` says that nothing is left; then the queue never refuses, and a slow terminal slows the child.
/// - The terminal is opened anew where possible, so that "do not block" concerns only us and not the shell that shares
///   our standard input. Where it is not (another user's terminal after su), the flags are put back with the rest.
/// - Suspending (SIGTSTP, or `suspend`) gives the terminal back first; after SIGCONT it is raw again if it was, and
///   `on_continued` says that all must be drawn anew.
///
/// Ownership: borrows loop and listener, which outlive it. One per process. May be destroyed inside any callback.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "pty/window_size.h"

namespace relay::net {
class AsioLoop;
}

namespace relay::pty {

inline constexpr std::size_t kMaxTerminalBytes = 256 * 1024;
inline constexpr std::size_t kSlowTerminalBytes = 64 * 1024;  // so much waiting: the terminal is slow
inline constexpr int kFinalFlushMs = 200;                     // for what waits, when we leave

class UserTerminalListener {
 public:
  virtual ~UserTerminalListener() = default;
  /// The bytes are gone when this returns.
  virtual void on_typed(std::string_view bytes) = 0;
  /// Some of what waited is gone, and how much is left.
  virtual void on_written(std::size_t bytes_left) = 0;
  virtual void on_resized(WindowSize size) = 0;
  /// We were stopped and go on; others wrote to the terminal meanwhile, its modes are those of the shell. May come twice
  /// for one stop.
  virtual void on_continued() = 0;
  /// The terminal is gone. Last call.
  virtual void on_closed(const std::string& reason) = 0;
};

class UserTerminal {
 public:
  /// True if both are terminals.
  static bool is_one(int input = 0, int output = 1);

  /// The terminal of this process. Begins listening in the next turn of the loop; the terminal stays in line mode until
  /// `enter_raw`.
  static Result<std::unique_ptr<UserTerminal>> open(net::AsioLoop& loop, UserTerminalListener& listener, int input = 0,
                                                    int output = 1);
  virtual ~UserTerminal() = default;

  /// Every key as it is pressed, nothing echoed, nothing interpreted: also Ctrl-C is a byte.
  virtual Result<void> enter_raw() = 0;
  /// Writes what waits (for at most kFinalFlushMs) and the restore bytes, and puts the attributes back.
  virtual void leave_raw() = 0;
  /// What undoes the modes that the programs inside have switched on; see TerminalGuard.
  virtual Result<void> set_restore_bytes(std::string_view bytes) = 0;

  [[nodiscard]] virtual WindowSize size() const = 0;

  /// How many of the bytes were taken.
  virtual std::size_t write(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::size_t output_waiting() const = 0;
  [[nodiscard]] bool wants_pause() const { return output_waiting() >= kSlowTerminalBytes; }

  virtual void pause_typing() = 0;
  virtual void resume_typing() = 0;

  /// As if the user had stopped us. Where nobody could continue us we are not stopped, only `on_continued` comes.
  virtual void suspend() = 0;
};

}  // namespace relay::pty
