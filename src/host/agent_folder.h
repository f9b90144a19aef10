/// `.agent-relay/agents/<name>/` in the project: files that an agent reads and writes without a permission.
///
/// It holds `relay.md` (the instructions), `outbox/` (messages the agent writes as files) and `messages/`
/// (message_files.h).
/// Invariants: links are not followed (base/beneath.h). The destructor removes the relay's own files that are no longer
///   needed: an unchanged `relay.md`, an empty `outbox/`, and long messages of all agents that are older than the
///   retention; then empty directories. Other files stay.
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
  std::vector<std::string> names;  // path components of the folder
  std::chrono::hours retention{};  // of long messages: that of the message history
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

/// Removes the relay's own files in the folder of an ended agent, as above.
void clear_agent_folder(const AgentFolderOptions& options, WallMs now);

}  // namespace relay::host
