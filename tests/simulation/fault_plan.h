/// The current probabilities of faults. The simulation draws them from the seed and clears them at the end of a run.
#pragma once

#include <chrono>
#include <cstddef>

namespace relay::simulation {

using Nanos = std::chrono::nanoseconds;
using std::chrono::microseconds;
using std::chrono::milliseconds;

/// Chances are in thousands.
struct FaultPlan {
  // Network.
  std::size_t cut = 0;          // a connection breaks, per piece of bytes that arrives
  std::size_t freeze = 0;       // a connection falls silent for a while, per piece
  std::size_t repeat = 0;       // a client sends a SEND or an ACK twice, per frame
  std::size_t slow_reader = 0;  // a connection whose client reads slowly, per connection
  Nanos max_delay = milliseconds{2};
  std::size_t min_socket_bytes = 65'536;  // bytes a socket holds; drawn up to four times this

  // Disk of the daemon.
  std::size_t commit_fails = 0;  // per group
  Nanos max_commit = milliseconds{3};

  // Disk of a program.
  std::size_t append_fails = 0;  // per message sent

  // Sessions.
  std::size_t abnormal_receipts = 0;  // a session reports something other than delivered, per delivery
  std::size_t host_crashes = 0;       // per step of a delivery
};

}  // namespace relay::simulation
