/// One thread, one loop: what happens next, and when.
///
/// Production runs it on Boost.Asio (asio_loop.cc); the simulation runs the same users on a virtual clock.
/// Threading: everything on the loop thread, except `post()`, the only door for other threads.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"

namespace relay::net {

using Task = std::move_only_function<void()>;

/// A timer that has not fired. Destroying it cancels it; the task then never runs.
class Timer {
 public:
  virtual ~Timer() = default;
};

class EventLoop : public Clock {
 public:
  /// Runs the task on the loop thread, after whatever is running now. Any thread.
  virtual void post(Task task) = 0;

  /// Runs the task once at (or soon after) that time. Dropping the handle cancels.
  [[nodiscard]] virtual std::unique_ptr<Timer> at(SteadyTime when, Task task) = 0;

  [[nodiscard]] std::unique_ptr<Timer> after(Millis delay, Task task) {
    return at(now().steady + delay, std::move(task));
  }
};

}  // namespace relay::net
