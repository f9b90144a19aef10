/// Relay commands in what the agent writes: each is executed once, whether its transcript, its screen or the lines of a
/// program without a profile show it first.
///
/// Ownership: borrows loop and executor, which outlive it. Threading: loop thread only.
#pragma once

#include <memory>
#include <string_view>

#include "host/command_executor.h"
#include "host/turn_commands.h"
#include "net/event_loop.h"
#include "profiles/line_extractor.h"
#include "pty/window_size.h"

namespace relay::host {

class AgentCommands {
 public:
  /// `reads_lines`: no profile describes the program, so its output is read line by line.
  AgentCommands(net::EventLoop& loop, CommandExecutor& executor, bool reads_lines)
      : loop_{loop}, executor_{executor}, reads_lines_{reads_lines} {}

  void begin_turn() { turn_.begin_turn(); }
  void on_transcript(std::string_view markdown);
  /// `replaces_transcript`: no transcript is read now, so the screen is the source.
  void on_screen(const commands::Command& command, bool replaces_transcript);
  void on_output(std::string_view bytes);
  /// What the user types appears in the output of a program that echoes.
  void on_echoed_keys(std::string_view bytes);
  void set_rows(pty::WindowSize size) { lines_.set_rows(size.rows); }
  /// The program has ended.
  void finish();
  /// Why lines are not read; empty when they are, or need not be.
  [[nodiscard]] std::string_view unread_reason() const { return reads_lines_ ? lines_.unread_reason() : ""; }

 private:
  void settle_lines();

  net::EventLoop& loop_;
  CommandExecutor& executor_;
  bool reads_lines_;
  TurnCommands turn_;
  profiles::LineExtractor lines_;
  SteadyTime lines_settle_at_{};
  std::unique_ptr<net::Timer> lines_timer_;
};

}  // namespace relay::host
