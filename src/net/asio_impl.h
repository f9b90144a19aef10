/// The part of AsioLoop that names Boost.Asio. Only the sources of this folder include it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <vector>

#include "net/asio_loop.h"

namespace relay::net {

struct AsioLoop::Impl {
  using WorkGuard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  /// Runs the task after the running one. Loop thread only.
  void post_here(Task task);

  boost::asio::io_context io{1};  // one thread runs it, so Asio may skip wake-ups between threads
  std::optional<WorkGuard> busy;

 private:
  void run_tasks();

  std::vector<Task> tasks_;  // posted on the loop thread; posting to Asio would poll the kernel between any two of them
  bool posted_ = false;      // run_tasks is scheduled
};

}  // namespace relay::net
