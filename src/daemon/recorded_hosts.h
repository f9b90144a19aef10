/// The hosts of a project by what they wrote down (docs/spec/host.md), without a word to any of them.
///
/// Why not host::living_hosts: it knocks at every door, and a daemon has one thread and hundreds of hosts. That a host's
///   process exists is nearly as good; whoever must be sure asks at the one door that matters.
#pragma once

#include <string>
#include <vector>

#include "host/record.h"

namespace relay::daemon {

/// Those whose process exists, oldest first. What dead ones left is removed.
std::vector<host::HostRecord> recorded_hosts(const std::string& directory);

/// Knocks. When nobody listens any more, what is left of the host is removed.
bool is_at_home(const std::string& directory, const host::HostRecord& record);

}  // namespace relay::daemon
