/// Messages too long to be typed, as files the agent can read.
///
/// They are in the project itself (`.agent-relay/agents/<name>/messages/`), because an agent may read there without a
/// permission. The newest kMaxLongTexts stay; other files in the directory are not touched. After the agent's exit
/// they stay for the retention of messages (agent_folder.h), because a resumed conversation names them;
/// `agent-relay read ID` always prints the whole text.
/// Threading: one thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/directory.h"
#include "base/result.h"

namespace relay::host {

inline constexpr std::size_t kMaxLongTexts = 200;

class MessageFiles {
 public:
  /// The first text creates the directory below `root`, private to the owner.
  MessageFiles(std::string root, std::vector<std::string> names) : root_{std::move(root)}, names_{std::move(names)} {}

  /// Returns the path for the agent. The same id again replaces the file.
  Result<std::string> write(std::string_view id, std::string_view text);

 private:
  std::string root_;
  std::vector<std::string> names_;
};

/// Removes message files older than that time.
void remove_long_texts_before(DiskDirectory& directory, WallMs time);

}  // namespace relay::host
