#include "daemon/saved_workspaces.h"

#include "base/format.h"
#include "base/json.h"
#include "daemon/private_file.h"
#include "text/json_writer.h"

namespace relay::daemon {

Result<std::vector<SavedWorkspace>> read_saved_workspaces(const std::string& path) {
  bool exists = false;
  const std::string text = RELAY_TRY(read_small_file(path, exists));
  std::vector<SavedWorkspace> workspaces;
  if (!exists) return workspaces;
  const auto object = parse_json_object(text);
  const json::array* list = object ? array_member(*object, "workspaces") : nullptr;
  if (list == nullptr) {
    return fail(format("{} is not a list of workspaces; open them again with: agent-relay up", path));
  }
  for (const json::value& item : *list) {
    if (!item.is_object() || workspaces.size() == kMaxSavedWorkspaces) continue;
    SavedWorkspace workspace;
    workspace.root = string_member(item.get_object(), "root").value_or("");
    if (const json::array* sockets = array_member(item.get_object(), "sockets")) {
      for (const json::value& socket : *sockets) {
        if (socket.is_string()) workspace.sockets.emplace_back(socket.get_string());
      }
    }
    if (workspace.root.starts_with('/')) workspaces.push_back(std::move(workspace));
  }
  return workspaces;
}

Result<void> write_saved_workspaces(const std::string& path, const std::vector<SavedWorkspace>& workspaces) {
  text::JsonWriter json;
  json.begin_array("workspaces");
  for (const auto& workspace : workspaces) {
    json.begin_element().field("root", workspace.root).begin_array("sockets");
    for (const auto& socket : workspace.sockets) json.element(socket);
    json.end().end();
  }
  json.end();
  return replace_private_file(path, json.take() + "\n", Sync::Yes);
}

}  // namespace relay::daemon
