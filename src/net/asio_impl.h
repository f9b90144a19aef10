/// What the sources of this folder share of Asio. Never included outside it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>
#include <vector>

#include "net/asio_loop.h"

namespace relay::net {

struct AsioLoop::Impl {
  using WorkGuard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  /// After whatever is running now; from the loop thread only.
  void post_here(Task task);

  boost::asio::io_context io{1};  // one thread runs it: Asio may skip wake-ups meant for others
  std::optional<WorkGuard> busy;

 private:
  void run_tasks();

  std::vector<Task> tasks_;  // of the loop thread's own; Asio would ask the kernel for news between any two of them
  bool posted_ = false;      // run_tasks is on its way
};

}  // namespace relay::net
