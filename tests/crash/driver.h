/// Starts a daemon and clients, kills and restarts them at random, drains, and compares the journals.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "comparison.h"

namespace relay::crash {

struct DriverOptions {
  std::string program;  // agent-relay
  std::string self;     // this program, for the clients
  std::uint64_t seed = 0;
  std::uint64_t kills = 110;
  std::uint64_t messages = 110'000;  // accepted by outboxes; the kills continue until both numbers are reached
  std::size_t clients = 6;
  int messages_per_second = 600;  // each client's average
  std::string durability = "power";
  bool keep = false;
};

struct RunResult {
  Comparison comparison;
  std::uint64_t daemon_kills = 0;
  std::uint64_t client_kills = 0;
  double seconds = 0;
};

Result<RunResult> run_crash_test(const DriverOptions& options);

}  // namespace relay::crash
