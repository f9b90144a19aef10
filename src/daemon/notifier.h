/// Tells the person that an agent waits for him: by a program of his own, by the desktop.
///
/// The program is run without a shell and gets the facts in its environment, never among its words, which everybody on
///   the machine can read.
/// Invariants: at most kMaxRunning run at once, none longer than kPatience, and not more than the rate allows; what goes
///   beyond that is not told this way. Nothing here delays anybody.
/// Ownership: borrows the loop, which outlives it; destroying it ends what runs. Threading: loop thread only.
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
