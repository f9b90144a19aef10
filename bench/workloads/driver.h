/// Drives all endpoints on one thread, the same way for every subject: writes, polls, reads.
///
/// Why one thread: with two cores, one is the server's and one the driver's, and no subject gains or loses by the
///   threading of its client. The CPU column does not include the driver.
/// Ownership: borrows the endpoints, which outlive it.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "base/unique_fd.h"
#include "subjects/endpoint.h"

namespace relay::bench {

using SteadyTime = std::chrono::steady_clock::time_point;
inline SteadyTime now() { return std::chrono::steady_clock::now(); }
inline double seconds_since(SteadyTime start) { return std::chrono::duration<double>(now() - start).count(); }

class Driver {
 public:
  using OnRead = std::function<void(std::size_t endpoint, const ReadCounts& counts)>;

  static Result<Driver> over(std::span<const std::unique_ptr<Endpoint>> endpoints);

  [[nodiscard]] Endpoint& at(std::size_t index) { return *endpoints_[index]; }
  /// Writes the queue of that endpoint: now as far as possible, the rest in later turns.
  Result<void> flush(std::size_t index);
  /// Polls once, writes, reads and reports what was read. Fails when there is no progress for long (heartbeats and
  /// duplicates do not count), or after an interrupt.
  Result<void> turn(const OnRead& on_read);
  /// Runs turns for that time. No progress is not an error.
  Result<void> idle(std::chrono::milliseconds time);

 private:
  Driver(UniqueFd poll, std::span<const std::unique_ptr<Endpoint>> endpoints);
  Result<void> write(std::size_t index);
  Result<void> read(std::size_t index, const OnRead& on_read);
  /// False when nothing could be read or written in that time.
  Result<bool> wait(const OnRead& on_read, std::chrono::milliseconds timeout);

  UniqueFd poll_;
  std::vector<Endpoint*> endpoints_;
  std::vector<bool> write_pending_;
  bool read_buffered_ = false;
  SteadyTime last_progress_ = now();  // the last send of the workload or read with progress
};

/// Makes an interrupt fail the current turn, so that servers and their directories are removed.
void stop_on_interrupt();
bool interrupted();

}  // namespace relay::bench
