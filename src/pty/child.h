/// A program in its own pseudo-terminal, from its start to the end of everything it started.
///
/// With Streams::Inherited it has our descriptors instead of a terminal: it has no output or input here and stays in
/// our process group, so that signals from the keyboard reach it directly. Everything else holds.
///
/// Invariants
/// - Nothing blocks and nothing grows: output is read in turns of at most kMaxTurnBytes and only on demand (the child
/// otherwise blocks in its write); input is queued up to kMaxInputBytes, and `write` returns how much it took. Both
/// directions are independent, so a child that floods its output while it gets input cannot deadlock with us.
/// - `on_exit` is the last call, after the last output. A grandchild that keeps the terminal open delays it by at most
/// kMaxDrainTime of reading.
/// - After `end` it comes after the last process of the tree has ended (process_tree.h lists the exceptions), or after
/// kKillTimeout, if even SIGKILL had no effect.
/// - A child that exits normally leaves its descendants running, as at any terminal: the kernel hangs up the foreground
/// group, and the rest stays on purpose. To end them too, call `end` while output still comes, or before.
/// Ownership: borrows loop and listener, which outlive it. Destroying it kills what still runs (see below) and is
///   allowed inside any of its callbacks.
/// Threading: loop thread only, and that thread must live as long as the child is needed (spawn.h has the reason).
///
/// Limits: when our process is killed (kill -9), the child and the foreground group get SIGHUP from the kernel. A
///   process that ignores SIGHUP, or runs in the background outside the child's group, survives.
#pragma once

#include <memory>
#include <string_view>

#include "pty/command.h"
#include "pty/program.h"

namespace relay::net {
class AsioLoop;
}

namespace relay::pty {

inline constexpr std::size_t kMaxTurnBytes = 64 * 1024;
inline constexpr std::size_t kMaxInputBytes = 256 * 1024;
inline constexpr Millis kExitDrainIdle{100};  // no output for this long after the exit: the output is complete
inline constexpr Millis kMaxDrainTime{1'000};
inline constexpr Millis kKillTimeout{2'000};

/// The variable that marks all descendants of one child.
inline constexpr std::string_view kMarkVariable = "AGENT_RELAY_PTY";

class Child final : public Program {
 public:
  /// Output is read from the next turn of the loop.
  static Result<std::unique_ptr<Child>> spawn(net::AsioLoop& loop, Command command, WindowSize size,
                                              ProgramListener& listener);
  /// While the child runs or is being ended: sends SIGKILL to the whole tree and waits for it, at most kKillTimeout.
  ~Child() override;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const override;

  /// In line mode a child loses what exceeds 4095 bytes in one line: that is the kernel's limit at any terminal.
  std::size_t write(std::string_view bytes) override;
  [[nodiscard]] std::size_t input_waiting() const override;

  void pause_output() override;
  void resume_output() override;

  Result<void> resize(WindowSize size) override;
  [[nodiscard]] bool may_echo() const override;

  /// Requests termination of the whole tree by SIGTERM, after half the grace by SIGHUP (a shell ignores the first; a
  /// program that cleans up on the first but does not expect the second would die of it if both came together), and
  /// kills the rest after the grace. A second call can only shorten the grace.
  void end(Millis grace) override;

 private:
  class Core;
  explicit Child(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  std::shared_ptr<Core> core_;
};

}  // namespace relay::pty
