/// What is asked of the daemon itself, on its own socket: workspaces, and its end.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "cli/connection.h"
#include "cli/context.h"

namespace relay::cli {

struct OpenWorkspace {
  std::string root;
  std::string id;
  std::string socket;
  std::string warning;  // something a person should know, or empty
};

/// All that are open then.
Result<std::vector<OpenWorkspace>> open_workspace(Connection& daemon, const std::string& root,
                                                  const std::string& socket);
Result<void> close_workspace(Connection& daemon, const std::string& root);
Result<std::vector<OpenWorkspace>> list_workspaces(Connection& daemon);

/// Asks it to end and waits until the process is gone.
Result<void> shut_down_daemon(Connection& daemon);

/// The process at the other end, by the kernel's word.
Result<pid_t> peer_of(const Connection& connection);

}  // namespace relay::cli
