/// The workspaces that were open, so that a daemon that comes back opens them again.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace relay::daemon {

inline constexpr std::size_t kMaxSavedWorkspaces = 1'000;

struct SavedWorkspace {
  std::string root;
  std::vector<std::string> sockets;  // further places to listen
  friend bool operator==(const SavedWorkspace&, const SavedWorkspace&) = default;
};

/// workspaces.json. A missing file is an empty list; one that is not ours is an error and left alone.
Result<std::vector<SavedWorkspace>> read_saved_workspaces(const std::string& path);
Result<void> write_saved_workspaces(const std::string& path, const std::vector<SavedWorkspace>& workspaces);

}  // namespace relay::daemon
