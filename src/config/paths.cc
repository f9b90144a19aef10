#include "config/paths.h"

#include <pwd.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <vector>

#include "base/format.h"
#include "base/hash.h"
#include "config/settings.h"
#include "config/trust.h"
#include "config/worktree.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 6> kMarkers = {".git",   "package.json",   "Cargo.toml",
                                                      "go.mod", "pyproject.toml", ".agent-relay"};
constexpr std::size_t kHomeHashDigits = 8;
constexpr std::size_t kMaxReadableNameBytes = 40;

std::string without_trailing_slash(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

/// Absolute, with `.` and `..` resolved lexically; symbolic links are kept.
std::string absolute(const std::string& path) {
  std::error_code ignored;
  const auto full = fs::absolute(path, ignored);
  return without_trailing_slash((ignored ? fs::path{path} : full).lexically_normal().string());
}

/// Absolute, with symbolic links resolved as far as the path exists.
std::string resolved(const std::string& path) {
  std::error_code failed;
  const auto real = fs::weakly_canonical(absolute(path), failed);
  return failed ? absolute(path) : without_trailing_slash(real.string());
}

std::string user_directory(const Environment& environment) {
  if (auto home = environment("HOME")) return *home;
  const passwd* entry = ::getpwuid(::geteuid());
  return entry != nullptr && entry->pw_dir != nullptr ? entry->pw_dir : "";
}

/// A directory of another user would let that user replace our socket (`sudo` may keep XDG_RUNTIME_DIR).
bool is_own_directory(const std::string& path) {
  struct stat info{};
  return ::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode) && info.st_uid == ::geteuid();
}

/// Daemon and clients compute the same directory: the login's runtime directory, else one under /tmp.
std::string runtime_directory(const Environment& environment) {
  const auto uid = ::geteuid();
  if (auto given = environment("XDG_RUNTIME_DIR"); given && given->starts_with('/') && is_own_directory(*given))
    return absolute(*given) + "/agent-relay";
  if (auto login = relay::format("/run/user/{}", uid); is_own_directory(login)) return login + "/agent-relay";
  return relay::format("/tmp/agent-relay-{}", uid);
}

SocketPaths make_socket_paths(std::string primary, const std::string& runtime, std::string_view home,
                              std::string_view name) {
  const auto leaf = relay::format("/{}-{}", sha256_hex(home).substr(0, kHomeHashDigits), name);
  auto fallback = runtime + leaf;
  if (fallback.size() > kMaxSocketPathBytes) fallback = relay::format("/tmp/agent-relay-{}", ::geteuid()) + leaf;
  return {std::move(primary), std::move(fallback)};
}

/// Any user may put a marker into such a directory, so markers there do not count.
bool is_writable_by_all(const fs::path& directory) {
  struct stat info{};
  return ::stat(directory.c_str(), &info) == 0 && (info.st_mode & S_IWOTH) != 0 &&
         (info.st_uid != ::geteuid() || (info.st_mode & S_ISVTX) != 0);
}

bool is_at_or_below(std::string_view path, std::string_view root) {
  return path.starts_with(root) && (path.size() == root.size() || path[root.size()] == '/');
}

bool separates_worktrees(const Home& home, const Environment& environment) {
  const auto settings = load_settings(home, environment);
  return settings && settings->text(Setting::Workspace) == "worktree";
}

/// The path that corresponds to `root` in the linked worktree around `directory`; none if that is no worktree of the
/// same repository.
std::optional<std::string> corresponding_tree(const std::string& root, const std::string& directory) {
  const auto linked = linked_worktree_around(directory);
  if (!linked || !is_at_or_below(root, linked->main)) return std::nullopt;
  auto path = linked->root + root.substr(linked->main.size());
  std::error_code failed;
  const bool is_plain_directory =
      fs::is_directory(path, failed) && resolved(path) == path;  // a link may lead elsewhere
  return is_plain_directory ? std::optional{std::move(path)} : std::nullopt;
}

/// True when `directory` has a marker of a project root. A relay home is no marker.
bool has_marker(const fs::path& directory, const std::vector<std::string>& homes) {
  if (is_writable_by_all(directory)) return false;
  for (const auto marker : kMarkers) {
    const auto candidate = directory / marker;
    std::error_code failed;
    if (!fs::exists(candidate, failed) || failed) continue;
    const auto real = resolved(candidate.string());
    if (std::find(homes.begin(), homes.end(), real) == homes.end()) return true;
  }
  return false;
}

/// The default home in the user's directory is a home even while another one is in use.
std::vector<std::string> relay_homes(const Home& home, const Environment& environment) {
  std::vector<std::string> homes = {resolved(home.root)};
  if (const auto user = user_directory(environment); !user.empty()) homes.push_back(resolved(user + "/.agent-relay"));
  return homes;
}

std::string marked_root(std::string_view start_directory, const Home& home, const Environment& environment) {
  const auto start = resolved(std::string{start_directory});
  const auto homes = relay_homes(home, environment);
  for (fs::path at = start; at.has_relative_path(); at = at.parent_path())
    if (has_marker(at, homes)) return at.string();
  return start;
}

}  // namespace

Result<Home> find_home(const Environment& environment) {
  std::string root;
  if (auto given = environment("AGENT_RELAY_HOME")) {
    root = absolute(*given);
  } else {
    const auto user = user_directory(environment);
    if (user.empty()) return fail("cannot find your home directory: HOME is not set; set AGENT_RELAY_HOME");
    root = absolute(user) + "/.agent-relay";
  }
  if (root == "/") return fail("AGENT_RELAY_HOME cannot be /: choose a separate directory");
  Home home;
  home.runtime = runtime_directory(environment);
  home.config_file = root + "/config.toml";
  home.daemon_lock = root + "/daemon.lock";
  home.daemon_pid = root + "/daemon.pid";
  home.daemon_log = root + "/daemon.log";
  home.workspaces = root + "/workspaces.json";
  home.http_file = root + "/http.json";
  home.system_token = root + "/system.token";
  home.projects = root + "/projects";
  home.daemon_socket = make_socket_paths(root + "/daemon.sock", home.runtime, root, "daemon.sock");
  home.published.push_back(root);
  if (const auto data = environment("AGENT_RELAY_DATA_DIR"))
    home.published.push_back(absolute(*data));
  else if (const auto shared = environment("XDG_DATA_HOME"))
    home.published.push_back(absolute(*shared) + "/agent-relay");
  home.root = std::move(root);
  return home;
}

std::string find_project_root(std::string_view start_directory, const Home& home, const Environment& environment) {
  if (auto given = environment("AGENT_RELAY_PROJECT")) return resolved(*given);
  return marked_root(start_directory, home, environment);
}

bool is_marked(const std::string& directory, const Home& home, const Environment& environment) {
  return directory != "/" && has_marker(directory, relay_homes(home, environment));
}

std::string project_id(std::string_view root) { return sha256_hex(root).substr(0, kProjectIdDigits); }

Project project_at(std::string_view root, const Home& home) {
  Project project;
  project.root = absolute(std::string{root});
  project.tree = project.root;
  project.id = project_id(project.root);
  project.directory = home.projects + "/" + project.id;
  project.socket = make_socket_paths(project.directory + "/relay.sock", home.runtime, home.root, project.id + ".sock");
  project.pid_file = project.directory + "/relay.sock.pid";
  project.database = project.directory + "/messages.sqlite";
  project.agents_file = project.directory + "/agents.json";
  project.outboxes = project.directory + "/outboxes";
  project.hosts = project.directory + "/hosts";
  project.team = project.directory + "/team";
  project.link = (project.root == "/" ? "" : project.root) + "/.agent-relay/relay.sock";
  return project;
}

SocketPaths host_socket_paths(const Project& project, const Home& home, std::string_view host_id) {
  return make_socket_paths(relay::format("{}/{}.sock", project.hosts, host_id), home.runtime, home.root,
                           relay::format("{}-{}.sock", project.id, host_id));
}

std::vector<std::string> agent_folder(std::string_view agent) {
  return {".agent-relay", "agents", file_name_of(agent)};
}

std::string file_name_of(std::string_view agent) {
  std::string file;
  for (const char c : agent.substr(0, kMaxReadableNameBytes))
    file += std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' ? c : '_';
  return file == agent && !file.empty() ? file : relay::format("{}-{}", file, sha256_hex(agent).substr(0, 8));
}

Result<Project> current_project(const Home& home, const Environment& environment) {
  std::error_code failed;
  const auto here = fs::current_path(failed);
  if (failed)
    return fail("cannot determine the current directory: " + failed.message() + "; change to one that exists");
  return project_of(here.string(), home, environment);
}

Project project_of(const std::string& directory, const Home& home, const Environment& environment) {
  const auto start = find_project_root(directory, home, environment);
  const auto root = workspace_root(start, home, environment);
  auto project = usable_project(root, home, Settings{}, environment);
  if (project.common)  // unless the user trusts it as a project
    project = usable_project(root, home, load_settings(home, environment).value_or(Settings{}), environment);
  if (project.common) return project;
  // An agent's AGENT_RELAY_PROJECT names the main worktree, wherever the agent works.
  auto tree = corresponding_tree(project.root, start);
  if (!tree) tree = corresponding_tree(project.root, resolved(directory));
  if (tree && !separates_worktrees(home, environment)) project.tree = *std::move(tree);
  return project;
}

std::string workspace_root(const std::string& project_root, const Home& home, const Environment& environment) {
  const auto linked = linked_worktree_around(project_root);
  if (!linked || separates_worktrees(home, environment)) return project_root;
  // A project inside the worktree maps to the same project of the main worktree, or to the one around it.
  return marked_root(linked->main + project_root.substr(linked->root.size()), home, environment);
}

Result<void> make_private_directory(const std::string& path) {
  struct stat info{};
  if (::lstat(path.c_str(), &info) != 0) {
    if (errno != ENOENT) return fail_errno("cannot inspect " + path);
    const auto slash = path.rfind('/');
    if (slash != std::string::npos && slash > 0) {
      const auto parent = path.substr(0, slash);
      if (::access(parent.c_str(), F_OK) != 0) RELAY_TRY(make_private_directory(parent));
    }
    if (::mkdir(path.c_str(), S_IRWXU) != 0 && errno != EEXIST)
      return fail_errno("cannot create the directory " + path);
    if (::lstat(path.c_str(), &info) != 0) return fail_errno("cannot inspect " + path);
  }
  const bool is_link = S_ISLNK(info.st_mode);
  if (is_link && info.st_uid != ::geteuid())
    return fail(path + " is a symbolic link of another user; remove it or choose another AGENT_RELAY_HOME");
  if (is_link && ::stat(path.c_str(), &info) != 0) return fail_errno("cannot follow the link " + path);
  if (!S_ISDIR(info.st_mode)) return fail(path + " is not a directory; move it aside");
  if (info.st_uid != ::geteuid()) return fail(path + " belongs to another user; choose another AGENT_RELAY_HOME");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0 && ::chmod(path.c_str(), S_IRWXU) != 0)
    return fail_errno("cannot make " + path + " private");
  return {};
}

}  // namespace relay::config
