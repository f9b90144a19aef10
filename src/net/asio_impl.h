/// What the sources of this folder share of Asio. Never included outside it.
#pragma once

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <optional>

#include "net/asio_loop.h"

namespace relay::net {

struct AsioLoop::Impl {
  using WorkGuard = boost::asio::executor_work_guard<boost::asio::io_context::executor_type>;

  boost::asio::io_context io{1};  // one thread runs it: Asio may skip wake-ups meant for others
  std::optional<WorkGuard> busy;
};

}  // namespace relay::net
