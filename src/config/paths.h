/// Where everything lives on disk. DESIGN: one home per user, one directory per project, sockets 0600 in 0700.
///
/// Why here: the daemon, the command line and every client must agree on these paths to the letter, or they never
///   meet. Nothing in this file creates anything except `make_private_directory` and `socket_to_listen`.
/// Invariants: every path is absolute and without a trailing slash; the same root gives the same paths for ever.
/// Threading: pure functions over the file system; any thread.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "config/environment.h"

namespace relay::config {

inline constexpr std::size_t kProjectIdDigits = 12;
inline constexpr std::size_t kMaxSocketPathBytes = 107;  // sun_path holds 108 with its final zero

/// A socket's usual place, and the private one under the runtime directory for when the usual one cannot hold it.
struct SocketPaths {
  std::string primary;  // may be longer than the system allows; then only the fallback is ever used
  std::string fallback;
};

/// `$AGENT_RELAY_HOME`, else `~/.agent-relay`.
struct Home {
  std::string root;
  std::string config_file;  // config.toml
  std::string daemon_lock;  // held for the daemon's whole life
  std::string daemon_pid;
  std::string daemon_log;
  std::string workspaces;    // workspaces.json: what the daemon reopens when it starts
  std::string http_file;     // http.json: where the HTTP API listens, while it does
  std::string system_token;  // system.token: shows that a program is one of ours (system_token.h)
  std::string projects;      // directory of the projects' directories
  SocketPaths daemon_socket;
  std::string runtime;                 // private directory for sockets that fit nowhere else
  std::vector<std::string> published;  // where 1.x command lines look for <projectId>/relay.sock
};
Result<Home> find_home(const Environment& environment);

/// One workspace's places.
struct Project {
  std::string root;         // absolute, symbolic links resolved where it exists
  std::string tree;         // where files for agents are laid: the root, or the linked git worktree that shares it
  std::string id;           // first 12 hex digits of SHA-256 of the root
  std::string directory;    // <home>/projects/<id>
  SocketPaths socket;       // relay.sock
  std::string pid_file;     // relay.sock.pid
  std::string database;     // messages.sqlite
  std::string agents_file;  // agents.json
  std::string outboxes;     // directory: one durable outbox per client name
  std::string hosts;        // directory: one record and one socket per host
  std::string team;         // directory: one directory per agent, with its inbox.md
  std::string link;         // <root>/.agent-relay/relay.sock, where published clients look first
  bool common = false;      // a directory of the system and no project (trust.h): nothing is written into it
};

/// The project a directory belongs to: `$AGENT_RELAY_PROJECT` if set; else the nearest ancestor with a marker; else
/// the directory itself. Neither a relay home nor the root of the file system ever counts. Markers in a
/// directory where everyone may write (`/tmp`) do not count either. A linked git worktree is a root of its own here.
std::string find_project_root(std::string_view start_directory, const Home& home, const Environment& environment);

/// Whether a directory is a project root by a marker in it, by the same rules.
bool is_marked(const std::string& directory, const Home& home, const Environment& environment);

/// Where the host of that id listens.
SocketPaths host_socket_paths(const Project& project, const Home& home, std::string_view host_id);

/// Below the project's root, where an agent may read and write without asking anybody: `.agent-relay/agents/<name>`. One
/// name after the other, because whoever wrote the project may have put links there.
std::vector<std::string> agent_folder(std::string_view agent);

/// A file name for any agent name: the name itself where that is one, else readable where possible, unique always.
std::string file_name_of(std::string_view agent);

std::string project_id(std::string_view root);
Project project_at(std::string_view root, const Home& home);

/// The root whose workspace a project uses: for a linked git worktree, and for a project inside one, the same place of the
/// main worktree, unless the setting `workspace` keeps them apart; else itself.
std::string workspace_root(const std::string& project_root, const Home& home, const Environment& environment);

/// The project of that directory. Its `tree` lies in the linked worktree around the directory, also when
/// AGENT_RELAY_PROJECT names the main one.
Project project_of(const std::string& directory, const Home& home, const Environment& environment);

/// The project of the current directory.
Result<Project> current_project(const Home& home, const Environment& environment);

/// Makes the directory and its parents, 0700; an existing one must be ours and is tightened to 0700.
Result<void> make_private_directory(const std::string& path);

/// Ours, and nobody else may enter it.
bool is_private_directory(const std::string& path);

/// Where to listen: makes the directory and tries whether it can hold a socket (length, file system), else prepares
/// the fallback. Does not touch what is at the path already.
Result<std::string> socket_to_listen(const SocketPaths& places);

/// Where to connect: the place that has a socket now; the usual one when neither has. A fallback is believed only in
/// a directory that is ours alone.
std::string socket_to_connect(const SocketPaths& places);

}  // namespace relay::config
