/// How an agent's session ends: the program exits, its last output is read, the daemon gets a BYE, the host finishes.
///
///     running ──exit──▶ reading ──kLastOutputDelay──▶ leaving ──handshake done, sends acked, or kByeTimeout──▶ finished
///
/// Invariants: `on_finished` is called once. The record of the end is on disk before the BYE, so that it survives while
///   the daemon is offline.
/// Ownership: borrows its parts, which outlive it. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "base/lifetime.h"
#include "host/control/host_protocol.h"
#include "net/event_loop.h"
#include "protocol/bye.h"
#include "pty/exit_status.h"

namespace relay::host {

class AdapterBridge;
class AgentCommands;
class AgentUpdater;
class CommandExecutor;
class DaemonSession;
class DeliveryPipeline;
class DialogDriver;
class HostServer;
class TerminalRelay;

class SessionEnd {
 public:
  struct Parts {
    TerminalRelay& terminal;
    AgentUpdater& updater;
    AgentCommands& commands;
    AdapterBridge& adapter;
    DialogDriver& answers;
    DeliveryPipeline& pipeline;
    HostServer& server;
    DaemonSession& session;
    CommandExecutor& executor;
  };
  /// `records`: the directory for the record of the end.
  SessionEnd(net::EventLoop& loop, std::string agent, std::string records, Parts parts)
      : loop_{loop}, agent_{std::move(agent)}, records_{std::move(records)}, parts_{parts} {}

  /// `on_exit`: the program has ended; `on_finished`: everything has been sent or has timed out.
  void observe(std::function<void()> on_exit, std::function<void()> on_finished);
  /// Ends the program; the first reason counts.
  void release(ReleaseAgent request);
  void end_program();
  void on_exit(const pty::ExitStatus& status);
  /// Finishes when nothing is pending.
  void leave_if_done();

  [[nodiscard]] bool has_exited() const { return exited_; }
  [[nodiscard]] const pty::ExitStatus& status() const { return status_; }

 private:
  [[nodiscard]] bool awaits_acks() const;
  [[nodiscard]] bool is_in_handshake() const;
  void start_leaving();
  void leave();
  void write_record();

  net::EventLoop& loop_;
  std::string agent_;
  std::string records_;
  Parts parts_;
  std::function<void()> on_exit_;
  std::function<void()> on_finished_;
  pty::ExitStatus status_;
  bool exited_ = false;
  bool leaving_ = false;
  std::optional<ReleaseAgent> released_;
  protocol::Bye bye_;
  std::unique_ptr<net::Timer> timer_;
  Lifetime lifetime_;
};

}  // namespace relay::host
