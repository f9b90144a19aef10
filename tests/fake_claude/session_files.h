/// The files that Claude Code writes for a session: its transcript, row by row, and `sessions/<pid>.json`.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::fake_claude {

class SessionFiles {
 public:
  /// Creates the directories; the first row creates the transcript.
  explicit SessionFiles(std::string config_directory);

  [[nodiscard]] const std::string& session() const { return session_; }
  [[nodiscard]] const std::string& transcript() const { return transcript_; }
  /// Announces the inbox socket.
  void write_session_file(const std::string& socket) const;

  void add_user_prompt(std::string_view prompt) { add_prompt(prompt, {{"kind", "human"}}); }
  void add_peer_message(std::string_view text);
  void add_hook_context(std::string_view event, std::string_view text);
  void add_text(std::string_view text);
  /// Writes a call of the shell tool; returns its id.
  std::string add_tool_call(std::string_view command);
  void add_tool_result(std::string_view id, std::string_view output);
  void add_tool_denial(std::string_view id);
  void add_turn_end();

 private:
  void add_prompt(std::string_view content, json::object origin);
  void add_row(json::object fields);
  std::string next_id();

  std::string config_, session_, transcript_;
  unsigned rows_ = 0;
};

}  // namespace relay::fake_claude
