/// A program in a pane of tmux, read and typed to like any other (pty/program.h), where people can look at it with
/// `tmux attach`.
///
///     Pane ── tmux -C (one client in control mode) ── tmux server ── pane ── keeper ── the program
///       └─────────────────────────── a socket ─────────────────────────────────┘
///
/// Invariants
/// - Nothing is polled: output comes as %extended-output when there is some. What the program wrote first and last is
///   there (keeper.h says how); `on_exit` is the last call, once the pane is gone and its session's name free again.
/// - Nothing grows: while output is paused, and while tmux has gathered more than we took, the output of the pane's
///   terminal is stopped (as by Ctrl-S, but no key starts it again) and the program waits in its write. tmux's own ways
///   do not do: `refresh-client -A pause` throws away what it holds, and a client that does not read makes the program
///   wait only while it is the only one attached to the server, and in 3.3a not even then always.
///   Input waits in a queue of pty::kMaxInputBytes; tmux is given more only while the program's terminal has room, or it
///   would take all we have into memory of its own.
/// - What was given to one `write`, up to 64 KiB, is typed without a person's keys inside (typist.h).
/// - The person decides: who attaches gives the window their size, and `on_program_resized` says so; their own panes
///   beside ours are left alone; `attach -d` and `detach -a` throw us out, and we come back; where they move the pane we
///   follow, and their windows keep their size and their current pane (view.h). Who kills the pane ends the program.
///
/// What cannot be promised
/// - After we were thrown out or the pane was moved, what we missed until we are back (some 10 ms) is gone, and the screen
///   is drawn again as it is: colours and cursor, not the modes, nor what has scrolled away. We type nothing meanwhile.
/// - `swap-window` with a window of another session is told to nobody: we see nothing from then on until something is
///   typed, for then we look.
/// - While our process is stopped (SIGSTOP), tmux keeps what we do not take, in its own memory.
/// - Keys that were on their way when we were thrown out may be lost; none is ever typed twice.
/// - Pixels: tmux does not take them from us.
///
/// When *we* are killed (kill -9), the program goes on in its session. That is what tmux is for; the name stays taken
/// until the program ends or somebody ends it: `tmux kill-session -t =relay-NAME`. When tmux's server is killed, the
/// program's terminal hangs up: `on_exit` tells how it ended, in general by SIGHUP; who ignores that is ended by us.
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
  /// The agent's; the session is session_name() of it.
  std::string name;
  /// The words that start a program which calls keep() with the path that follows as the last word.
  std::vector<std::string> keeper;
  /// What stands between `tmux` and its command: {"-L", "name"} for a server of one's own. Empty: the person's.
  std::vector<std::string> server;
  /// Where the keeper's socket lies until it is connected; empty: where temporary files are.
  std::string directory;
};

class Pane final : public pty::Program {
 public:
  /// Blocks until the program was executed, normally some tens of milliseconds, at most kStartPatience.
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
  /// tmux does.
  [[nodiscard]] bool answers_queries() const override { return true; }

 private:
  class Core;
  explicit Pane(std::shared_ptr<Core> core) : core_{std::move(core)} {}
  std::shared_ptr<Core> core_;
};

inline constexpr Millis kStartTimeout{10'000};

}  // namespace relay::tmux
