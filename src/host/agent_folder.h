/// `.agent-relay/agents/<name>/` in the project: files that an agent reads and writes without a permission.
///
/// It holds `relay.md` (the instructions), `outbox/` (messages the agent writes as files) and `messages/`
/// (message_files.h).
/// Invariants: nothing is followed through a link (base/beneath.h). When the folder goes out of scope, what is ours and
///   not needed any more is removed: `relay.md` as it was written, an empty `outbox/`, and every agent's long messages
///   that are older than the history keeps them; then directories that are empty. Whatever else lies there stays.
/// Ownership: its owner also holds the agent's name, so no second program makes the folder meanwhile.
/// Threading: one thread.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"

namespace relay::host {

struct AgentFolderOptions {
  std::string root;                // of the project's tree
  std::vector<std::string> names;  // of the folder, one below the other
  std::chrono::hours keep{};       // long messages, as long as the history has them
};

class AgentFolder {
 public:
  /// Makes the folder with its instructions and its outbox.
  static Result<AgentFolder> make(AgentFolderOptions options);
  AgentFolder(AgentFolder&& other) noexcept;
  AgentFolder& operator=(AgentFolder&&) = delete;
  ~AgentFolder();

  /// The file that holds the instructions.
  [[nodiscard]] const std::string& skill() const { return skill_; }
  /// Where the agent writes messages as files.
  [[nodiscard]] const std::string& outbox() const { return outbox_; }

 private:
  AgentFolder(AgentFolderOptions options, std::string skill, std::string outbox);

  AgentFolderOptions options_;
  std::string skill_, outbox_;
};

/// Removes what is ours in the folder of an agent that has ended. See the invariants above.
void clear_agent_folder(const AgentFolderOptions& options, WallMs now);

}  // namespace relay::host
