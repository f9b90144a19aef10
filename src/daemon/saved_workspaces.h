/// The workspaces that were open, so that a restarted daemon opens them again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace relay::daemon {

inline constexpr std::size_t kMaxSavedWorkspaces = 1'000;

struct SavedWorkspace {
  std::string root;
  std::vector<std::string> sockets;  // additional socket paths
  friend bool operator==(const SavedWorkspace&, const SavedWorkspace&) = default;
};

/// Reads workspaces.json. A missing file is an empty list; a file in another format is an error and stays unchanged.
Result<std::vector<SavedWorkspace>> read_saved_workspaces(const std::string& path);
Result<void> write_saved_workspaces(const std::string& path, const std::vector<SavedWorkspace>& workspaces);

}  // namespace relay::daemon
