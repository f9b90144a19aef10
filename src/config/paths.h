/// Where files and sockets are on disk: one home per user, one directory per project, sockets 0600 in directories 0700.
///
/// Why one module: the daemon, the command line and every client must compute identical paths, or they cannot connect.
///   Only `make_private_directory` and `socket_to_listen` create anything.
/// Invariants: every path is absolute, without a trailing slash, and always the same for the same root.
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

/// The paths of a socket: the primary one, and a private one in the runtime directory for when the primary one cannot
///   hold a socket.
struct SocketPaths {
  std::string primary;  // may be longer than the system allows; then only the fallback is used
  std::string fallback;
};

/// `$AGENT_RELAY_HOME`, else `~/.agent-relay`.
struct Home {
  std::string root;
  std::string config_file;  // config.toml
  std::string daemon_lock;  // held while the daemon runs
  std::string daemon_pid;
  std::string daemon_log;
  std::string workspaces;    // workspaces.json: the workspaces that the daemon reopens at its start
  std::string http_file;     // http.json: the address of the HTTP API while it listens
  std::string system_token;  // system.token: identifies our own programs (system_token.h)
  std::string projects;      // directory of the projects' directories
  SocketPaths daemon_socket;
  std::string runtime;                 // private directory for sockets whose primary path is unusable
  std::vector<std::string> published;  // where 1.x command lines expect <projectId>/relay.sock
};
Result<Home> find_home(const Environment& environment);

/// The paths of one workspace.
struct Project {
  std::string root;         // absolute, symbolic links resolved where it exists
  std::string tree;         // where files for agents are placed: the root, or the linked git worktree that shares it
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
  bool common = false;      // a system directory that is no project (trust.h): nothing is written into it
};

/// The project of a directory: `$AGENT_RELAY_PROJECT` if set; else the nearest ancestor with a marker; else the
///   directory itself. A relay home and the root of the file system never count, nor do markers in a directory that all
///   users may write (`/tmp`). A linked git worktree is a separate root here.
std::string find_project_root(std::string_view start_directory, const Home& home, const Environment& environment);

/// Whether a directory is a project root by its markers, by the same rules.
bool is_marked(const std::string& directory, const Home& home, const Environment& environment);

/// The socket paths of the host with this id.
SocketPaths host_socket_paths(const Project& project, const Home& home, std::string_view host_id);

/// The folder below the project's root that an agent may read and write without permission: `.agent-relay/agents/<name>`,
/// as separate names, because the author of the project may have put links there.
std::vector<std::string> agent_folder(std::string_view agent);

/// A file name for any agent name: the name itself if it is a valid file name, else readable where possible, and always
///   unique.
std::string file_name_of(std::string_view agent);

std::string project_id(std::string_view root);
Project project_at(std::string_view root, const Home& home);

/// The root whose workspace a project uses: for a linked git worktree, and for a project inside one, the corresponding
///   path of the main worktree, unless the setting `workspace` keeps them apart; else the root itself.
std::string workspace_root(const std::string& project_root, const Home& home, const Environment& environment);

/// The project of a directory. Its `tree` is in the linked worktree around the directory, even if AGENT_RELAY_PROJECT
/// names the main one.
Project project_of(const std::string& directory, const Home& home, const Environment& environment);

/// The project of the current directory.
Result<Project> current_project(const Home& home, const Environment& environment);

/// Creates the directory and its parents with 0700; an existing one must belong to this user and is changed to 0700.
Result<void> make_private_directory(const std::string& path);

/// The directory belongs to this user, and no other user may enter it.
bool is_private_directory(const std::string& path);

/// The path to listen at: creates the directory and tests whether it can hold a socket (length, file system), else
///   prepares the fallback. Does not touch an existing file at the path.
Result<std::string> socket_to_listen(const SocketPaths& paths);

/// The path to connect to: the one that has a socket; the primary one if neither has. A fallback is used only in a
///   private directory of this user.
std::string socket_to_connect(const SocketPaths& paths);

}  // namespace relay::config
