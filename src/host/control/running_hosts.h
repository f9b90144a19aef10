/// The hosts of a project whose process exists, without connecting to them.
///
/// Why not reachable_hosts: it connects to every socket, and a daemon has one thread and hundreds of hosts. A caller
///   that must be certain connects to the one host.
#pragma once

#include <string>
#include <vector>

#include "host/control/host_record.h"

namespace relay::host {

/// Oldest first. Removes the files of dead hosts.
std::vector<HostRecord> running_hosts(const std::string& directory);

}  // namespace relay::host
