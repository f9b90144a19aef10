/// What config.toml lets agents do without a person: permission rules, and the starting of other agents. Read at the start,
/// and again whenever the file changes.
///
/// Why a pause before reading: whoever saves a file may empty it first, and half of the rules is not what he wrote.
/// Invariants: a file that cannot be read or has a mistake anywhere leaves everything to a person, with a warning in the log,
///   until it is mended; without a file there is no rule, and agents start no others.
/// Ownership: borrows the loop, which outlives it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>

#include "base/result.h"
#include "config/paths.h"
#include "config/settings.h"
#include "daemon/rules.h"
#include "net/asio_loop.h"
#include "net/file_watch.h"

namespace relay::daemon {

class PolicyFileWatcher {
 public:
  static constexpr Millis kSettleTime{200};
  using Sink = std::function<void(Rules)>;

  /// Reads at once.
  PolicyFileWatcher(net::AsioLoop& loop, const config::Home& home, Sink sink);

  /// The error says why no rule is in force now.
  Result<void> read();

 private:
  [[nodiscard]] Result<Rules> load() const;
  [[nodiscard]] broker::SpawnPolicy spawn_policy(const config::Settings& settings) const;

  net::AsioLoop& loop_;
  const config::Home& home_;
  Sink sink_;
  bool failed_ = false;  // the last time
  std::unique_ptr<net::Timer> timer_;
  std::unique_ptr<net::FileWatch> watch_;
};

}  // namespace relay::daemon
