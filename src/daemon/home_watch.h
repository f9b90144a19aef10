/// Detects that no client can reach the daemon any more: its socket or its home was removed, moved or replaced.
///
/// Why: such a daemon would keep running with a store that no command finds, beside the daemon that is started next.
/// Invariants: `on_lost` is called once. Nothing is polled. If the kernel has no watches left, nothing is detected,
///   with a warning in the log.
/// Ownership: borrows the loop, which outlives it. Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "net/asio_loop.h"
#include "net/file_watch.h"

namespace relay::daemon {

class HomeWatch {
 public:
  /// The paths exist: the daemon's socket, and a file of its home.
  HomeWatch(net::AsioLoop& loop, const std::vector<std::string>& paths, net::Task on_lost);

 private:
  void report_lost(const std::string& path);

  net::Task on_lost_;
  std::vector<std::unique_ptr<net::FileWatch>> watches_;
};

}  // namespace relay::daemon
