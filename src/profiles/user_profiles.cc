#include "profiles/user_profiles.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "profiles/profile_file.h"

namespace relay::profiles {
namespace {

constexpr std::uintmax_t kMaxProfileBytes = 256 * 1024;

}  // namespace

std::vector<UserProfile> read_own_profiles(const std::string& directory) {
  std::vector<UserProfile> own;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{directory, none}) {
    if (entry.path().extension() != ".toml" || entry.file_size(none) > kMaxProfileBytes) continue;
    std::ifstream file{entry.path(), std::ios::binary};
    own.push_back({entry.path().string(), {std::istreambuf_iterator<char>{file}, {}}});
  }
  std::ranges::sort(own, {}, &UserProfile::path);
  return own;
}

std::vector<std::string> programs_with_profile(const std::vector<UserProfile>& own) {
  std::vector<std::string> programs;
  const auto add = [&](std::string_view toml, std::string_view path) {
    if (const auto profile = read_profile(toml, path))
      programs.insert(programs.end(), profile->commands.begin(), profile->commands.end());
  };
  for (const auto& file : own) add(file.toml, file.path);
  for (const auto& builtin : builtin_profiles()) add(builtin.toml, builtin.path);
  return programs;
}

}  // namespace relay::profiles
