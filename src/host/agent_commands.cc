#include "host/agent_commands.h"

#include "commands/extractor.h"
#include "profiles/screen_watcher.h"

namespace relay::host {

void AgentCommands::on_assistant_text(std::string_view markdown, std::string_view) {
  for (const auto& command : commands::extract(markdown))
    if (turn_.accept_from_transcript(command)) executor_.execute(command);
}

void AgentCommands::on_screen(const commands::Command& command, bool replaces_transcript) {
  if (turn_.accept_from_screen(command, replaces_transcript)) executor_.execute(command);
}

/// A message is complete when the program has had no output for a while.
void AgentCommands::on_output(std::string_view bytes) {
  if (!reads_lines_) return;
  for (const auto& command : lines_.feed(bytes)) executor_.execute(command);
  lines_flush_at_ = loop_.now().steady + profiles::kStableTime;
  if (!lines_timer_) lines_timer_ = loop_.at(lines_flush_at_, [this] { flush_lines(); });
}

void AgentCommands::flush_lines() {
  lines_timer_ = nullptr;
  if (loop_.now().steady < lines_flush_at_) {
    lines_timer_ = loop_.at(lines_flush_at_, [this] { flush_lines(); });
    return;
  }
  for (const auto& command : lines_.flush()) executor_.execute(command);
}

void AgentCommands::on_echoed_keys(std::string_view bytes) {
  if (reads_lines_) lines_.on_echoed_keys(bytes);
}

void AgentCommands::finish() {
  for (const auto& command : lines_.finish()) executor_.execute(command);
  lines_timer_ = nullptr;
}

}  // namespace relay::host
