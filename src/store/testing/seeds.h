/// The seeds of a randomized test.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>

#include "base/format.h"

namespace relay::store {

/// Calls `run` with the seeds 1 to `count`, or only with the seed in RELAY_SEED; stops at the first failure.
template <class Run>
void for_each_seed(std::uint64_t count, Run run) {
  const char* only = std::getenv("RELAY_SEED");
  const std::uint64_t first = only == nullptr ? 1 : std::strtoull(only, nullptr, 10);
  for (std::uint64_t seed = first; seed < first + (only == nullptr ? count : 1); ++seed) {
    SCOPED_TRACE(format("replay with RELAY_SEED={}", seed));
    run(seed);
    if (testing::Test::HasFailure()) return;
  }
}

}  // namespace relay::store
