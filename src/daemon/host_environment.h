/// What processes that outlive their starter inherit from it, as lists of NAME=value.
///
/// Why anything is taken out: all that an agent starts inherits what the agent was told about itself, and whoever
///   carries its mark (pty::kMarkVariable) ends with it. Whoever carries its AGENT_RELAY_HOST_SOCKET counts as a process inside it
///   (host/control/peer_classifier.h). A daemon is often started by an agent, and hosts by a daemon; both are for others as well.
#pragma once

#include <string>
#include <vector>

namespace relay::daemon {

/// Takes out what concerns the one agent we may have been started by.
void strip_agent_variables(std::vector<std::string>& environment);

/// Takes out what only the daemon itself may know: the token of its API.
void strip_secrets(std::vector<std::string>& environment);

/// Takes out both, and what a service manager, a terminal or a coding agent told the daemon, and names the
/// terminal that the agents of hosts have.
void prepare_for_host(std::vector<std::string>& environment);

}  // namespace relay::daemon
