#include "config/trust.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/format.h"

namespace relay::config {
namespace {

constexpr uid_t kRoot = 0;
constexpr std::string_view kAllProjects = "*";

bool is_caller_of_sudo(uid_t owner, const Environment& environment) {
  return ::geteuid() == kRoot && environment("SUDO_UID") == relay::format("{}", owner);
}

bool is_allowed(const std::string& root, const Settings& settings) {
  return std::ranges::any_of(settings.trusted_projects(), [&](std::string_view allowed) {
    while (allowed.size() > 1 && allowed.ends_with('/')) allowed.remove_suffix(1);
    return allowed == kAllProjects || allowed == root;
  });
}

}  // namespace

ProjectTrust trust_of(const std::string& root, const Home& home, const Settings& settings,
                      const Environment& environment) {
  struct stat status{};
  if (::stat(root.c_str(), &status) != 0 || is_allowed(root, settings)) return ProjectTrust::Trusted;
  const uid_t owner = status.st_uid;
  const bool own = owner == ::geteuid() || is_caller_of_sudo(owner, environment);
  const bool shared = (status.st_mode & S_IWOTH) != 0 && (status.st_mode & S_ISVTX) != 0;
  const bool is_system = root == "/" || (owner == kRoot && !own) || (shared && (own || owner == kRoot));
  if (is_system && !is_marked(root, home, environment)) return ProjectTrust::Common;
  return own ? ProjectTrust::Trusted : ProjectTrust::Foreign;
}

Result<void> check_trusted(const std::string& root, const Home& home, const Settings& settings,
                           const Environment& environment) {
  if (trust_of(root, home, settings, environment) != ProjectTrust::Foreign) return {};
  struct stat status{};
  (void)::stat(root.c_str(), &status);
  return fail(
      Errc::NotTrusted,
      relay::format("the project {} belongs to another user (uid {}), who could control the agents in it; it is not "
                    "used; if you trust it, set trusted_projects = \"{}\" in config.toml",
                    root, status.st_uid, root));
}

Project usable_project(const std::string& root, const Home& home, const Settings& settings,
                       const Environment& environment) {
  auto project = project_at(root, home);
  project.common = trust_of(project.root, home, settings, environment) == ProjectTrust::Common;
  if (project.common) project.tree = project.directory;
  return project;
}

}  // namespace relay::config
