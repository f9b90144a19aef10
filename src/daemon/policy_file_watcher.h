/// The rules in config.toml: what agents may do without approval by the user, and which agents may start others. Read
/// at the start and whenever the file changes.
///
/// Why a pause before reading: an editor may truncate the file first, and half of the rules must not apply.
/// Invariants: while the file is unreadable or has any mistake, the user decides every request, with a warning in the
///   log; without a file there is no rule, and agents start no others.
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

  /// On an error no rule is in force.
  Result<void> read();

 private:
  [[nodiscard]] Result<Rules> load() const;
  [[nodiscard]] broker::SpawnPolicy spawn_policy(const config::Settings& settings) const;

  net::AsioLoop& loop_;
  const config::Home& home_;
  Sink sink_;
  bool failed_ = false;  // the last read failed
  std::unique_ptr<net::Timer> timer_;
  std::unique_ptr<net::FileWatch> watch_;
};

}  // namespace relay::daemon
