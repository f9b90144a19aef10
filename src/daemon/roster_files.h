/// agents.json and connected-agents.json: known and connected agents, for tools that read files.
///
/// The format is the one that published tools read. Written as a whole, on change only (Workspace decides when).
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "broker/broker.h"

namespace relay::daemon {

class RosterFiles {
 public:
  /// Both files are in the workspace's directory.
  explicit RosterFiles(std::string directory) : directory_{std::move(directory)} {}

  void write(const std::vector<broker::RosterEntry>& roster, WallMs now);

 private:
  void write_file(const std::string& name, const std::string& text);

  std::string directory_;
  bool failing_ = false;  // logged once, not on every change
};

std::string agents_json(const std::vector<broker::RosterEntry>& roster);
std::string connected_agents_json(const std::vector<broker::RosterEntry>& roster, WallMs now);

}  // namespace relay::daemon
