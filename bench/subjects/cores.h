/// Whose core is whose. By default the driver has one to itself, and servers have all the others.
///
/// Why: a hop takes several times as long between two cores as on one, and a scheduler that puts both ends now on one, now
///   on two gives every subject two speeds, by chance. Apart is alike for all, and how agents and a daemon run on a machine
///   that has room for them; waking each other is then much of everybody's time. On one core it is nearly none of it, so
///   the subjects' own work shows more clearly, and nothing can be done at the same time.
/// Threading: for the driver's one thread; what it starts inherits its cores.
#pragma once

#include <sched.h>

#include <optional>
#include <string>

namespace relay::bench {

enum class Cores { Apart, One, Free };

/// Once, before anything is started. Where there is only one core nothing is divided.
void divide(Cores wish);
/// For a process that is neither driver nor server.
void use_all_cores();
/// In one sentence, for the report.
std::string cores_in_words();

/// While it lives this thread, and what it starts, runs where servers do.
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
