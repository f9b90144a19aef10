#include "cli/agent/self_path.h"

#include <filesystem>

#include "base/format.h"

namespace relay::cli {

Result<std::string> self_path() {
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed).string();
  if (failed) return fail(relay::format("cannot determine the path of this program: {}", failed.message()));
  return path;
}

Result<std::string> self_path_on(std::string_view search) {
  auto own = RELAY_TRY(self_path());
  std::error_code failed;
  for (std::size_t at = 0; at <= search.size();) {
    const auto end = std::min(search.find(':', at), search.size());
    const auto candidate = relay::format("{}/agent-relay", search.substr(at, end - at));
    if (candidate.starts_with('/') && std::filesystem::equivalent(candidate, own, failed)) return candidate;
    at = end + 1;
  }
  return own;
}

}  // namespace relay::cli
