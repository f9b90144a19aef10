/// The agent's terminal: its output goes to the screen, the user's terminal and attached clients; keys go to its input.
///
/// Invariants: output reaches the user's terminal unchanged, with nothing between but a notification the user asked
///   for; a slow terminal slows the program; the terminal of the user is restored on every way out.
/// Ownership: owns the program and the user's terminal; borrows its parts, which outlive it. Threading: loop thread
///   only.
#pragma once

#include <memory>
#include <string_view>

#include "net/event_loop.h"
#include "pty/program.h"
#include "pty/user_terminal.h"
#include "terminal/query_reply.h"
#include "terminal/screen.h"

namespace relay::host {

class AgentCommands;
class AgentInput;
class AgentUpdater;
class DialogDriver;
class HostServer;
class ScreenMonitor;
class SessionEnd;

class TerminalRelay final : public pty::ProgramListener, public pty::UserTerminalListener {
 public:
  struct Parts {
    ScreenMonitor& monitor;
    AgentInput& input;
    AgentCommands& commands;
    DialogDriver& answers;
    HostServer& server;
    AgentUpdater& updater;
    SessionEnd& end;
  };
  TerminalRelay(net::EventLoop& loop, Parts parts) : loop_{loop}, parts_{parts} {}

  /// The terminal the user sits at; none for a detached host.
  void attach(std::unique_ptr<pty::UserTerminal> user) { user_ = std::move(user); }
  void connect(std::unique_ptr<pty::Program> program);
  /// Gives the user's terminal back.
  void close() { user_.reset(); }

  [[nodiscard]] pty::Program& program() { return *program_; }
  /// None when there is none.
  [[nodiscard]] pty::UserTerminal* user() const { return user_.get(); }
  /// The user types, at whatever terminal.
  void type(std::string_view bytes);
  void resize(pty::WindowSize size);

  /// The user's terminal is slow, so the program's output waits.
  [[nodiscard]] bool is_output_paused() const { return output_paused_; }
  /// The screen shows a part of what has arrived.
  [[nodiscard]] bool is_feeding() const { return feeding_; }
  /// People must not type for now: the program does not read.
  void set_backpressure(bool crowded);

 private:
  void on_output(std::string_view bytes) override;
  void on_input_written(std::size_t bytes_left) override;
  void on_program_resized(pty::WindowSize size) override;
  void on_exit(const pty::ExitStatus& status) override;

  void on_typed(std::string_view bytes) override { type(bytes); }
  void on_written(std::size_t bytes_left) override;
  void on_resized(pty::WindowSize size) override { resize(size); }
  void on_continued() override;
  void on_closed(const std::string& reason) override;

  void show_to_user(std::string_view bytes);
  void answer_queries();
  void reply_to(const terminal::TerminalQuery& query);
  void show_resized(pty::WindowSize size);

  net::EventLoop& loop_;
  Parts parts_;
  terminal::Modes restored_modes_;  // those that the user's terminal is restored from
  bool output_paused_ = false;
  bool feeding_ = false;
  std::unique_ptr<pty::UserTerminal> user_;
  std::unique_ptr<pty::Program> program_;
};

}  // namespace relay::host
