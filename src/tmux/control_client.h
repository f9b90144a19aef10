/// One `tmux -C`: lines to it, and what comes back.
///
/// Invariants: answers come in the order of the lines, each to the one who sent it. What tmux was started to do it may
///   do after the first lines; who cares waits for `when_started`. Nothing is read or written but in `send`,
///   `read_turn`, `write_turn` and `wait`, so whoever owns it decides when, and a tmux whose words nobody takes waits.
/// Ownership: owns the tmux client's process; the session it looks at lives in tmux's server. Must outlive the turn it
///   is in: whoever may be destroyed by a call keeps it until the turn returns.
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
  /// Calls with what came of the command tmux was started with.
  void when_started(OnResponse on_started) { on_started_ = std::move(on_started); }

  /// One command, in one line. The lines that wait are the sender's to bound.
  void send(std::string_view line, OnResponse on_answer = {});
  [[nodiscard]] bool wants_to_write() const { return !unsent_.empty() && !closed_; }
  void write_turn();

  /// At most 64 KiB. False once tmux has closed the conversation.
  bool read_turn();
  [[nodiscard]] bool closed() const { return closed_; }

  /// For the beginning, before a loop watches: the answer to the line, or to tmux's own command when it is empty. An
  /// answer that is an error, no answer, and a conversation that ends are errors.
  Result<std::string> wait(std::string_view line, SteadyTime deadline);
  /// The last line that was none of control mode: what tmux says when it cannot.
  [[nodiscard]] const std::string& last_error_line() const { return last_words_; }

 private:
  void on_pane_output(const PaneOutput& output) override { listener_->on_pane_output(output); }
  void on_answer(const CommandResult& answer) override;
  void on_notice(std::string_view name, std::string_view rest) override;
  void on_skipped_line() override { listener_->on_skipped_line(); }

  Subprocess process_;
  ControlListener* listener_;
  ControlParser parser_;
  OnResponse on_started_;
  std::deque<OnResponse> expected_;
  bool closed_ = false;
  std::string unsent_;
  std::string last_words_;
  std::array<char, 64 * 1024> buffer_;
};

}  // namespace relay::tmux
