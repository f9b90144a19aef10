/// Whether a project may be used, by the owner of its root; the rule of git's `safe.directory`.
///
/// Why: the files of a project influence the agents that work in it, and the relay puts sockets, messages and files
///   there. A directory of another user (`/tmp/shared`, another home) must therefore not be used by mistake.
/// Invariants: a root of this user is trusted; as root under `sudo`, also one of the calling user. Any other root must
///   be listed in `trusted_projects`, also one of root. A system directory that is no project (`/`; one of root, or one
///   with the sticky bit that all users may write, like `/tmp`; each without a marker) is common: agents may work in
///   it, its workspace is in the user's home, and nothing is written into it. A missing root counts as trusted; opening
///   it reports the error.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "config/environment.h"
#include "config/paths.h"
#include "config/settings.h"

namespace relay::config {

enum class ProjectTrust : std::uint8_t { Trusted, Common, Foreign };
ProjectTrust trust_of(const std::string& root, const Home& home, const Settings& settings,
                      const Environment& environment);

/// An error for a foreign project.
Result<void> check_trusted(const std::string& root, const Home& home, const Settings& settings,
                           const Environment& environment);

/// `project_at`, with the tree in the project's directory of the home if the root is common.
Project usable_project(const std::string& root, const Home& home, const Settings& settings,
                       const Environment& environment);

}  // namespace relay::config
