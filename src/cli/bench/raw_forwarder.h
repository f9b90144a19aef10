/// The minimal relay: a thread that copies bytes from one Unix socket to another.
///
/// It has two hops like the daemon, so the difference is the daemon's own work: parsing, routing, storing.
/// Threading: used by one thread; its own thread only copies and ends in the destructor.
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

  /// Sends `body` repeatedly with at most `window` messages in flight.
  Result<Measurement> measure(const std::string& body, std::size_t window, const BenchLimit& limit);

 private:
  RawForwarder(UniqueFd in, UniqueFd out, std::thread copying)
      : in_{std::move(in)}, out_{std::move(out)}, copying_{std::move(copying)} {}

  UniqueFd in_, out_;  // the ends that are written to and read from
  std::thread copying_;
};

}  // namespace relay::cli
