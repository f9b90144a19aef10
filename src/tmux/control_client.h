/// One `tmux -C` client: sends command lines and receives replies and output.
///
/// Invariants: replies come in the order of the lines, each to its sender. tmux may execute the command it was started
///   with after the first lines; `when_started` reports its result. Reads and writes happen only in `send`,
///   `read_turn`, `write_turn` and `wait`, so the owner decides when, and tmux blocks when its output is not read.
/// Ownership: owns the tmux client's process; the session lives in tmux's server. Must outlive the current call: an
///   owner that a callback may destroy keeps the client until the call returns.
/// Threading: loop thread only.
#pragma once

#include <array>
#include <deque>
#include <functional>

#include "tmux/control_parser.h"
#include "tmux/subprocess.h"

namespace relay::tmux {

class ControlListener {
 public:
  virtual ~ControlListener() = default;
  virtual void on_pane_output(const PaneOutput& output) = 0;
  virtual void on_notice(std::string_view name, std::string_view rest) = 0;
  virtual void on_skipped_line() = 0;
};

class ControlClient final : private ControlHandler {
 public:
  using OnResponse = std::function<void(const CommandResult&)>;

  ControlClient(Subprocess process, ControlListener& listener) : process_{std::move(process)}, listener_{&listener} {}
  ControlClient(const ControlClient&) = delete;
  ControlClient& operator=(const ControlClient&) = delete;

  [[nodiscard]] int fd() const { return process_.fd(); }
  void listen(ControlListener& listener) { listener_ = &listener; }
  /// Calls with the result of the command that tmux was started with.
  void when_started(OnResponse on_started) { on_started_ = std::move(on_started); }

  /// Sends one command, in one line. The sender bounds the pending lines.
  void send(std::string_view line, OnResponse on_reply = {});
  [[nodiscard]] bool wants_to_write() const { return !unsent_.empty() && !closed_; }
  void write_turn();

  /// Reads at most 64 KiB. False once tmux has closed the connection.
  bool read_turn();
  [[nodiscard]] bool closed() const { return closed_; }

  /// For the start, before a loop watches: waits for the reply to the line, or to tmux's own command if it is empty. An
  /// error reply, a timeout and a closed connection are errors.
  Result<std::string> wait(std::string_view line, SteadyTime deadline);
  /// The last line outside of control mode: tmux's error message.
  [[nodiscard]] const std::string& last_error_line() const { return last_error_line_; }

 private:
  void on_pane_output(const PaneOutput& output) override { listener_->on_pane_output(output); }
  void on_reply(const CommandResult& answer) override;
  void on_notice(std::string_view name, std::string_view rest) override;
  void on_skipped_line() override { listener_->on_skipped_line(); }

  Subprocess process_;
  ControlListener* listener_;
  ControlParser parser_;
  OnResponse on_started_;
  std::deque<OnResponse> expected_;
  bool closed_ = false;
  std::string unsent_;
  std::string last_error_line_;
  std::array<char, 64 * 1024> buffer_;
};

}  // namespace relay::tmux
