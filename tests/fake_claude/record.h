/// The files that Claude Code writes for a session: its transcript, row by row, and `sessions/<pid>.json`.
#pragma once

#include <string>
#include <string_view>

#include "base/json.h"

namespace relay::fake_claude {

class Record {
 public:
  /// Creates the directories; the first row creates the transcript.
  explicit Record(std::string config_directory);

  [[nodiscard]] const std::string& session() const { return session_; }
  [[nodiscard]] const std::string& transcript() const { return transcript_; }
  /// Announces the inbox socket.
  void write_session_file(const std::string& socket) const;

  void person(std::string_view prompt) { prompt_row(prompt, {{"kind", "human"}}); }
  void peer(std::string_view text);
  void hook_context(std::string_view event, std::string_view text);
  void says(std::string_view text);
  /// Writes a call of the shell tool; returns its id.
  std::string runs(std::string_view command);
  void ran(std::string_view id, std::string_view output);
  void refused(std::string_view id);
  void turn_is_over();

 private:
  void prompt_row(std::string_view content, json::object origin);
  void row(json::object fields);
  std::string next_id();

  std::string config_, session_, transcript_;
  unsigned rows_ = 0;
};

}  // namespace relay::fake_claude
