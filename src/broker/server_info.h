/// What the broker reports about its process and machine in STATUS, HEALTH and METRICS.
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
  std::string damage = {};            // of the store, one sentence; empty: none was found
  std::uint64_t lost_messages = 0;    // through that damage, at most
  std::uint64_t refused_changes = 0;  // acknowledged changes that the store refuses; retried when it is opened again
  std::string durability = {};        // the failures that an accepted message survives: `power`, `process` or empty
  std::function<ProcessUsage(std::int32_t pid)> process_usage = {};
  std::function<MachineUsage()> machine_usage = {};
  std::string system_token = {};           // sent by the daemon's own programs; empty: no token is valid
  std::optional<SteadyTime> started = {};  // of the daemon; without it the broker's own start counts
};

/// Damage of the store that was found after it was opened.
struct StoreDamage {
  std::string finding;                  // the file, the damage, the next step
  std::string reason;                   // the same with the losses, if counted
  std::uint64_t lost_messages = 0;      // at most
  std::uint64_t refused_changes = 0;    // in total
  std::vector<std::string> files = {};  // that were quarantined
};

}  // namespace relay::broker
