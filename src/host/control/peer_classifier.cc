#include "host/control/peer_classifier.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "host/control/host_record.h"
#include "pty/process_table.h"

namespace relay::host {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
/// A directory that changed this recently may change again under the same time stamp.
constexpr std::int64_t kTimestampGranularity = kNanos / 10;

std::int64_t nanos(const timespec& time) { return time.tv_sec * kNanos + time.tv_nsec; }

bool is_below_any(std::string_view path, std::span<const std::string> roots) {
  return std::ranges::any_of(roots, [&](const std::string& root) {
    return !root.empty() && path.starts_with(root) && path.substr(root.size()).starts_with('/');
  });
}

/// The peer and its parents, nearest first; empty when the peer itself cannot be read.
std::vector<Ancestor> ancestors_of(pid_t pid) {
  std::vector<Ancestor> chain;
  while (pid > 1 && chain.size() < kMaxAncestors) {
    const auto process = pty::find_process(pid);
    if (!process) break;
    chain.push_back({.pid = pid,
                     .socket = pty::find_variable(pid, "AGENT_RELAY_HOST_SOCKET").value_or(""),
                     .start = process->id.start});
    pid = process->parent;
  }
  return chain;
}

}  // namespace

protocol::PeerOrigin origin_of(std::span<const Ancestor> ancestors, std::span<const AgentProcess> agents,
                               std::span<const std::string> socket_roots) {
  if (ancestors.empty()) return {};
  for (const auto& ancestor : ancestors) {
    const auto agent = std::ranges::find_if(agents, [&](const AgentProcess& one) {
      return one.pid == ancestor.pid && (one.start == 0 || one.start == ancestor.start);
    });
    if (agent != agents.end()) return protocol::agent_origin(agent->agent, agent->socket);
  }
  for (const auto& ancestor : ancestors) {
    if (!is_below_any(ancestor.socket, socket_roots)) continue;
    const auto agent = std::ranges::find(agents, ancestor.socket, &AgentProcess::socket);
    return protocol::agent_origin(agent != agents.end() ? agent->agent : std::string{}, ancestor.socket);
  }
  return ancestors.size() < kMaxAncestors ? protocol::user_origin() : protocol::PeerOrigin{};
}

std::vector<std::string> host_directories(const std::string& projects) {
  std::vector<std::string> directories;
  std::error_code error;
  for (std::filesystem::directory_iterator project{projects, error}, end; !error && project != end;
       project.increment(error))
    directories.push_back(project->path().string() + "/hosts");
  return directories;
}

PeerClassifier::PeerClassifier(std::string own, const std::string& projects, std::vector<std::string> socket_roots)
    : own_{std::move(own)},
      records_{[own = own_, projects] {
        auto directories = projects.empty() ? std::vector<std::string>{} : host_directories(projects);
        std::erase(directories, own);
        directories.insert(directories.begin(), own);
        return directories;
      }},
      socket_roots_{std::move(socket_roots)} {}

PeerClassifier::PeerClassifier(RecordDirectories records, std::vector<std::string> socket_roots)
    : records_{std::move(records)}, socket_roots_{std::move(socket_roots)} {}

protocol::PeerOrigin PeerClassifier::classify(pid_t peer) {
  if (peer == ::getpid()) return protocol::daemon_origin();
  return origin_of(ancestors_of(peer), agents(), socket_roots_);
}

std::vector<AgentProcess> PeerClassifier::agents() {
  std::vector<AgentProcess> all;
  auto previous = std::exchange(recorded_, {});
  for (const auto& directory : records_()) {
    auto& recorded = recorded_[directory];
    if (const auto before = previous.find(directory); before != previous.end()) recorded = std::move(before->second);
    refresh(directory, recorded);
    for (const auto& agent : recorded.agents) {
      all.push_back(agent);
      if (!own_.empty() && directory != own_) all.back().agent.clear();
    }
  }
  return all;
}

void PeerClassifier::refresh(const std::string& directory, Recorded& recorded) {
  struct stat status{};
  if (::stat(directory.c_str(), &status) != 0) {
    recorded = {};
    return;
  }
  const auto changed_at = nanos(status.st_mtim);
  if (changed_at == recorded.read_at) return;
  recorded.agents.clear();
  for (const auto& record : recorded_hosts(directory)) {
    if (!is_of_this_boot(record)) continue;
    if (record.agent_pid > 1)
      recorded.agents.push_back({record.agent_pid, record.name, record.agent_start, record.socket});
    if (record.host_pid > 1)
      recorded.agents.push_back({record.host_pid, record.name, record.host_start, record.socket});
  }
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  recorded.read_at = nanos(now) - changed_at > kTimestampGranularity ? changed_at : -1;
}

}  // namespace relay::host
