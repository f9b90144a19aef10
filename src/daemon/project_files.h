/// What a workspace leaves in the file system so that every kind of client finds it.
///
/// The project's own directory and marker must succeed; everything inside the project root and the compatibility link
/// are courtesies: a root that cannot be written costs a log line, never the workspace.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "config/paths.h"

namespace relay::daemon {

/// The private directory, the `.project` marker, and the place for the socket (usual or fallback). A link left at the
/// usual place by an earlier fallback is taken away.
Result<std::string> prepare_project(const config::Project& project, WallMs now);

/// Once it listens: `relay.sock.pid`, a link at the usual place when the socket had to go elsewhere, the link in the
/// project root with its line in `.git/info/exclude`, and the link where 1.x command lines look.
void announce_project(const config::Home& home, const config::Project& project, const std::string& socket);

/// Takes back what `announce_project` left, where it is still ours.
void withdraw_project(const config::Project& project, const std::string& socket);

}  // namespace relay::daemon
