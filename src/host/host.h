/// An agent at home: its program in a terminal we own, its screen read, its words sent, its mail put before it.
///
///     person ◀─bytes─▶ PersonTerminal ◀──▶ Host ◀──▶ Child (the agent)
///                                           │ output ─▶ Screen ─▶ Watcher ─▶ what it says ─▶ Link ─▶ daemon
///                                           └ deliveries ─▶ Injection (the gate) ─▶ typed when nobody minds
///
/// Invariants: what the person types reaches the agent unchanged and at once; what the agent draws reaches the person
///   unchanged; nothing is typed by us but through the gate; the person's terminal is given back on every way out.
/// Ownership: owns everything but the loop. Threading: loop thread only.
#pragma once

#include <memory>
#include <string>

#include "base/directory.h"
#include "base/result.h"
#include "client/outbox.h"
#include "net/asio_loop.h"
#include "profiles/profile.h"
#include "pty/command.h"

namespace relay::host {

struct HostOptions {
  std::string name;         // of the agent
  std::string socket_path;  // of the workspace
  std::string project_root;
  pty::Command command;
  profiles::Profile profile;
  std::string claim_token;         // keeps the name for the next program of this person under it
  Directory* directory = nullptr;  // where the note of intent lies; outlives the host
  std::string intent_file;
};

class Host {
 public:
  Host(net::AsioLoop& loop, HostOptions options, client::Outbox& outbox);
  ~Host();

  /// Runs until the agent has ended; the exit code as a shell would give it. The loop is stopped then.
  Result<int> run();
  /// Why the agent ran without the relay from some moment on; empty when it did not.
  [[nodiscard]] const std::string& trouble() const;

 private:
  class Core;
  std::unique_ptr<Core> core_;
};

}  // namespace relay::host
