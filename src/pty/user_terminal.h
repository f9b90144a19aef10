/// The terminal this process was started in, and its user.
///
/// Invariants
/// - It is restored to its original state on every exit path (terminal_guard.h lists them and the exceptions).
/// - Nothing blocks and nothing is lost: bytes that the terminal does not take stay, in order, in a queue of
/// kMaxTerminalBytes. A caller that forwards a child's output pauses the child while `wants_pause`, and resumes when
/// `on_written` reports 0; then the queue never refuses, and a slow terminal slows the child.
/// - The terminal is reopened where possible, so that O_NONBLOCK affects only us and not the shell that shares our
/// standard input. Where that fails (another user's terminal after su), the flags are restored with the rest.
/// - Suspending (SIGTSTP, or `suspend`) restores the terminal first; after SIGCONT it is raw again if it was, and
/// `on_continued` requests a full redraw.
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
inline constexpr std::size_t kSlowTerminalBytes = 64 * 1024;  // with this much pending, the terminal is slow
inline constexpr int kFinalFlushMs = 200;                     // for pending output at the end

class UserTerminalListener {
 public:
  virtual ~UserTerminalListener() = default;
  /// The bytes are valid until this returns.
  virtual void on_typed(std::string_view bytes) = 0;
  /// Pending output was written; `bytes_left` are still pending.
  virtual void on_written(std::size_t bytes_left) = 0;
  virtual void on_resized(WindowSize size) = 0;
  /// We were stopped and continued; other programs wrote to the terminal meanwhile, and its modes are those of the
  /// shell. May come twice for one stop.
  virtual void on_continued() = 0;
  /// Last call: the terminal is closed.
  virtual void on_closed(const std::string& reason) = 0;
};

class UserTerminal {
 public:
  /// True if both are terminals.
  static bool is_one(int input = 0, int output = 1);

  /// The terminal of this process. Starts reading in the next turn of the loop; the terminal stays in line mode until
  /// `enter_raw`.
  static Result<std::unique_ptr<UserTerminal>> open(net::AsioLoop& loop, UserTerminalListener& listener, int input = 0,
                                                    int output = 1);
  virtual ~UserTerminal() = default;

  /// Delivers every key as it is pressed, without echo or interpretation: Ctrl-C is a byte too.
  virtual Result<void> enter_raw() = 0;
  /// Writes pending output (for at most kFinalFlushMs) and the restore bytes, and restores the attributes.
  virtual void leave_raw() = 0;
  /// The bytes that undo the modes the programs inside switched on; see TerminalGuard.
  virtual Result<void> set_restore_bytes(std::string_view bytes) = 0;

  [[nodiscard]] virtual WindowSize size() const = 0;

  /// Returns how many of the bytes were taken.
  virtual std::size_t write(std::string_view bytes) = 0;
  [[nodiscard]] virtual std::size_t output_waiting() const = 0;
  [[nodiscard]] bool wants_pause() const { return output_waiting() >= kSlowTerminalBytes; }

  virtual void pause_typing() = 0;
  virtual void resume_typing() = 0;

  /// Suspends as if the user had pressed Ctrl-Z. Where no shell could continue us, only `on_continued` comes.
  virtual void suspend() = 0;
};

}  // namespace relay::pty
