/// Relay commands in the agent's output. Each is executed once, whether the transcript, the screen or the lines of a
/// program without a profile contain it first.
///
/// Ownership: borrows loop and executor, which outlive it. Threading: loop thread only.
#pragma once

#include <memory>
#include <string_view>

#include "adapters/adapter.h"
#include "host/command_executor.h"
#include "host/turn_commands.h"
#include "net/event_loop.h"
#include "profiles/line_extractor.h"
#include "pty/window_size.h"

namespace relay::host {

class AgentCommands final : public adapters::OutputListener {
 public:
  /// `reads_lines`: the program has no profile, so its output is read line by line.
  AgentCommands(net::EventLoop& loop, CommandExecutor& executor, bool reads_lines)
      : loop_{loop}, executor_{executor}, reads_lines_{reads_lines} {}

  void start_turn() { turn_.start_turn(); }
  void on_assistant_text(std::string_view markdown, std::string_view via) override;
  /// `replaces_transcript`: without a transcript the screen is the source.
  void on_screen(const commands::Command& command, bool replaces_transcript);
  void on_output(std::string_view bytes);
  /// The output of a program that echoes contains what the user types.
  void on_echoed_keys(std::string_view bytes);
  void set_rows(pty::WindowSize size) { lines_.set_rows(size.rows); }
  /// The program has ended.
  void finish();
  /// Why lines are not read; empty when they are read or not needed.
  [[nodiscard]] std::string_view unread_reason() const { return reads_lines_ ? lines_.unread_reason() : ""; }

 private:
  void flush_lines();

  net::EventLoop& loop_;
  CommandExecutor& executor_;
  bool reads_lines_;
  TurnCommands turn_;
  profiles::LineExtractor lines_;
  SteadyTime lines_flush_at_{};
  std::unique_ptr<net::Timer> lines_timer_;
};

}  // namespace relay::host
