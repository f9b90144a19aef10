/// An agent's host: runs its program in a terminal, reads its screen and native interfaces, delivers messages to it.
///
///     user ◀─bytes─▶ UserTerminal ◀─▶ TerminalRelay ◀─▶ Program (the agent)
///     clients ◀─▶ HostServer ◀─▶ ClientRequests │ ScreenMonitor ─▶ AgentUpdater ─▶ AgentState, prompts
///     daemon ◀─▶ Link ◀─▶ DaemonSession ─▶ DeliveryPipeline ─▶ Adapter, or the gate ─▶ AgentKeys ─▶ AgentInput ─▶
///     Program
///
/// Why injected: the caller supplies loop, network, program, user terminal and adapter (host_process.h makes the real
///   ones), so a test runs a whole host on a manual clock.
/// Invariants: README.md lists them.
/// Ownership: owns what HostOptions hold; borrows HostEnvironment. Must not be destroyed inside one of its own callbacks.
/// Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "base/directory.h"
#include "base/random.h"
#include "base/result.h"
#include "client/outbox.h"
#include "host/control/host_protocol.h"
#include "host/control/host_record.h"
#include "host/control/host_server.h"
#include "host/prompts/terminal_notifier.h"
#include "net/event_loop.h"
#include "net/stream.h"
#include "profiles/profile.h"
#include "pty/program.h"
#include "pty/user_terminal.h"

namespace relay::host {

/// What a host runs on; all outlive it.
struct HostEnvironment {
  net::EventLoop& loop;
  net::Network& network;
  Random& random;
  client::Outbox& outbox;
};

/// The files of a host.
struct HostPaths {
  std::string workspace_socket;
  std::string project_root;
  std::string records;                   // directory of hosts/<id>.json
  std::string socket;                    // the socket to listen at
  Directory* state_directory = nullptr;  // holds the intent log; outlives the host
  std::string intent_file;
  Directory* inbox = nullptr;  // team/<agent>/, or none; outlives the host
  /// Below project_root: where the agent finds messages too long to type, and puts messages as files.
  std::vector<std::string> long_texts;
  std::vector<std::string> outgoing;
  std::string private_file = {};  // the adapter's, removed when the agent has ended; empty: none
};

/// Starts the agent's program; the caller decides what runs and where.
using StartProgram = std::move_only_function<Result<std::unique_ptr<pty::Program>>(pty::WindowSize size,
                                                                                   pty::ProgramListener& listener)>;
/// Opens the terminal that the user started the host in; null without one.
using OpenUserTerminal =
    std::move_only_function<Result<std::unique_ptr<pty::UserTerminal>>(pty::UserTerminalListener& listener)>;

struct HostOptions {
  HostRecord record;  // id, name, cli, spawner and the like; the host adds processes, profile, socket and start time
  HostPaths paths;
  profiles::Profile profile;
  std::unique_ptr<adapters::Adapter> adapter = {};  // prepared; null: only screen and terminal
  std::string claim_token;                          // reserves the name for the user's next program with it
  bool detached = false;                            // without the user's terminal, even if there is one
                                                    // (record.headless: no terminal at all)
  TerminalNotification notice =
      TerminalNotification::Off;  // how the user's terminal shows that the agent waits for input
  StartProgram start;
  OpenUserTerminal open_user_terminal = {};
  HostServer::OriginOf classify_peer = {};  // null: every client counts as the user
  /// Called once: the agent runs, the socket is open and, for a spawned agent, the daemon has admitted it; or the error.
  std::move_only_function<void(Result<pid_t> host)> on_started = {};
  /// The program has ended; the kernel may reuse its pid.
  std::function<void()> on_agent_exit = {};
  /// Everything has been sent or has timed out: the host may be closed.
  std::function<void()> on_finished = {};
};

class Host {
 public:
  Host(const HostEnvironment& environment, HostOptions options);
  ~Host();

  /// Starts the program and everything around it. An error: nothing runs.
  Result<void> start();
  /// Ends the agent; `on_finished` follows.
  void release(ReleaseAgent request);
  /// After `on_finished`: disconnects from the daemon, restores the user's terminal and removes the host's files.
  /// Clients stay connected until the host is destroyed.
  void close();

  [[nodiscard]] pid_t agent_pid() const;
  /// The agent's exit status.
  [[nodiscard]] const pty::ExitStatus& status() const;
  /// The error that stopped the link to the daemon; empty without one.
  [[nodiscard]] const std::string& error() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace relay::host
