/// An agent at home: its program in a terminal we own, its screen read, its words sent, its mail put before it.
///
///     person ◀─bytes─▶ PersonTerminal ◀──▶ Host ◀──▶ Program (the agent)
///     visitors ◀────── Door ◀──────────────┤│ output ─▶ Screen ─▶ Watcher ─▶ Voice (what it says) ─▶ Link ─▶ daemon
///     hooks ─────────▶ Door                ││ NativeSide (its own doors) ─▶ Voice
///                                          └ deliveries ─▶ MailDesk ─▶ NativeSide, or the gate ─▶ Keyboard
///
/// Invariants: what a person types reaches the agent unchanged and at once; what the agent draws reaches the person
///   unchanged, with nothing between but a notice he asked for; nothing is typed by us but through the gate; its words are heard by one way at a time; the person's terminal is given back on every way out.
/// Ownership: owns everything but the loop. Threading: loop thread only.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "adapters/adapter.h"
#include "base/directory.h"
#include "base/result.h"
#include "client/outbox.h"
#include "host/control/host_record.h"
#include "host/prompts/terminal_notifier.h"
#include "net/asio_loop.h"
#include "profiles/profile.h"
#include "pty/command.h"
#include "pty/program.h"

namespace relay::host {

/// Where a host's files lie.
struct HostPaths {
  std::string workspace_socket;
  std::string project_root;
  std::string records;          // directory of hosts/<id>.json
  std::string socket;           // the socket to listen at
  Directory* outbox = nullptr;  // holds the note of intent; outlives the host
  std::string intent_file;
  Directory* inbox = nullptr;  // team/<agent>/, or none; outlives the host
  /// Below project_root: where the agent finds messages too long to type, and lays down messages as files.
  std::vector<std::string> long_texts;
  std::vector<std::string> outgoing;
  std::string private_file = {};  // of the adapter's, removed when the agent has ended; empty: none
};

/// Starts the agent's program; what to run and where is the maker's business.
using StartProgram = std::move_only_function<Result<std::unique_ptr<pty::Program>>(
    net::AsioLoop& loop, pty::WindowSize size, pty::ProgramListener& listener)>;

struct HostOptions {
  HostRecord record;  // id, name, cli, spawner and the like; what only the host knows is filled in by it
  HostPaths places;
  profiles::Profile profile;
  std::unique_ptr<adapters::Adapter> adapter = {};  // prepared; none: the agent is only seen and typed to
  std::string claim_token;                          // keeps the name for the next program of this person under it
  bool detached = false;                            // no terminal of a person's, even if there is one
                                                    // (record.headless: no terminal at all)
  TerminalNotification notice =
      TerminalNotification::Off;  // how the person's terminal hears that the agent waits for him
  StartProgram start;
  /// Once: the agent runs and the door is open, and, for a spawned one, the daemon has taken it in; or why it will not.
  std::move_only_function<void(Result<pid_t> host)> on_started = {};
};

class Host {
 public:
  Host(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox);
  ~Host();

  /// Runs until the agent has ended, and how it did. The loop is stopped then.
  Result<pty::ExitStatus> run();
  /// Why the agent ran without the relay from some moment on; empty when it did not.
  [[nodiscard]] const std::string& error() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace relay::host
