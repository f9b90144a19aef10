/// Notifies the user of a prompt: by a configured program and by the desktop.
///
/// The program runs without a shell and gets the facts in its environment, not as arguments, which every user of the
///   machine can read.
/// Invariants: at most kMaxRunning programs run at once, each for at most kTimeout, within a rate limit; notifications
///   beyond these limits are dropped. Nothing here delays other work.
/// Ownership: borrows the loop, which outlives it; destroying it ends running programs. Threading: loop thread only.
#pragma once

#include <list>
#include <memory>
#include <string>
#include <vector>

#include "base/lifetime.h"
#include "broker/effects.h"
#include "broker/token_bucket.h"
#include "config/settings.h"
#include "net/asio_loop.h"
#include "pty/line_process.h"

namespace relay::daemon {

class Notifier {
 public:
  static constexpr std::size_t kMaxRunning = 4;
  static constexpr Millis kTimeout{10'000};

  explicit Notifier(net::AsioLoop& loop);
  ~Notifier();
  Notifier(const Notifier&) = delete;
  Notifier& operator=(const Notifier&) = delete;

  void use_settings(const config::Settings& settings);
  /// `project`: the root of its workspace.
  void notify(const broker::NotifyUser& request, const std::string& project);

 private:
  class Run;
  void run(pty::Command command);

  net::AsioLoop& loop_;
  std::vector<std::string> command_;
  bool desktop_ = false;
  broker::TokenBucket rate_{0.5, 5};
  std::list<std::unique_ptr<Run>> running_;
  Lifetime lifetime_;
};

}  // namespace relay::daemon
