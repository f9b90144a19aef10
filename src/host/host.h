/// An agent's host: runs its program in a terminal, reads its screen and native interfaces, delivers messages to it.
///
///     user ◀─bytes─▶ UserTerminal ◀─▶ TerminalRelay ◀─▶ Program (the agent)
///     clients ◀─▶ HostServer ◀─▶ ClientRequests │ ScreenMonitor ─▶ AgentUpdater ─▶ AgentState, prompts
///     daemon ◀─▶ Link ◀─▶ DaemonSession ─▶ DeliveryPipeline ─▶ Adapter, or the gate ─▶ AgentKeys ─▶ AgentInput ─▶
///     Program
///
/// Why injected: loop, network, program, user's terminal and adapter are the caller's (host_process.h makes the real
///   ones), so a test runs a whole host on a clock it moves by hand.
/// Invariants: README.md lists them.
/// Ownership: owns what HostOptions hold; borrows HostEnvironment. May not be destroyed inside a callback of its own.
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

/// Where a host's files are.
struct HostPaths {
  std::string workspace_socket;
  std::string project_root;
  std::string records;          // directory of hosts/<id>.json
  std::string socket;           // the socket to listen at
  Directory* outbox = nullptr;  // holds the intent log; outlives the host
  std::string intent_file;
  Directory* inbox = nullptr;  // team/<agent>/, or none; outlives the host
  /// Below project_root: where the agent finds messages too long to type, and puts messages as files.
  std::vector<std::string> long_texts;
  std::vector<std::string> outgoing;
  std::string private_file = {};  // of the adapter, removed when the agent has ended; empty: none
};

/// Starts the agent's program; the caller decides what runs and where.
using StartProgram = std::move_only_function<Result<std::unique_ptr<pty::Program>>(pty::WindowSize size,
                                                                                   pty::ProgramListener& listener)>;
/// Opens the terminal that the user started the host in; none: there is none.
using OpenUserTerminal =
    std::move_only_function<Result<std::unique_ptr<pty::UserTerminal>>(pty::UserTerminalListener& listener)>;

struct HostOptions {
  HostRecord record;  // id, name, cli, spawner and the like; the host fills in what only it knows
  HostPaths places;
  profiles::Profile profile;
  std::unique_ptr<adapters::Adapter> adapter = {};  // prepared; none: the agent is only read and typed to
  std::string claim_token;                          // keeps the name for the user's next program under it
  bool detached = false;                            // no terminal of the user's, even if there is one
                                                    // (record.headless: no terminal at all)
  TerminalNotification notice =
      TerminalNotification::Off;  // how the user's terminal shows that the agent waits for input
  StartProgram start;
  OpenUserTerminal open_user_terminal = {};
  HostServer::OriginOf classify_peer = {};  // none: every client is the user's
  /// Once: the agent runs, the socket is open, and, for a spawned one, the daemon has admitted it; or why it will not.
  std::move_only_function<void(Result<pid_t> host)> on_started = {};
  /// The program has ended: its pid may be another's from now on.
  std::function<void()> on_agent_exit = {};
  /// Everything has been sent or given up: the host may be closed.
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
  /// After `on_finished`: leaves the daemon, gives the user's terminal back and removes the host's files. Connected
  /// clients stay until the host is destroyed.
  void close();

  [[nodiscard]] pid_t agent_pid() const;
  /// How the agent has ended.
  [[nodiscard]] const pty::ExitStatus& status() const;
  /// Why the agent has been running without the relay; empty when it has not.
  [[nodiscard]] const std::string& error() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace relay::host
