/// Runs `agent-relay bench`: short measurements of the daemon and of a raw forwarder in turns.
///
/// Why short: load on the machine affects both alike, and the messages of a measurement are removed in one short commit, so
///   that other users of the daemon wait for tens of milliseconds at most.
/// Invariant: the agents and messages of the pair are removed however it ends; after a kill the next run does it.
/// Threading: one thread, its own loop.
#pragma once

#include "base/result.h"
#include "cli/bench/results.h"
#include "cli/framework/context.h"

namespace relay::cli {

struct BenchOptions {
  Millis time{3'000};             // limit of each part: one by one, and many at once
  std::size_t messages = 20'000;  // limit of each part
  std::size_t bytes = 100;
  std::size_t window = 64;
};

struct BenchOutcome {
  BenchResults measured;
  bool interrupted = false;
};
Result<BenchOutcome> run_bench(const BenchOptions& options, const Context& context);

}  // namespace relay::cli
