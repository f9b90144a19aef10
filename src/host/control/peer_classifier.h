/// Classifies the process at the other end of a Unix socket: the user's shell, or a process inside an agent.
///
/// How: the kernel reports the peer's pid (SO_PEERCRED). Its parents are followed in /proc; a recorded host or agent of
///   this home among them makes it a process of that agent, which has a name only in its own workspace. The record may
///   be that of a killed host, so a pid counts only with the start time of its process and within its boot. An orphaned
///   process is classified by AGENT_RELAY_HOST_SOCKET in its environment, which can only lower its authority.
/// Invariants: a peer that cannot be read is Unknown, never User, and so is a peer with kMaxAncestors parents. A parent
///   that cannot be read ends the chain, as for an orphan: its process has ended, or is hidden because it belongs to
///   another user (hidepid), such as the login of the user's shell.
/// Limits: everything runs under one uid, so this stops prompts and careless tools, not a malicious program
///   (docs/security.md).
/// Threading: one thread; a lookup costs a few reads of /proc, and of `hosts/` only when it has changed.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "protocol/peer_origin.h"

namespace relay::host {

inline constexpr std::size_t kMaxAncestors = 64;

/// A process that is an agent, or the host of one.
struct AgentProcess {
  pid_t pid = 0;
  std::string agent;
  std::uint64_t start = 0;  // of the process (pty::ProcessId); 0: not recorded, the pid alone counts
  std::string socket = {};  // of its host
};

/// One process of the chain from the peer upwards.
struct Ancestor {
  pid_t pid = 0;
  std::string socket = {};  // AGENT_RELAY_HOST_SOCKET in its environment
  std::uint64_t start = 0;
};

/// Pure; nearest first. Unknown without ancestors, and for a chain of kMaxAncestors or more without an agent. Parents
/// count before environments, which a process chooses for its children. A socket counts when
/// it is below one of `socket_roots` (others belong to another home) and identifies the agent of its host; without a
/// record of that host the agent has no name.
protocol::PeerOrigin origin_of(std::span<const Ancestor> ancestors, std::span<const AgentProcess> agents,
                               std::span<const std::string> socket_roots);

/// `hosts/` of every project of the home.
std::vector<std::string> host_directories(const std::string& projects);

class PeerClassifier {
 public:
  /// The directories of host records (`hosts/` of a workspace); called for each classification.
  using RecordDirectories = std::function<std::vector<std::string>()>;

  /// `own`: the workspace's `hosts/`; `socket_roots`: the directories in which hosts of this home listen. Agents of the
  /// other projects in `projects` get no name, because an agent of this workspace may have the same.
  PeerClassifier(std::string own, const std::string& projects, std::vector<std::string> socket_roots);
  PeerClassifier(RecordDirectories records, std::vector<std::string> socket_roots);

  /// A peer with our own pid is this daemon (its HTTP API), which has already checked its own callers.
  [[nodiscard]] protocol::PeerOrigin classify(pid_t peer);

 private:
  struct Recorded {
    std::vector<AgentProcess> agents;
    std::int64_t read_at = -1;  // modification time of the directory in nanoseconds; -1: unreliable
  };
  std::vector<AgentProcess> agents();
  static void refresh(const std::string& directory, Recorded& recorded);

  std::string own_;  // empty: agents of all directories have their names
  RecordDirectories records_;
  std::vector<std::string> socket_roots_;
  std::unordered_map<std::string, Recorded> recorded_;  // by directory; only those of the last classification
};

}  // namespace relay::host
