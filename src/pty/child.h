/// A program in a pseudo-terminal of its own, from its start to the end of all it started.
///
/// With Streams::Inherited it has our descriptors in place of a terminal: it says nothing, takes no input and stays in our
/// process group, so that signals from the keyboard reach it directly. The rest holds.
///
/// Invariants
/// - Nothing blocks and nothing grows: output is read in turns of at most kMaxTurnBytes and only while somebody wants
///   it (the child then waits in its write); input waits in a queue of kMaxInputBytes that says how much it took.
///   Both directions move independently, so a child that floods while it is typed to cannot lock up with us.
/// - `on_exit` is the last call, after the last output. A grandchild that keeps the terminal open delays it by at most
///   kMaxDrainTime of reading.
/// - After `end` it is also called after the last of the tree is gone (process_tree.h says who may escape), or after
///   kKillPatience, when even SIGKILL did not help.
/// - A child that ends by itself leaves those it started alone, as at any terminal: the kernel hangs up the foreground
///   group, and the rest was meant to stay. Who wants them gone calls `end` while output still comes, or before.
///
/// Ownership: borrows loop and listener, which outlive it. Destroying it kills what still runs (see below) and is
///   allowed inside any of its callbacks.
/// Threading: loop thread only, and that thread must live as long as the child is wanted (spawn.h says why).
///
/// What cannot be promised: when *we* are killed (kill -9), the child and the foreground group get SIGHUP from the
/// kernel. Who ignores SIGHUP, or runs in the background outside the child's group, survives us.
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
inline constexpr Millis kQuietAfterExit{100};  // no output for so long after the exit: nothing more will come
inline constexpr Millis kMaxDrainTime{1'000};
inline constexpr Millis kKillTimeout{2'000};

/// The variable that marks all who come from one child.
inline constexpr std::string_view kMarkVariable = "AGENT_RELAY_PTY";

class Child final : public Program {
 public:
  /// Output is read from the next turn of the loop on.
  static Result<std::unique_ptr<Child>> spawn(net::AsioLoop& loop, Command command, WindowSize size,
                                              ProgramListener& listener);
  /// While the child runs, or is being ended: SIGKILL to the whole tree, and up to kKillPatience of waiting for it.
  ~Child() override;
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  [[nodiscard]] pid_t pid() const override;

  /// (A child in line mode loses what goes beyond 4095 bytes in one line: that is the kernel's rule at any terminal.)
  std::size_t write(std::string_view bytes) override;
  [[nodiscard]] std::size_t input_waiting() const override;

  void pause_output() override;
  void resume_output() override;

  Result<void> resize(WindowSize size) override;
  [[nodiscard]] bool may_echo() const override;

  /// Asks everyone in the tree to go by SIGTERM, after half the grace by SIGHUP (a shell ignores the first; who tidies
  /// up on the first but does not expect the second would die of it, were they sent together), and kills after the
  /// grace who still did not. A second call may only shorten the grace.
  void end(Millis grace) override;

 private:
  class Core;
  explicit Child(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  std::shared_ptr<Core> core_;
};

}  // namespace relay::pty
