#include "host/peer_classifier.h"

#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

#include "host/record.h"
#include "pty/process_table.h"

namespace relay::host {
namespace {

constexpr std::int64_t kNanos = 1'000'000'000;
/// A directory that changed this recently may change again under the same time stamp.
constexpr std::int64_t kSettled = kNanos / 10;

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
                     .door = pty::find_variable(pid, "AGENT_RELAY_DOOR").value_or(""),
                     .name = pty::find_variable(pid, "AGENT_RELAY_NAME").value_or("")});
    pid = process->parent;
  }
  return chain;
}

}  // namespace

protocol::PeerOrigin origin_of(std::span<const Ancestor> ancestors, std::span<const AgentProcess> agents,
                               std::span<const std::string> door_roots) {
  if (ancestors.empty()) return {};
  for (const auto& ancestor : ancestors) {
    const auto agent = std::ranges::find(agents, ancestor.pid, &AgentProcess::pid);
    if (agent != agents.end()) return protocol::agent_origin(agent->agent);
    if (is_below_any(ancestor.door, door_roots)) return protocol::agent_origin(ancestor.name);
  }
  return protocol::user_origin();
}

PeerClassifier::PeerClassifier(std::string records, std::vector<std::string> door_roots)
    : records_{std::move(records)}, door_roots_{std::move(door_roots)} {}

protocol::PeerOrigin PeerClassifier::classify(pid_t peer) {
  if (peer == ::getpid()) return protocol::daemon_origin();
  return origin_of(ancestors_of(peer), agents(), door_roots_);
}

const std::vector<AgentProcess>& PeerClassifier::agents() {
  struct stat status{};
  if (::stat(records_.c_str(), &status) != 0) {
    agents_.clear();
    read_at_ = -1;
    return agents_;
  }
  const auto changed_at = nanos(status.st_mtim);
  if (changed_at == read_at_) return agents_;
  agents_.clear();
  for (auto& record : recorded_hosts(records_)) {
    if (record.agent_pid > 1) agents_.push_back({record.agent_pid, record.name});
    if (record.pid > 1) agents_.push_back({record.pid, std::move(record.name)});
  }
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  read_at_ = nanos(now) - changed_at > kSettled ? changed_at : -1;
  return agents_;
}

}  // namespace relay::host
