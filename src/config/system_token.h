/// The token of a home: shows that a program belongs to agent-relay and uses the same home as the daemon.
///
/// Why: names such as `cli` and `human` are reserved for these programs. A flag in HELLO proves nothing; a file that
///   only its owner can read excludes other users and programs that merely copy the protocol. It is no secret from a
///   program of the same user that looks for it (docs/security.md).
/// Invariants: mode 0600, a regular file of this user, the same as long as the home exists.
#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"
#include "config/paths.h"

namespace relay::config {

/// Empty if the file is missing, or not a private file of this user.
std::string read_system_token(const Home& home);

/// Creates the token if it is missing; with `in_use`, the token the daemon started with, writes that one again. Only
/// the daemon calls this, while it holds the lock of its home.
Result<std::string> ensure_system_token(const Home& home, Random& random, const std::string& in_use = {});

}  // namespace relay::config
