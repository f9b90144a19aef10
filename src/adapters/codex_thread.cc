#include "adapters/codex_thread.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <vector>

#include "adapters/codex_rollout.h"
#include "pty/process_tree.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kLockSuffix = ".lock";
constexpr std::size_t kRolloutHeadBytes = 4'096;  // of a rollout; its first line names its source
constexpr std::string_view kSubagentSource = R"("source":{"subagent")";

struct OpenThread {
  std::string id;
  fs::file_time_type opened{};
};

bool is_subagent(const std::string& rollout) {
  std::string head(kRolloutHeadBytes, '\0');
  std::ifstream file{rollout, std::ios::binary};
  file.read(head.data(), static_cast<std::streamsize>(head.size()));
  head.resize(static_cast<std::size_t>(file.gcount()));
  return head.substr(0, head.find('\n')).contains(kSubagentSource);
}

std::vector<OpenThread> open_threads(pid_t process, const fs::path& locks) {
  std::vector<OpenThread> threads;
  std::map<std::string, std::string> rollouts;  // by thread
  for (const auto& file : pty::open_files(process)) {
    const fs::path path{file};
    if (auto thread = thread_of_rollout(file); !thread.empty()) rollouts[std::move(thread)] = file;
    if (path.parent_path() != locks || path.extension() != kLockSuffix) continue;
    std::error_code failed;
    const auto opened = fs::last_write_time(path, failed);
    if (!failed) threads.push_back({path.stem().string(), opened});
  }
  std::erase_if(threads, [&](const OpenThread& each) {
    const auto rollout = rollouts.find(each.id);
    return rollout != rollouts.end() && is_subagent(rollout->second);
  });
  return threads;
}

}  // namespace

std::string find_shown_thread(pid_t agent, const std::string& codex_home, std::string_view reported) {
  const auto leader = pty::find_process(agent);
  std::error_code failed;
  const auto locks =
      fs::canonical(codex_home + "/thread-writer-locks", failed);  // the kernel names files without links
  if (!leader || failed) return {};
  std::vector<OpenThread> all;
  for (const auto& process : pty::members_of(pty::all_processes(), leader->id, {})) {
    auto threads = open_threads(process.id.pid, locks);
    const bool has_reported = std::ranges::find(threads, reported, &OpenThread::id) != threads.end();
    if (has_reported) all.clear();
    all.insert(all.end(), threads.begin(), threads.end());
    if (has_reported) break;
  }
  const auto newest = std::ranges::max_element(all, {}, &OpenThread::opened);
  return newest == all.end() ? std::string{} : newest->id;
}

}  // namespace relay::adapters
