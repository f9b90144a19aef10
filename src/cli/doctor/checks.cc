#include "cli/doctor/checks.h"

#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "cli/doctor/agent_checks.h"
#include "cli/doctor/disk.h"
#include "cli/doctor/machine_checks.h"
#include "cli/render/times.h"
#include "cli/version.h"
#include "cli/wire/daemon_connection.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/message.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMagic = "SQLite format 3";

CheckResult check_home(const Context& context) {
  const auto& home = context.home.root;
  struct stat info{};
  if (::stat(home.c_str(), &info) != 0)
    return note("home", home + " does not exist yet", "create it with: agent-relay up");
  if (!S_ISDIR(info.st_mode))
    return problem("home", home + " is not a directory", "move it aside or set AGENT_RELAY_HOME");
  if (info.st_uid != ::geteuid()) return problem("home", home + " belongs to another user", "set AGENT_RELAY_HOME");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return problem("home", home + " is accessible to others", "fix it with: chmod 700 " + home);
  if (::access(home.c_str(), R_OK | W_OK | X_OK) != 0)
    return problem("home", home + " is not writable", "mount it writable or set AGENT_RELAY_HOME");
  return fine("home", home);
}

CheckResult check_config(const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  if (!settings) return problem("config", settings.error().message(), "");
  if (const auto usable = settings->check_usable(); !usable) return problem("config", usable.error().message(), "");
  return fine("config", ::access(context.home.config_file.c_str(), F_OK) == 0 ? context.home.config_file
                                                                              : "defaults; no config.toml");
}

/// Checks the relay home and the directory of the store.
CheckResult check_disk(const Context& context) {
  std::vector<std::string> paths = {context.home.root};
  if (const auto settings = config::load_settings(context.home, context.environment);
      settings && settings->storage_type() == config::StorageType::Sqlite)
    paths.push_back(config::database_path(*settings, context.project));
  DiskState fullest;
  for (const auto& path : paths) {
    auto state = inspect_disk(path);
    if (!state.problem.empty()) return problem("disk", std::move(state.problem), std::move(state.fix));
    if (fullest.free_bytes == 0 || state.free_bytes < fullest.free_bytes) fullest = std::move(state);
  }
  return fine("disk", short_size(fullest.free_bytes) + " free");
}

/// Socket and pid files of a dead daemon. Harmless: the next `up` removes them.
std::vector<std::string> stale_files(const Context& context) {
  std::vector<std::string> stale;
  for (const auto& places : {context.home.daemon_socket, context.project.socket}) {
    const auto path = config::socket_to_connect(places);
    if (::access(path.c_str(), F_OK) == 0 && !DaemonConnection::open(path)) stale.push_back(path);
  }
  for (const auto& path : {context.home.daemon_pid, context.project.pid_file}) {
    std::ifstream file{path};
    pid_t pid = 0;
    if (file >> pid && pid > 0 && ::kill(pid, 0) != 0 && errno == ESRCH) stale.push_back(path);
  }
  return stale;
}

CheckResult check_stale(const Context& context) {
  const auto stale = stale_files(context);
  if (stale.empty()) return fine("leftovers", "none");
  std::string list;
  for (const auto& path : stale) list += (list.empty() ? "" : ", ") + path;
  return note("leftovers", "left behind by a daemon that died: " + list, "the next agent-relay up removes them");
}

CheckResult check_sockets(const Context& context) {
  for (const auto& places : {context.home.daemon_socket, context.project.socket}) {
    const auto path = config::socket_to_connect(places);
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) continue;
    if (!S_ISSOCK(info.st_mode)) return problem("sockets", path + " is not a socket", "move it aside");
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
      return problem("sockets", path + " is accessible to others",
                     "restart the daemon: agent-relay down --all, agent-relay up");
  }
  const auto& primary = context.project.socket.primary;
  const auto& runtime = context.home.runtime;
  const bool needs_runtime = primary.size() > config::kMaxSocketPathBytes;
  if (needs_runtime && ::access(runtime.c_str(), F_OK) == 0 && !config::is_private_directory(runtime))
    return problem("sockets", "the path of the relay home is too long for them, and " + runtime + " is not private",
                   "remove it, set XDG_RUNTIME_DIR, or set AGENT_RELAY_HOME to a shorter path");
  if (needs_runtime) return fine("sockets", "the path of the relay home is too long for them; they are in " + runtime);
  return fine("sockets", config::socket_to_connect(context.project.socket));
}

CheckResult check_store(const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  if (!settings) return note("store", "not checked", "correct the configuration first");
  if (settings->storage_type() == config::StorageType::Memory)
    return note("store", "messages are stored in memory only", "they are lost when the daemon stops");
  const auto path = config::database_path(*settings, context.project);
  std::error_code ignored;
  const fs::path directory = fs::path{path}.parent_path();
  for (const auto& entry : fs::directory_iterator{directory, ignored}) {
    const auto name = entry.path().filename().string();
    if (name.find("damaged") == std::string::npos) continue;
    if (name.find("-commits") != std::string::npos)
      return problem("store", "a damaged journal was moved aside: " + entry.path().string(),
                     "keep it if messages are missing, or remove it");
    return problem("store", "a damaged database was moved aside: " + entry.path().string(),
                   "readable messages were recovered; keep it if messages are missing, or remove it");
  }
  std::ifstream file{path, std::ios::binary};
  if (!file) return fine("store", "no messages yet");
  std::string magic(kSqliteMagic.size(), '\0');
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (file.gcount() > 0 && magic != kSqliteMagic)
    return problem("store", path + " is not a SQLite database", "move it aside; the daemon creates a new one");
  const auto size = fs::file_size(path, ignored);
  return fine("store", relay::format("{} ({})", path, short_size(ignored ? 0 : size)));
}

void check_workspace(const Context& context, std::vector<CheckResult>& results) {
  auto connection = join_workspace(context);
  if (!connection) {
    results.push_back(is(connection.error(), Errc::NoDaemon)
                          ? note("workspace", context.project.root + " is not open", "open it with: agent-relay up")
                          : problem("workspace", connection.error().message(), ""));
    return;
  }
  const auto payload = connection->request(protocol::MessageType::Status, "{}");
  const auto status = payload ? parse_json_object(*payload) : Result<json::object>{Failure{payload.error()}};
  if (!status) {
    results.push_back(problem("workspace", status.error().message(), "restart the daemon"));
    return;
  }
  results.push_back(fine("workspace", context.project.root));
  const auto version = string_member(*status, "version").value_or("?");
  results.push_back(version == kVersion
                        ? fine("version", version)
                        : problem("version", relay::format("the daemon is {}, this program is {}", version, kVersion),
                                  "restart the daemon: agent-relay down --all, agent-relay up"));
  if (const auto* storage = object_member(*status, "storage"))
    if (const auto error = string_member(*storage, "error"); error || !bool_member(*storage, "canWrite").value_or(true))
      results.push_back(problem("storage", "the last write failed: " + error.value_or("no reason given"),
                                relay::format("check the disk and {}; messages are refused until a write succeeds",
                                              context.home.daemon_log)));
  if (const auto* storage = object_member(*status, "storage"))
    if (const auto damage = string_member(*storage, "damage"))
      results.push_back(problem("damage", *damage, "check the disk; damaged files are kept beside the store"));
  if (const auto* storage = object_member(*status, "storage"))
    if (const auto refused = integer_member(*storage, "refusedChanges").value_or(0); refused > 0)
      results.push_back(problem("refused", relay::format("the message store refuses {} acknowledged changes", refused),
                                "the daemon retries them at each start; to discard them, stop it and remove the file "
                                "that ends in -refused beside the store"));
  if (const auto newest = newest_messages(*connection, protocol::MessageType::MessagesQuery, {}, 1);
      newest && !newest->empty())
    if (auto result = check_newest_message(newest->front().timestamp, context.now()))
      results.push_back(*std::move(result));
}

void check_daemon(const Context& context, std::vector<CheckResult>& results) {
  auto daemon = connect_daemon(context);
  if (!daemon) {
    results.push_back(is(daemon.error(), Errc::NoDaemon)
                          ? note("daemon", "not running", "start it with: agent-relay up")
                          : problem("daemon", daemon.error().message(), ""));
    return;
  }
  const auto open = list_workspaces(*daemon);
  if (!open) {
    const auto pid = peer_of(*daemon).value_or(0);
    results.push_back(problem("daemon", relay::format("pid {} does not respond", pid),
                              relay::format("see {}, or stop it with: kill {}", context.home.daemon_log, pid)));
    return;
  }
  results.push_back(
      fine("daemon", relay::format("running, pid {}, {} open", peer_of(*daemon).value_or(0),
                                   open->size() == 1 ? "1 workspace" : relay::format("{} workspaces", open->size()))));
  if (const auto http = http_service(context, peer_of(*daemon).value_or(0)); !http.error.empty())
    results.push_back(problem("http", "the HTTP API is not served: " + http.error, std::string{kHttpFix}));
  else
    results.push_back(fine("http", http.url.empty() ? "switched off" : http.url));
  for (const auto& workspace : *open)
    if (!workspace.warning.empty()) results.push_back(problem("daemon", workspace.warning, ""));
  check_workspace(context, results);
}

}  // namespace

std::vector<CheckResult> run_checks(const Context& context) {
  std::vector<CheckResult> results = {check_home(context),        check_config(context),  check_disk(context),
                                      check_clock(context.now()), check_sockets(context), check_stale(context),
                                      check_store(context)};
  check_daemon(context, results);
  for (auto run_part : {run_machine_checks, run_agent_checks})
    for (auto& result : run_part(context)) results.push_back(std::move(result));
  return results;
}

}  // namespace relay::cli
