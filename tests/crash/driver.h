/// Starts a daemon and clients, kills them at random, restarts everything, drains, and judges.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "verdict.h"

namespace relay::crash {

struct DriverOptions {
  std::string program;  // agent-relay
  std::string self;     // this program, for the clients
  std::uint64_t seed = 0;
  std::uint64_t kills = 110;
  std::uint64_t messages = 110'000;  // accepted by outboxes; goes on killing until both are reached
  std::size_t clients = 6;
  int messages_per_second = 600;  // each client's average
  std::string durability = "power";
  bool keep = false;
};

struct Outcome {
  Verdict verdict;
  std::uint64_t daemon_kills = 0;
  std::uint64_t client_kills = 0;
  double seconds = 0;
};

Result<Outcome> run_crash_test(const DriverOptions& options);

}  // namespace relay::crash
