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
    return note("home", home + " does not exist yet", "make it with: agent-relay up");
  if (!S_ISDIR(info.st_mode))
    return problem("home", home + " is no directory", "move it aside or set AGENT_RELAY_HOME");
  if (info.st_uid != ::geteuid()) return problem("home", home + " belongs to another user", "set AGENT_RELAY_HOME");
  if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
    return problem("home", home + " can be entered by others", "close it with: chmod 700 " + home);
  if (::access(home.c_str(), R_OK | W_OK | X_OK) != 0)
    return problem("home", home + " cannot be written", "mount it writable or set AGENT_RELAY_HOME");
  return fine("home", home);
}

CheckResult check_config(const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  if (!settings) return problem("config", settings.error().message(), "");
  if (const auto usable = settings->check_usable(); !usable) return problem("config", usable.error().message(), "");
  return fine("config", ::access(context.home.config_file.c_str(), F_OK) == 0 ? context.home.config_file
                                                                              : "defaults; no config.toml");
}

/// The home, and the store where that is elsewhere.
CheckResult check_disk(const Context& context) {
  std::vector<std::string> places = {context.home.root};
  if (const auto settings = config::load_settings(context.home, context.environment);
      settings && settings->storage_type() == config::StorageType::Sqlite)
    places.push_back(config::database_path(*settings, context.project));
  DiskState least;
  for (const auto& place : places) {
    auto state = look_at_disk(place);
    if (!state.problem.empty()) return problem("disk", std::move(state.problem), std::move(state.advice));
    if (least.free_bytes == 0 || state.free_bytes < least.free_bytes) least = std::move(state);
  }
  return fine("disk", short_size(least.free_bytes) + " free");
}

/// A socket or pid file whose owner is gone. Harmless (the next `up` clears it), but it explains what one sees.
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
  return note("leftovers", "a daemon that died left " + list, "the next agent-relay up clears them");
}

CheckResult check_sockets(const Context& context) {
  for (const auto& places : {context.home.daemon_socket, context.project.socket}) {
    const auto path = config::socket_to_connect(places);
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) continue;
    if (!S_ISSOCK(info.st_mode)) return problem("sockets", path + " is no socket", "move it aside");
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
      return problem("sockets", path + " is open to others",
                     "restart the daemon: agent-relay down --all, agent-relay up");
  }
  const auto& usual = context.project.socket.primary;
  const auto& runtime = context.home.runtime;
  const bool needs_runtime = usual.size() > config::kMaxSocketPathBytes;
  if (needs_runtime && ::access(runtime.c_str(), F_OK) == 0 && !config::is_private_directory(runtime))
    return problem("sockets", "the home's path is too long for them, and " + runtime + " is not yours alone",
                   "remove it, set XDG_RUNTIME_DIR, or set AGENT_RELAY_HOME to a shorter path");
  if (needs_runtime) return fine("sockets", "the home's path is too long for them; they are in " + runtime);
  return fine("sockets", config::socket_to_connect(context.project.socket));
}

CheckResult check_store(const Context& context) {
  const auto settings = config::load_settings(context.home, context.environment);
  if (!settings) return note("store", "not looked at", "correct the configuration first");
  if (settings->storage_type() == config::StorageType::Memory)
    return note("store", "messages are kept in memory only", "they are forgotten when the daemon ends");
  const auto path = config::database_path(*settings, context.project);
  std::error_code ignored;
  const fs::path directory = fs::path{path}.parent_path();
  for (const auto& entry : fs::directory_iterator{directory, ignored}) {
    const auto name = entry.path().filename().string();
    if (name.find("damaged") == std::string::npos) continue;
    if (name.find("-commits") != std::string::npos)
      return problem("store", "a damaged journal was set aside: " + entry.path().string(),
                     "keep it if messages are missed, or remove it");
    return problem("store", "a damaged database was set aside: " + entry.path().string(),
                   "what could be read is recovered; keep it if messages are missed, or remove it");
  }
  std::ifstream file{path, std::ios::binary};
  if (!file) return fine("store", "no messages yet");
  std::string magic(kSqliteMagic.size(), '\0');
  file.read(magic.data(), static_cast<std::streamsize>(magic.size()));
  if (file.gcount() > 0 && magic != kSqliteMagic)
    return problem("store", path + " is no SQLite database", "move it aside; the daemon makes a new one");
  const auto size = fs::file_size(path, ignored);
  return fine("store", relay::format("{} ({})", path, short_size(ignored ? 0 : size)));
}

void check_workspace(const Context& context, std::vector<CheckResult>& findings) {
  auto connection = join_workspace(context);
  if (!connection) {
    findings.push_back(is(connection.error(), Errc::NoDaemon)
                           ? note("workspace", context.project.root + " is not open", "open it with: agent-relay up")
                           : problem("workspace", connection.error().message(), ""));
    return;
  }
  const auto payload = connection->request(protocol::MessageType::Status, "{}");
  const auto status = payload ? parse_json_object(*payload) : Result<json::object>{Failure{payload.error()}};
  if (!status) {
    findings.push_back(problem("workspace", status.error().message(), "restart the daemon"));
    return;
  }
  findings.push_back(fine("workspace", context.project.root));
  const auto version = string_member(*status, "version").value_or("?");
  findings.push_back(version == kVersion
                         ? fine("version", version)
                         : problem("version", relay::format("the daemon is {}, this program is {}", version, kVersion),
                                   "restart the daemon: agent-relay down --all, agent-relay up"));
  if (const auto* storage = object_member(*status, "storage"))
    if (const auto error = string_member(*storage, "error"); error || !bool_member(*storage, "canWrite").value_or(true))
      findings.push_back(problem(
          "storage", "the last write failed: " + error.value_or("no reason given"),
          relay::format("see the disk and {}; messages are refused until it can be written", context.home.daemon_log)));
  if (const auto* storage = object_member(*status, "storage"))
    if (const auto damage = string_member(*storage, "damage"))
      findings.push_back(
          problem("damage", *damage, "look at the disk; damaged files that were found are kept beside the store"));
  if (const auto* storage = object_member(*status, "storage"))
    if (const auto refused = integer_member(*storage, "refusedChanges").value_or(0); refused > 0)
      findings.push_back(problem("refused", relay::format("the message store refuses {} acknowledged changes", refused),
                                 "they are tried again at each start of the daemon; to give them up, end it and remove "
                                 "the file that ends in -refused beside the store"));
  if (const auto newest = newest_messages(*connection, protocol::MessageType::MessagesQuery, {}, 1);
      newest && !newest->empty())
    if (auto finding = judge_newest_message(newest->front().timestamp, context.now()))
      findings.push_back(*std::move(finding));
}

void check_daemon(const Context& context, std::vector<CheckResult>& findings) {
  auto daemon = connect_daemon(context);
  if (!daemon) {
    findings.push_back(is(daemon.error(), Errc::NoDaemon)
                           ? note("daemon", "not running", "start it with: agent-relay up")
                           : problem("daemon", daemon.error().message(), ""));
    return;
  }
  const auto open = list_workspaces(*daemon);
  if (!open) {
    const auto pid = peer_of(*daemon).value_or(0);
    findings.push_back(problem("daemon", relay::format("pid {} does not answer", pid),
                               relay::format("see {}, or end it with: kill {}", context.home.daemon_log, pid)));
    return;
  }
  findings.push_back(
      fine("daemon", relay::format("running, pid {}, {} open", peer_of(*daemon).value_or(0),
                                   open->size() == 1 ? "1 workspace" : relay::format("{} workspaces", open->size()))));
  if (const auto http = http_service(context, peer_of(*daemon).value_or(0)); !http.error.empty())
    findings.push_back(problem("http", "the HTTP API is not served: " + http.error, std::string{kHttpAdvice}));
  else
    findings.push_back(fine("http", http.url.empty() ? "switched off" : http.url));
  for (const auto& workspace : *open)
    if (!workspace.warning.empty()) findings.push_back(problem("daemon", workspace.warning, ""));
  check_workspace(context, findings);
}

}  // namespace

std::vector<CheckResult> run_checks(const Context& context) {
  std::vector<CheckResult> findings = {check_home(context),        check_config(context),  check_disk(context),
                                       judge_clock(context.now()), check_sockets(context), check_stale(context),
                                       check_store(context)};
  check_daemon(context, findings);
  for (auto examine_part : {examine_machine, examine_agents})
    for (auto& finding : examine_part(context)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace relay::cli
