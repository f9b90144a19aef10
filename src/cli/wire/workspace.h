/// Connections to this project's workspace and to the daemon.
#pragma once

#include <sys/types.h>

#include <string>

#include "cli/framework/context.h"
#include "cli/framework/failure.h"
#include "cli/wire/daemon_connection.h"

namespace relay::cli {

/// Connects without HELLO, for one-shot sends. The error states whether the daemon or only the workspace is missing.
Result<DaemonConnection> connect_workspace(const Context& context);
/// Connects and sends HELLO, for requests. Waits fail with Interrupted when `interrupts` is readable (interrupts.h).
Result<DaemonConnection> join_workspace(const Context& context, std::chrono::milliseconds timeout = kResponseTimeout,
                                        int interrupts = -1);
/// The URL of the HTTP API of the daemon with that pid, or why it is not served; both empty when it is switched off.
struct HttpService {
  std::string url = {};
  std::string error = {};
};
HttpService http_service(const Context& context, pid_t daemon_pid);
/// The next step when it is not served.
inline constexpr std::string_view kHttpFix =
    "choose another port with dashboard_port in config.toml or AGENT_RELAY_DASHBOARD_PORT (0 switches it off), then: "
    "agent-relay down --all, agent-relay up";
/// Connects to the daemon's own socket.
Result<DaemonConnection> connect_daemon(const Context& context);

}  // namespace relay::cli
