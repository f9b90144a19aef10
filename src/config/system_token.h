/// The token of a home: shows that a program is one of agent-relay's own and uses the same home as the daemon.
///
/// Why: names such as `cli` and `human` are for these programs alone. A flag in HELLO proves nothing; a file that only
///   the owner can read keeps other users and programs that merely copy the protocol away. It is no secret from a
///   program of the same user that looks for it (docs/security.md).
/// Invariants: 0600, a regular file of this user, the same for the whole life of the home.
#pragma once

#include <string>

#include "base/random.h"
#include "base/result.h"
#include "config/paths.h"

namespace relay::config {

/// Empty when there is none, or it is not a private file of ours.
std::string read_system_token(const Home& home);

/// Makes it where it is missing; with `in_use`, the token the daemon began with, that one is written again. Only the daemon
/// calls this; it holds the lock of its home.
Result<std::string> ensure_system_token(const Home& home, Random& random, const std::string& in_use = {});

}  // namespace relay::config
