/// A host on this machine: real sockets, signals and user terminal; the kernel identifies its clients.
///
/// Invariants: signals to a headless host reach its program; otherwise SIGTERM, SIGINT and SIGHUP end the agent.
/// Ownership: borrows loop and outbox, which outlive it; only `run` uses the outbox. Threading: loop thread only.
#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"
#include "host/host.h"
#include "net/asio_loop.h"
#include "net/unix_network.h"

namespace relay::host {

class HostProcess {
 public:
  HostProcess(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox);

  /// Runs until the agent has ended, then stops the loop. Returns the exit status.
  Result<pty::ExitStatus> run();
  [[nodiscard]] const std::string& error() const { return host_.error(); }

 private:
  HostOptions complete(HostOptions options);

  net::AsioLoop& loop_;
  SystemRandom random_;
  net::UnixNetwork network_{loop_};
  bool headless_;
  std::function<void()> on_agent_exit_ = [] {};
  Host host_;
};

}  // namespace relay::host
