/// The agent's terminal: its output goes to the screen, the user's terminal and attached clients; keys go to its input.
///
/// Invariants: output reaches the user's terminal unchanged, with nothing in between except notifications that the user
///   enabled; a slow terminal slows the program; the user's terminal is always restored.
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

  /// The user's terminal; null for a detached host.
  void attach(std::unique_ptr<pty::UserTerminal> user) { user_ = std::move(user); }
  void connect(std::unique_ptr<pty::Program> program);
  /// Restores the user's terminal.
  void close() { user_.reset(); }

  [[nodiscard]] pty::Program& program() { return *program_; }
  /// Null without one.
  [[nodiscard]] pty::UserTerminal* user() const { return user_.get(); }
  /// Input of the user, from any terminal.
  void type(std::string_view bytes);
  void resize(pty::WindowSize size);

  /// The user's terminal is slow, so the program's output is paused.
  [[nodiscard]] bool is_output_paused() const { return output_paused_; }
  /// The screen has only a part of the output that arrived.
  [[nodiscard]] bool is_feeding() const { return feeding_; }
  /// Pauses the user's typing while the program does not read its input.
  void set_backpressure(bool active);

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
  terminal::Modes restored_modes_;  // from which the user's terminal is restored
  bool output_paused_ = false;
  bool feeding_ = false;
  std::unique_ptr<pty::UserTerminal> user_;
  std::unique_ptr<pty::Program> program_;
};

}  // namespace relay::host
