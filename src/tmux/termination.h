/// Ends a program and all its descendants: SIGTERM, SIGHUP, SIGKILL.
///
/// Invariants: a second request can only make it sooner. While killing, `kill_again` also reaches processes that were
///   forked meanwhile; after pty::kKillTimeout it has given up, because a process may be unkillable.
/// Ownership: borrows the loop. After `stop` or its destruction it sends nothing.
/// Threading: loop thread only.
#pragma once

#include <csignal>
#include <functional>
#include <initializer_list>
#include <memory>

#include "base/clock.h"
#include "pty/process_tree.h"

namespace relay::net {
class AsioLoop;
class Timer;
}  // namespace relay::net

namespace relay::tmux {

class Termination {
 public:
  /// `on_killing` is called when the grace is over.
  Termination(net::AsioLoop& loop, pty::ProcessTree tree, pid_t leader, std::function<void()> on_killing);
  ~Termination();
  Termination(const Termination&) = delete;
  Termination& operator=(const Termination&) = delete;

  /// False when the call changes nothing.
  bool start(Millis grace);
  [[nodiscard]] bool started() const { return stage_ != Stage::No; }
  [[nodiscard]] bool killing() const { return stage_ == Stage::Killing; }
  [[nodiscard]] bool has_given_up() const;
  [[nodiscard]] bool any_alive() { return tree_.any_alive(); }

  void kill_again() { tree_.signal_all(SIGKILL); }
  /// Waits until no process is left, or the timeout.
  void kill_now();
  void stop();

 private:
  enum class Stage : std::uint8_t { No, Requested, Killing };

  void notify_all(std::initializer_list<int> signals);

  net::AsioLoop& loop_;
  pty::ProcessTree tree_;
  pid_t leader_;
  std::function<void()> on_killing_;
  Stage stage_ = Stage::No;
  SteadyTime kill_at_{};
  std::unique_ptr<net::Timer> hang_up_timer_;
  std::unique_ptr<net::Timer> grace_timer_;
};

}  // namespace relay::tmux
