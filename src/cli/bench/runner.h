/// How `agent-relay bench` goes: small pieces of measuring, the daemon and a raw forwarder in turns.
///
/// Why in pieces: a busy moment of the machine hits both alike, and what a piece stored is removed in one short commit,
///   so whoever works in this workspace meanwhile waits for tens of milliseconds at most.
/// Invariant: however it ends, agents and messages of the pair are removed; only being killed prevents that, and then
///   the next run does it.
/// Threading: one thread, its own loop.
#pragma once

#include "base/result.h"
#include "cli/bench/results.h"
#include "cli/framework/context.h"

namespace relay::cli {

struct BenchOptions {
  Millis time{3'000};             // of each part: one by one, and many at once
  std::size_t messages = 20'000;  // of each part, at most
  std::size_t bytes = 100;
  std::size_t window = 64;
};

struct BenchOutcome {
  BenchResults measured;
  bool interrupted = false;
};
Result<BenchOutcome> run_bench(const BenchOptions& options, const Context& context);

}  // namespace relay::cli
