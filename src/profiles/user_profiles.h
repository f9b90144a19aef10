/// The user's profiles on disk: `profiles/*.toml` in the home directory of Agent Relay.
#pragma once

#include <string>
#include <vector>

#include "profiles/registry.h"

namespace relay::profiles {

/// In the order of their names; files that are too large or unreadable are skipped.
std::vector<UserProfile> read_own_profiles(const std::string& directory);

/// The names of all programs with a profile; of the user's files only the valid ones.
std::vector<std::string> programs_with_profile(const std::vector<UserProfile>& own);

}  // namespace relay::profiles
