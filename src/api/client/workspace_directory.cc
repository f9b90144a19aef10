#include "api/client/workspace_directory.h"

#include "base/format.h"

namespace relay::api {

ApiResult<WorkspaceInfo> choose_workspace(const std::vector<WorkspaceInfo>& open, std::string_view which,
                                          std::string_view switched_to) {
  const auto find = [&](std::string_view id_or_root) -> const WorkspaceInfo* {
    for (const auto& workspace : open)
      if (workspace.id == id_or_root || workspace.root == id_or_root) return &workspace;
    return nullptr;
  };
  if (!which.empty()) {
    if (const auto* named = find(which)) return *named;
    return std::unexpected{
        not_found(format("no open workspace has the id or root {}; list open workspaces with GET /workspaces", which))};
  }
  if (const auto* active = find(switched_to)) return *active;
  if (open.size() == 1) return open.front();
  if (open.empty())
    return std::unexpected{conflict("NO_WORKSPACE", "no workspace is open; open one with: agent-relay up")};
  std::string names;
  for (const auto& workspace : open)
    names += format("{}{} ({})", names.empty() ? "" : ", ", workspace.id, workspace.root);
  return std::unexpected{
      conflict("AMBIGUOUS_WORKSPACE", format("several workspaces are open; name one with ?workspace=ID: {}", names))};
}

}  // namespace relay::api
