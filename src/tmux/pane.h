/// A program in a pane of tmux, read and typed to like any other (pty/program.h), where users can watch it with `tmux
/// attach`.
///
///     Pane ── tmux -C (one client in control mode) ── tmux server ── pane ── shim ── the program
///       └─────────────────────────── a socket ────────────────────────────────┘
///
/// Invariants
/// - No polling: output comes as %extended-output. The program's first and last output are complete (shim.h explains
/// how); `on_exit` is the last call, once the pane is closed and its session's name is free again.
/// - Nothing grows: while output is paused, and while tmux has buffered more than we read, the output of the pane's
/// terminal is stopped (as by Ctrl-S, but no key resumes it) and the program blocks in its write. tmux's own mechanisms
/// do not suffice: `refresh-client -A pause` drops buffered output, and a client that does not read blocks the program
/// only while it is the only one attached to the server, and in 3.3a not even then always. Input is queued up to
/// pty::kMaxInputBytes; tmux gets more only while the program's terminal has room, or it would buffer all of it in its
/// own memory.
/// - The bytes of one `write`, up to 64 KiB, are typed without keys of the user in between (pane_input.h).
/// - The user has priority: a client that attaches gives the window its size, reported by `on_program_resized`; the
/// user's other panes stay unchanged; `attach -d` and `detach -a` detach us, and we attach again; we follow a
/// pane that the user moves, and the user's windows keep their size and their current pane (pane_tracker.h). Killing
/// the pane ends the program.
///
/// Limits
/// - After we were detached or the pane was moved, the output until we are back (some 10 ms) is lost, and the screen is
/// drawn again as it is: colors and cursor, but not the modes, nor scrolled lines. Nothing is typed meanwhile.
/// - `swap-window` with a window of another session is not announced: we receive nothing until something is typed,
/// which triggers a check.
/// - While our process is stopped (SIGSTOP), tmux buffers our output in its own memory.
/// - Keys in transit when we were detached may be lost; none is ever typed twice.
/// - tmux does not accept pixel sizes from us.
///
/// When our process is killed (kill -9), the program keeps running in its session, as intended with tmux; the name
/// stays taken until the program ends or the user ends it: `tmux kill-session -t =relay-NAME`. When tmux's server is
/// killed, the program's terminal hangs up: `on_exit` reports how it ended, usually by SIGHUP; a program that ignores
/// SIGHUP is ended by us.
///
/// Ownership: borrows loop and listener, which outlive it. Destroying it kills what still runs, as with pty::Child, and
///   is allowed inside any of its callbacks.
/// Threading: loop thread only.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "pty/command.h"
#include "pty/program.h"

namespace relay::net {
class AsioLoop;
}

namespace relay::tmux {

struct PaneOptions {
  /// The agent's name; session_name() of it is the session.
  std::string name;
  /// The command that calls run_shim() with its last argument, a path that is appended here.
  std::vector<std::string> shim_command;
  /// Options between `tmux` and its command: {"-L", "name"} for a separate server. Empty: the user's server.
  std::vector<std::string> server;
  /// Where the shim's socket is until it is connected; empty: the directory for temporary files.
  std::string directory;
};

class Pane final : public pty::Program {
 public:
  /// Blocks until the program was executed, normally some tens of milliseconds, at most kStartTimeout.
  static Result<std::unique_ptr<Pane>> spawn(net::AsioLoop& loop, pty::Command command, pty::WindowSize size,
                                             PaneOptions options, pty::ProgramListener& listener);
  ~Pane() override;
  Pane(const Pane&) = delete;
  Pane& operator=(const Pane&) = delete;

  [[nodiscard]] const std::string& session() const;

  [[nodiscard]] pid_t pid() const override;
  std::size_t write(std::string_view bytes) override;
  [[nodiscard]] std::size_t input_waiting() const override;
  void pause_output() override;
  void resume_output() override;
  Result<void> resize(pty::WindowSize size) override;
  void end(Millis grace) override;
  /// tmux replies to queries.
  [[nodiscard]] bool answers_queries() const override { return true; }

 private:
  class Core;
  explicit Pane(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  std::shared_ptr<Core> core_;
};

inline constexpr Millis kStartTimeout{10'000};

}  // namespace relay::tmux
