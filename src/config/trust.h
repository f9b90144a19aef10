/// Whether a project may be used, by the owner of its root. The rule is that of git's `safe.directory`.
///
/// Why: what lies in a project steers the agents that work in it, and the relay lays sockets, messages and files there.
///   A directory of another user of this machine (`/tmp/shared`, another home) is therefore not used by mistake.
/// Invariants: a root of this user is trusted; as root under `sudo`, also one of the user who called it. Any other needs the
///   user's word in `trusted_projects`, also one of root. A directory of the system that is no project (`/`; one of root, or one
///   with the sticky bit where everyone may write, like `/tmp`; each without a marker) is common: it may be worked in, its workspace
///   lies in the user's home, and nothing is written into it. A root that is not there is left to whoever opens it.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "config/environment.h"
#include "config/paths.h"
#include "config/settings.h"

namespace relay::config {

enum class Standing : std::uint8_t { Trusted, Common, Foreign };
Standing standing_of(const std::string& root, const Home& home, const Settings& settings,
                     const Environment& environment);

/// An error for a Foreign one.
Result<void> check_trusted(const std::string& root, const Home& home, const Settings& settings,
                           const Environment& environment);

/// `project_at`, and where files for agents are laid: in its own directory of the home when the root is common.
Project usable_project(const std::string& root, const Home& home, const Settings& settings,
                       const Environment& environment);

}  // namespace relay::config
