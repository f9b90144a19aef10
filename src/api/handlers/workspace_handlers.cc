#include "api/handlers/handlers.h"
#include "api/handlers/workspace_bodies.h"

namespace relay::api {
namespace {

WorkspaceBody body_of(const WorkspaceInfo& workspace) {
  const auto optional_text = [](const std::string& text) { return text.empty() ? std::nullopt : std::optional{text}; };
  return {.id = workspace.id,
          .name = workspace.root.substr(workspace.root.rfind('/') + 1),
          .path = workspace.root,
          .connected_agents = workspace.connected,
          .known_agents = workspace.known,
          .storage = optional_text(workspace.storage),
          .warning = optional_text(workspace.warning)};
}

/// A callback that responds with the changed workspace.
WorkspaceDirectory::OnChanged respond_with_workspace(Call call, int status) {
  return [call = std::move(call), status](ApiResult<WorkspaceInfo> workspace) mutable {
    if (!workspace) return call.refuse(workspace.error());
    if (status == 204) return call.answer_no_content();
    call.answer(status, body_of(*workspace));
  };
}

}  // namespace

void list_workspaces(Api& api, Call call) {
  api.workspaces.list([&api, call = std::move(call)](ApiResult<std::vector<WorkspaceInfo>> open) mutable {
    if (!open) return call.refuse(open.error());
    WorkspaceList list;
    for (const auto& workspace : *open) list.workspaces.push_back(body_of(workspace));
    if (const auto active = choose_workspace(*open, {}, api.workspaces.switched_to()))
      list.active_workspace_id = active->id;
    call.answer(200, list);
  });
}

void open_workspace(Api& api, Call call) {
  const auto request = call.body_as<OpenWorkspaceRequest>();
  if (!request) return call.refuse(request.error());
  if (!request->path.starts_with('/')) return call.refuse(bad_request("\"path\" must be absolute"));
  api.workspaces.open(request->path, respond_with_workspace(std::move(call), 201));
}

void get_workspace(Api& api, Call call) {
  api.workspaces.list([call = std::move(call)](ApiResult<std::vector<WorkspaceInfo>> open) mutable {
    if (!open) return call.refuse(open.error());
    const auto workspace = choose_workspace(*open, call.value("id"), {});
    if (!workspace) return call.refuse(workspace.error());
    call.answer(200, body_of(*workspace));
  });
}

void close_workspace(Api& api, Call call) {
  const auto id = call.value("id");
  api.workspaces.close(id, respond_with_workspace(std::move(call), 204));
}

void switch_workspace(Api& api, Call call) {
  const auto id = call.value("id");
  api.workspaces.switch_to(id, respond_with_workspace(std::move(call), 200));
}

}  // namespace relay::api
