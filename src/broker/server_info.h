/// What the broker reports about its surroundings in STATUS, HEALTH and METRICS. The probes read the machine.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"

namespace relay::broker {

struct ProcessUsage {
  std::uint64_t rss_bytes = 0;
  double cpu_percent = 0;
};

struct MachineUsage {
  std::uint64_t total_memory = 0;
  std::uint64_t free_memory = 0;
  std::uint64_t own_memory = 0;
};

struct ServerInfo {
  std::string version;
  std::string storage_driver;
  bool persistent = false;
  std::string damage = {};            // of the store: a sentence; empty: none was found
  std::uint64_t lost_messages = 0;    // by that, at most
  std::uint64_t refused_changes = 0;  // acknowledged ones that the store refuses and keeps for its next opening
  std::string durability = {};        // what an accepted message survives: `power` or `process`; empty: neither
  std::function<ProcessUsage(std::int32_t pid)> process_usage = {};
  std::function<MachineUsage()> machine_usage = {};
  std::string system_token = {};           // shown by the daemon's own programs; empty: no token is valid
  std::optional<SteadyTime> started = {};  // of the daemon; without it the broker's own start counts
};

/// Damage of the store that was found after its opening.
struct StoreDamage {
  std::string finding;                  // which file, what is wrong, the next step
  std::string reason;                   // the same with what is lost, where that is known
  std::uint64_t lost_messages = 0;      // at most
  std::uint64_t refused_changes = 0;    // in all
  std::vector<std::string> files = {};  // that were quarantined
};

}  // namespace relay::broker
