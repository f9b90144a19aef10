/// The least that any relay could cost: a thread that copies bytes from one Unix socket to another, and nothing else.
///
/// Two hops like the daemon's, so what the daemon takes beyond this is its own work: reading, routing, keeping.
/// Threading: one thread uses it; its own one only copies, and ends with it.
#pragma once

#include <string>
#include <thread>

#include "base/result.h"
#include "base/unique_fd.h"
#include "cli/bench/results.h"

namespace relay::cli {

class RawForwarder {
 public:
  static Result<RawForwarder> start();
  RawForwarder(RawForwarder&&) = default;
  RawForwarder& operator=(RawForwarder&&) = delete;
  ~RawForwarder();

  /// Sends `body` again and again, at most `window` of them on their way.
  Result<Measurement> measure(const std::string& body, std::size_t window, const BenchLimit& extent);

 private:
  RawForwarder(UniqueFd in, UniqueFd out, std::thread copying)
      : in_{std::move(in)}, out_{std::move(out)}, copying_{std::move(copying)} {}

  UniqueFd in_, out_;  // our ends: written to, read from
  std::thread copying_;
};

}  // namespace relay::cli
