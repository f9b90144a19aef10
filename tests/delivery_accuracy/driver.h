/// Sends the messages, kills processes at random until all are stored, waits until every delivery is final, and judges.
///
///   Gathering ──all agents known──▶ Storm (messages and kills) ──all stored──▶ Calm ──all final──▶ Judged
///
/// The seed decides the messages and the kills; timing decides what a kill hits. So a seed repeats the choices, not the
/// run.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "matrix.h"
#include "stage.h"

namespace relay::verdicts {

struct DriverOptions {
  Props props;
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

struct Outcome {
  Matrix matrix;
  Kills kills;
  std::map<std::string, std::uint64_t> doubts;  // by the ledger's reason
  std::uint64_t torn = 0, disordered = 0, stored_twice = 0;
  std::vector<std::string> examples;
  double seconds = 0;  // of the storm and the calm

  /// A host or an agent that dies leaves at most one message between its first byte and its outcome.
  [[nodiscard]] std::uint64_t doubts_allowed() const { return kills.host + kills.agent; }
  [[nodiscard]] bool clean() const {
    return matrix.truthful() && matrix.in_doubt() <= doubts_allowed() && torn + disordered + stored_twice == 0;
  }
};

Result<Outcome> run_verdict_test(const DriverOptions& options);

}  // namespace relay::verdicts
