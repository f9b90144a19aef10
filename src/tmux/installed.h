/// Finds a tmux on this machine that is new enough.
#pragma once

#include <string>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "tmux/commands.h"

namespace relay::tmux {

/// The first version with pauses, output with its age, and flags for new-session.
inline constexpr Version kOldestVersion{3, 2};

enum class Errc { NotInstalled = 1, TooOld, SessionExists };
std::string_view describe(Errc code);

/// Returns its path. Runs it once to read its version.
Result<std::string> find_tmux(const std::vector<std::string>& environment, SteadyTime deadline);

}  // namespace relay::tmux
