/// Messages too long to be typed, as files the agent can read.
///
/// They are in the project itself (`.agent-relay/agents/<name>/messages/`), because an agent may read there without a
/// permission. The newest kMaxLongTexts are kept; nothing else in that directory is touched. They stay when the agent
/// has ended, because a resumed conversation names them, for as long as the history has the message (agent_folder.h);
/// `agent-relay read ID` prints the whole text in any case.
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
  /// The directory below `root` is made, for the owner alone, with the first text.
  MessageFiles(std::string root, std::vector<std::string> names) : root_{std::move(root)}, names_{std::move(names)} {}

  /// Returns the path for the agent. The same id again is the same file.
  Result<std::string> keep(std::string_view id, std::string_view text);

 private:
  std::string root_;
  std::vector<std::string> names_;
};

/// Removes message files that were written before that time.
void remove_long_texts_before(DiskDirectory& directory, WallMs time);

}  // namespace relay::host
