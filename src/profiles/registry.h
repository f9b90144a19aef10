/// All profiles: the user's and the built-in ones.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profiles/profile.h"

namespace relay::profiles {

struct BuiltinProfile {
  std::string_view path;
  std::string_view toml;
};
std::span<const BuiltinProfile> builtin_profiles();

inline constexpr std::string_view kGeneric = "generic";

/// Finds the profile with this name. `own` are the user's files (path, TOML), searched first.
struct UserProfile {
  std::string path;
  std::string toml;
};
Result<Profile> find_profile(std::string_view name, std::span<const UserProfile> own = {});

/// The profile for a program (`/usr/bin/claude` is "claude"); the generic one for an unknown program.
Result<Profile> profile_for_program(std::string_view program, std::span<const UserProfile> own = {});

}  // namespace relay::profiles
