/// Requests to the daemon on its own socket: workspaces, state, reload and shutdown.
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
  std::string warning;  // for the user; may be empty
  std::int64_t connected = 0;
};

/// Opens a workspace and returns all open ones.
Result<std::vector<WorkspaceInfo>> open_workspace(DaemonConnection& daemon, const std::string& root,
                                                  const std::string& socket);
Result<void> close_workspace(DaemonConnection& daemon, const std::string& root);
Result<std::vector<WorkspaceInfo>> list_workspaces(DaemonConnection& daemon);

/// The state that the daemon reports.
struct DaemonState {
  std::string http_url = {};                         // empty: HTTP is not served
  std::string http_error = {};                       // why it is not served; empty when it is switched off
  std::map<std::string, std::string> settings = {};  // in force for the workspace of that root
  std::set<std::string> overridden = {};             // set by its environment or its flags
  std::string capture_home = {};  // the directory where it reads the events of hooks; empty: not reported
};
Result<DaemonState> query_daemon_state(DaemonConnection& daemon, const std::string& root);

struct ReloadedSetting {
  std::string setting, from, to;
  std::string applies;  // config::describe(Applies)
};
/// Makes it load config.toml again and returns the changes. An error changes nothing.
Result<std::vector<ReloadedSetting>> reload_daemon(DaemonConnection& daemon, const std::string& root);

/// Stops the daemon and waits until its process has exited.
Result<void> shut_down_daemon(DaemonConnection& daemon);

/// The pid of the peer, from the kernel (SO_PEERCRED).
Result<pid_t> peer_of(const DaemonConnection& connection);

}  // namespace relay::cli
