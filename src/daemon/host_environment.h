/// The environment of processes that outlive their starter, as lists of NAME=value.
///
/// Why variables are removed: every child of an agent inherits the agent's variables. A process with an agent's mark
///   (pty::kMarkVariable) ends with that agent, and a process with its AGENT_RELAY_HOST_SOCKET counts as a process
///   inside it (host/control/peer_classifier.h). An agent often starts the daemon, and the daemon starts hosts; both
///   serve other agents too.
#pragma once

#include <string>
#include <vector>

namespace relay::daemon {

/// Removes the variables of the agent that may have started this process.
void strip_agent_variables(std::vector<std::string>& environment);

/// Removes the daemon's own secret: the token of its API.
void strip_secrets(std::vector<std::string>& environment);

/// Removes both, and the variables of a service manager, a terminal or a coding agent; sets the terminal type for
/// agents.
void prepare_for_host(std::vector<std::string>& environment);

}  // namespace relay::daemon
