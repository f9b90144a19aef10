/// The one thread that plays all endpoints, the same for every subject: it writes, waits, hears.
///
/// Why one thread: with two cores, one is the server's and one is ours, and no subject is helped or hurt by how its
///   client happens to be threaded. The cost of driving is in nobody's CPU column.
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
  using OnHeard = std::function<void(std::size_t endpoint, const Heard& heard)>;

  static Result<Driver> over(std::span<const std::unique_ptr<Endpoint>> endpoints);

  [[nodiscard]] Endpoint& at(std::size_t index) { return *endpoints_[index]; }
  /// Writes what is queued there: now as far as it goes, the rest in later turns.
  Result<void> flush(std::size_t index);
  /// Waits until something can be done, does it and tells what was heard. An error when for long nothing is heard, however
  /// much comes (heartbeats, repetitions), or when the person has had enough.
  Result<void> turn(const OnHeard& on_heard);
  /// The same for a while, in which nothing need happen.
  Result<void> idle(std::chrono::milliseconds time);

 private:
  Driver(UniqueFd poll, std::span<const std::unique_ptr<Endpoint>> endpoints);
  Result<void> write(std::size_t index);
  Result<void> hear(std::size_t index, const OnHeard& on_heard);
  /// False: nothing moved in that time.
  Result<bool> wait(const OnHeard& on_heard, std::chrono::milliseconds patience);

  UniqueFd poll_;
  std::vector<Endpoint*> endpoints_;
  std::vector<bool> waits_to_write_;
  bool heard_what_came_before_ = false;
  SteadyTime last_progress_ = now();  // when something was sent by the work, or heard
};

/// From now on an interrupt ends the turn with an error, so that servers and their directories are cleared away.
void end_turns_on_interrupt();
bool interrupted();

}  // namespace relay::bench
