/// Sends the messages and kills processes at random until all are stored, waits until every delivery is final, and
/// compares.
///
///   Startup ──agents connected──▶ Load (messages and kills) ──all stored──▶ Drain ──all final──▶ Comparison
///
/// The seed decides the messages and the kills; timing decides what a kill hits. So a seed repeats the choices, not the
/// run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "confusion_matrix.h"
#include "processes.h"

namespace relay::accuracy {

struct DriverOptions {
  ProcessOptions processes;
  std::uint64_t seed = 0;
  std::uint64_t messages = 300;
  std::size_t senders = 3;
  std::uint64_t kills_per_minute = 120;
  bool quiet = false;  // no progress
};

struct Kills {
  std::uint64_t host = 0, agent = 0, daemon = 0;

  [[nodiscard]] std::uint64_t all() const { return host + agent + daemon; }
};

struct RunResult {
  ConfusionMatrix matrix;
  Kills kills;
  std::map<std::string, std::uint64_t> in_doubt_reasons;  // by the reason in the history
  std::uint64_t torn = 0, out_of_order = 0, stored_twice = 0;
  std::vector<std::string> examples;
  double seconds = 0;  // of load and drain

  /// A host or an agent that is killed leaves at most one message between its first byte and its outcome.
  [[nodiscard]] std::uint64_t max_in_doubt() const { return kills.host + kills.agent; }
  [[nodiscard]] bool clean() const {
    return matrix.is_accurate() && matrix.in_doubt() <= max_in_doubt() && torn + out_of_order + stored_twice == 0;
  }
};

Result<RunResult> run_delivery_accuracy_test(const DriverOptions& options);

}  // namespace relay::accuracy
