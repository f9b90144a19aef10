#include "profiles/registry.h"

#include <algorithm>

#include "base/format.h"
#include "profiles/profile_file.h"

namespace relay::profiles {
namespace {

/// The user's profiles first, so that they replace built-in ones of the same name.
Result<std::vector<Profile>> all_profiles(std::span<const UserProfile> own) {
  std::vector<Profile> profiles;
  for (const auto& file : own) profiles.push_back(RELAY_TRY(read_profile(file.toml, file.path)));
  for (const auto& builtin : builtin_profiles())
    profiles.push_back(RELAY_TRY(read_profile(builtin.toml, builtin.path)));
  return profiles;
}

}  // namespace

Result<Profile> find_profile(std::string_view name, std::span<const UserProfile> own) {
  auto profiles = RELAY_TRY(all_profiles(own));
  const auto found = std::ranges::find(profiles, name, &Profile::name);
  if (found != profiles.end()) return std::move(*found);
  std::string names;
  for (const auto& profile : profiles) names += (names.empty() ? "" : ", ") + profile.name;
  return fail(format("unknown profile '{}'; known profiles: {}", name, names));
}

Result<Profile> profile_for_program(std::string_view program, std::span<const UserProfile> own) {
  const auto slash = program.rfind('/');
  if (slash != std::string_view::npos) program.remove_prefix(slash + 1);
  auto profiles = RELAY_TRY(all_profiles(own));
  const auto found = std::ranges::find_if(
      profiles, [&](const Profile& each) { return std::ranges::find(each.commands, program) != each.commands.end(); });
  if (found != profiles.end()) return std::move(*found);
  return find_profile(kGeneric, own);
}

}  // namespace relay::profiles
