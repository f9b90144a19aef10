/// Whether a project may be used, by the owner of its root. The rule is that of git's `safe.directory`.
///
/// Why: what lies in a project steers the agents that work in it, and the relay lays sockets, messages and files there.
///   A directory of another user of this machine (`/tmp/shared`, another home) is therefore not used by mistake.
/// Invariants: a root of this user or of root is trusted; as root under `sudo`, also one of the user who called it. Any
///   other needs the person's word in `trusted_projects`. A root that is not there is left to whoever opens it.
#pragma once

#include <string>

#include "base/result.h"
#include "config/environment.h"
#include "config/settings.h"

namespace relay::config {

Result<void> check_trusted(const std::string& root, const Settings& settings, const Environment& environment);

}  // namespace relay::config
