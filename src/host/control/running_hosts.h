/// The hosts of a project whose process exists, without connecting to them.
///
/// Why not reachable_hosts: it connects to every socket, and a daemon has one thread and hundreds of hosts. An existing
///   process is nearly as good; a caller that must be sure connects to the one host.
#pragma once

#include <string>
#include <vector>

#include "host/control/host_record.h"

namespace relay::host {

/// Oldest first. Files of dead hosts are removed.
std::vector<HostRecord> running_hosts(const std::string& directory);

}  // namespace relay::host
