/// The interface of the event loop: tasks and timers on one thread.
///
/// Production uses Boost.Asio (asio_loop.cc); the simulation runs the same callers on a virtual clock.
/// Threading: loop thread only, except `post()`, which any thread may call.
#pragma once

#include <functional>
#include <memory>

#include "base/clock.h"

namespace relay::net {

using Task = std::move_only_function<void()>;

/// A pending timer. Destroying it cancels it; the task then never runs.
class Timer {
 public:
  virtual ~Timer() = default;
};

class EventLoop : public Clock {
 public:
  /// Runs the task on the loop thread, after the running task. Any thread.
  virtual void post(Task task) = 0;

  /// Runs the task once, at `when` or soon after. Destroying the handle cancels.
  [[nodiscard]] virtual std::unique_ptr<Timer> at(SteadyTime when, Task task) = 0;

  [[nodiscard]] std::unique_ptr<Timer> after(Millis delay, Task task) {
    return at(now().steady + delay, std::move(task));
  }
};

}  // namespace relay::net
