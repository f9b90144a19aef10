#include "adapters/codex_rollout.h"

#include <filesystem>

#include "pty/process_tree.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRolloutPrefix = "rollout-", kRolloutSuffix = ".jsonl";
constexpr std::size_t kThreadIdLength = 36;  // a UUID

}  // namespace

std::string codex_home(const pty::Command& command) {
  if (const auto given = pty::variable(command.environment, "CODEX_HOME"); !given.empty()) return std::string{given};
  return std::string{pty::variable(command.environment, "HOME")} + "/.codex";
}

std::string find_open_rollout(pid_t agent, const std::string& codex_home) {
  const auto leader = pty::find_process(agent);
  std::error_code failed;
  const auto sessions = fs::canonical(codex_home + "/sessions", failed) / "";  // the kernel names files without links
  if (!leader || failed) return {};
  std::string found;
  for (const auto& process : pty::members_of(pty::all_processes(), leader->id, {}))
    for (const auto& file : pty::open_files(process.id.pid)) {
      const auto name = fs::path{file}.filename().string();
      if (!file.starts_with(sessions.string()) || !name.starts_with(kRolloutPrefix) || !name.ends_with(kRolloutSuffix))
        continue;
      if (found.empty() || name < fs::path{found}.filename().string()) found = file;
    }
  return found;
}

std::string thread_of_rollout(std::string_view path) {
  if (!path.ends_with(kRolloutSuffix)) return {};
  path.remove_suffix(kRolloutSuffix.size());
  return path.size() < kThreadIdLength ? std::string{} : std::string{path.substr(path.size() - kThreadIdLength)};
}

}  // namespace relay::adapters
