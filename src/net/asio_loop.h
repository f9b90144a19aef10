/// The event loop of production, on Boost.Asio. Only the sources of this folder name Asio.
///
/// Invariants: the loop sleeps in one system call until a descriptor, a timer or a posted task is due; an idle loop
///   never wakes. `run` returns after `stop` (at once) or after `finish` (when nothing is pending).
/// Ownership: everything created on a loop (timers, streams, listeners, signals) is destroyed before the loop.
/// Threading: one thread calls `run`; `post` and `stop` may be called from any.
#pragma once

#include <memory>

#include "net/event_loop.h"

namespace relay::net {

class AsioLoop final : public EventLoop {
 public:
  AsioLoop();
  ~AsioLoop() override;
  AsioLoop(const AsioLoop&) = delete;
  AsioLoop& operator=(const AsioLoop&) = delete;

  [[nodiscard]] Timestamp now() const override;
  void post(Task task) override;
  [[nodiscard]] std::unique_ptr<Timer> at(SteadyTime when, Task task) override;

  /// Runs until stopped or finished. May be called again afterwards.
  void run();
  /// Ends `run` after the task that is running now.
  void stop();
  /// Lets `run` return once nothing is pending: streams that are still draining get their time.
  void finish();

  struct Impl;
  [[nodiscard]] Impl& impl() { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

}  // namespace relay::net
