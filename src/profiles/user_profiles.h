/// The user's own profiles on disk: `profiles/*.toml` in the home of Agent Relay.
#pragma once

#include <string>
#include <vector>

#include "profiles/registry.h"

namespace relay::profiles {

/// In the order of their names; files that are too large or cannot be read are left out.
std::vector<UserProfile> read_own_profiles(const std::string& directory);

/// The names of all programs that have a profile; of the user's own files only those that can be understood.
std::vector<std::string> programs_with_profile(const std::vector<UserProfile>& own);

}  // namespace relay::profiles
