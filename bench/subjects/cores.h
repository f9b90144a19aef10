/// Assigns cores. By default the driver has one core and the servers have all others.
///
/// Why: a hop between two cores takes several times as long as on one. A scheduler that sometimes puts both ends on one
///   core gives every subject two speeds at random. Separate cores are fair, and are how agents and a daemon run on a
///   machine with free cores; wake-ups are then much of the time. On one core they cost almost nothing, so the
///   subjects' own work shows more clearly, but nothing runs in parallel.
/// Threading: for the driver's thread; child processes inherit its cores.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace relay::bench {

enum class Cores { Apart, One, Free };

/// Called once, before any server starts. Does nothing on a machine with one core.
void divide(Cores cores);
/// For a process that is neither driver nor server.
void use_all_cores();
/// Describes the assignment for the report.
std::string describe_cores();

/// While it exists, this thread and its children run on the server cores.
class OnServersCores {
 public:
  OnServersCores();
  ~OnServersCores();
  OnServersCores(const OnServersCores&) = delete;
  OnServersCores& operator=(const OnServersCores&) = delete;

 private:
  std::optional<cpu_set_t> before_;
};

}  // namespace relay::bench
