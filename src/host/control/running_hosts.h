/// The hosts of a project whose process exists, without a word to any of them.
///
/// Why not living_hosts: it knocks at every door, and a daemon has one thread and hundreds of hosts. That a host's
///   process exists is nearly as good; whoever must be sure asks at the one door that matters.
#pragma once

#include <string>
#include <vector>

#include "host/control/host_record.h"

namespace relay::host {

/// Oldest first. What dead ones left is removed.
std::vector<HostRecord> running_hosts(const std::string& directory);

}  // namespace relay::host
