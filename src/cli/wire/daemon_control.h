/// What is asked of the daemon itself, on its own socket: workspaces, and its end.
#pragma once

#include <sys/types.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "base/result.h"
#include "cli/framework/context.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

struct WorkspaceInfo {
  std::string root;
  std::string id;
  std::string socket;
  std::string warning;  // something a person should know, or empty
  std::int64_t connected = 0;
};

/// All that are open then.
Result<std::vector<WorkspaceInfo>> open_workspace(DaemonConnection& daemon, const std::string& root,
                                                  const std::string& socket);
Result<void> close_workspace(DaemonConnection& daemon, const std::string& root);
Result<std::vector<WorkspaceInfo>> list_workspaces(DaemonConnection& daemon);

/// What the daemon says of itself.
struct DaemonState {
  std::string http_url = {};                         // empty: HTTP is not served
  std::string http_error = {};                       // why not; empty when it is switched off
  std::map<std::string, std::string> settings = {};  // the values in force for the workspace of that root
  std::set<std::string> overridden = {};             // settings that its environment or its flags give
  std::string capture_home = {};                     // where it expects what hooks write; empty: it does not tell
};
Result<DaemonState> ask_daemon_state(DaemonConnection& daemon, const std::string& root);

struct ReloadedSetting {
  std::string setting, from, to;
  std::string applies;  // config::describe(Applies)
};
/// Has it load config.toml again; what changed. An error leaves everything as it was.
Result<std::vector<ReloadedSetting>> reload_daemon(DaemonConnection& daemon, const std::string& root);

/// Asks it to end and waits until the process is gone.
Result<void> shut_down_daemon(DaemonConnection& daemon);

/// The process at the other end, by the kernel's word.
Result<pid_t> peer_of(const DaemonConnection& connection);

}  // namespace relay::cli
