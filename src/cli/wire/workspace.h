/// This project's workspace, as a command reaches it.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

/// Connected, not yet introduced: for one-shot sends. Says whether the daemon or only the workspace is missing.
Result<DaemonConnection> connect_workspace(const Context& context);
/// Connected and introduced: for questions. Waiting ends with Interrupted when `interrupts` is readable (interrupts.h).
Result<DaemonConnection> join_workspace(const Context& context, std::chrono::milliseconds timeout = kAnswerTimeout,
                                        int interrupts = -1);
/// Where the daemon of that pid serves its HTTP API, or why it does not; both empty when it is switched off.
struct HttpService {
  std::string url = {};
  std::string error = {};
};
HttpService http_service(const Context& context, pid_t daemon_pid);
/// What to do when it is not served.
inline constexpr std::string_view kHttpAdvice =
    "choose another port with dashboard_port in config.toml or AGENT_RELAY_DASHBOARD_PORT (0 switches it off), then: "
    "agent-relay down --all, agent-relay up";
/// The daemon's own socket.
Result<DaemonConnection> connect_daemon(const Context& context);

}  // namespace relay::cli
