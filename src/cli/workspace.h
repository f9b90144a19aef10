/// This project's workspace, as a command reaches it.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/connection.h"
#include "cli/context.h"
#include "cli/failure.h"

namespace relay::cli {

/// Connected, not yet introduced: for one-shot sends. Says whether the daemon or only the workspace is missing.
Result<Connection> reach_workspace(const Context& context);
/// Connected and introduced: for questions.
Result<Connection> join_workspace(const Context& context);
/// Where the daemon of that pid serves its HTTP API; empty when it does not.
std::string http_address(const Context& context, pid_t daemon_pid);
/// The daemon's own socket.
Result<Connection> reach_daemon(const Context& context);

}  // namespace relay::cli
