/// The files and links by which every kind of client finds a workspace.
///
/// The project's directory and marker must succeed. Everything inside the project root and the compatibility link is
/// optional: if the root cannot be written, a line is logged and the workspace opens.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "config/paths.h"

namespace relay::daemon {

/// Creates the private directory and the `.project` marker; returns the path for the socket (primary or fallback).
/// Removes a link that an earlier fallback left at the primary path.
Result<std::string> prepare_project(const config::Project& project, WallMs now);

/// Once the workspace listens: writes `relay.sock.pid`, a link at the primary path if the socket is elsewhere, the link
/// in the project root with its line in `.git/info/exclude`, and the link for 1.x command lines.
void announce_project(const config::Home& home, const config::Project& project, const std::string& socket);

/// Removes what `announce_project` created, unless another program has replaced it.
void withdraw_project(const config::Project& project, const std::string& socket);

}  // namespace relay::daemon
