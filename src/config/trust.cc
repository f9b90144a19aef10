#include "config/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"

namespace relay::config {
namespace {

constexpr uid_t kRoot = 0;
constexpr std::string_view kEveryProject = "*";

bool is_caller_of_sudo(uid_t owner, const Environment& environment) {
  return ::geteuid() == kRoot && environment("SUDO_UID") == relay::format("{}", owner);
}

bool is_allowed(const std::string& root, const Settings& settings) {
  return std::ranges::any_of(settings.trusted_projects(), [&](std::string_view allowed) {
    while (allowed.size() > 1 && allowed.ends_with('/')) allowed.remove_suffix(1);
    return allowed == kEveryProject || allowed == root;
  });
}

}  // namespace

Result<void> check_trusted(const std::string& root, const Settings& settings, const Environment& environment) {
  struct stat status{};
  if (::stat(root.c_str(), &status) != 0) return {};
  const uid_t owner = status.st_uid;
  if (owner == ::geteuid() || owner == kRoot || is_caller_of_sudo(owner, environment)) return {};
  if (is_allowed(root, settings)) return {};
  return fail(
      Errc::NotTrusted,
      relay::format("the project {} belongs to another user (uid {}), who could steer the agents in it, and is not "
                    "used; if you trust it, write trusted_projects = \"{}\" into config.toml",
                    root, owner, root));
}

}  // namespace relay::config
