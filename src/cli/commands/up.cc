/// `agent-relay up`
#include <unistd.h>

#include "base/format.h"
#include "base/json.h"
#include "capture/capture_log.h"
#include "cli/agent/launch.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/version.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/start_daemon.h"
#include "cli/wire/workspace.h"
#include "config/settings.h"
#include "config/trust.h"
#include "daemon/daemon.h"

namespace relay::cli {
namespace {

constexpr std::int64_t kMaxFd = 1'000'000;

Result<config::Settings> settings_of(const Invocation& invocation, const Context& context) {
  auto settings = RELAY_TRY(config::load_settings(context.home, context.environment));
  if (const auto durability = invocation.value("--durability"))
    RELAY_TRY(settings.apply_flag(config::Setting::Durability, *durability));
  if (const auto storage = invocation.value("--storage"))
    RELAY_TRY(settings.apply_flag(config::Setting::StorageType, *storage));
  if (const auto socket = invocation.value("--socket"))
    RELAY_TRY(settings.apply_flag(config::Setting::Socket, *socket));
  if (invocation.has("--no-http")) RELAY_TRY(settings.apply_flag(config::Setting::DashboardPort, "0"));
  RELAY_TRY(settings.check_usable());
  return settings;
}

void report_startup_error(int fd, std::string_view message) {
  if (fd < 0) return;
  const auto line = relay::format("error: {}\n", message);
  if (::write(fd, line.data(), line.size()) < 0) return;  // the reader has closed
}

ExitCode run_in_foreground(const Invocation& invocation, Context& context, config::Settings settings) {
  const auto ready_fd = RELAY_CLI_USAGE(invocation.number("--ready-fd", 0, kMaxFd, -1));
  const bool detached = ready_fd >= 0;
  daemon::DaemonOptions options;
  options.home = context.home;
  options.open = {{context.project.root, absolute_socket(settings)}};
  options.settings = std::move(settings);
  options.reload_settings = [invocation, context] { return settings_of(invocation, context); };
  options.version = kVersion;
  if (auto home = capture::home_directory(context.environment("RELAY_HOME"), context.environment("HOME")))
    options.capture_home = *std::move(home);
  options.api_token = context.environment("AGENT_RELAY_API_TOKEN").value_or("");
  options.log = detached ? daemon::LogTo::File : daemon::LogTo::Stderr;
  options.ready_fd = static_cast<int>(ready_fd);
  if (detached && ::chdir("/") != 0) return report_error(Error::from_errno("cannot leave this directory"));
  const auto ended = daemon::run_daemon(options);
  return ended ? static_cast<ExitCode>(*ended) : report_error(ended.error());
}

/// For example a quarantined damaged database.
void warn_about(const std::vector<WorkspaceInfo>& open, const Context& context) {
  for (const auto& workspace : open)
    if (workspace.root == context.project.root && !workspace.warning.empty()) print_notice(workspace.warning);
}

void print_address(const Context& context, pid_t daemon) {
  const auto http = http_service(context, daemon);
  if (!http.url.empty()) print_wrapped(relay::format("the HTTP API is at {} (see {}/docs)\n", http.url, http.url));
  if (!http.error.empty()) print_notice(relay::format("the HTTP API is not served: {}; {}", http.error, kHttpFix));
}

Result<void> open_in(DaemonConnection& daemon, const Invocation& invocation, Context& context,
                     const config::Settings& settings) {
  if (const auto alive = list_workspaces(daemon); !alive && is(alive.error(), Errc::TimedOut))
    print_notice(relay::format("the daemon (pid {}) does not respond yet; waiting", peer_of(daemon).value_or(0)));
  const auto open = RELAY_TRY(open_workspace(daemon, context.project.root, absolute_socket(settings)));
  for (const auto* flag : {"--durability", "--storage", "--no-http"})
    if (invocation.has(flag))
      print_notice(
          relay::format("{} has no effect on a running daemon; restart it with: agent-relay down --all", flag));
  warn_about(open, context);
  print_wrapped(relay::format("the daemon is up; the workspace of {} is open\n", context.project.root));
  print_address(context, peer_of(daemon).value_or(0));
  return {};
}

Result<void> start_in_background(const Invocation& invocation, Context& context, const config::Settings& settings) {
  RELAY_TRY(config::make_private_directory(context.home.root));
  std::vector<std::string> arguments = {"up", "--foreground"};
  for (const auto* option : {"--durability", "--storage"})
    if (const auto value = invocation.value(option)) arguments.insert(arguments.end(), {option, *value});
  if (invocation.has("--socket")) arguments.insert(arguments.end(), {"--socket", absolute_socket(settings)});
  if (invocation.has("--no-http")) arguments.emplace_back("--no-http");
  const auto pid = RELAY_TRY(launch_daemon(std::move(arguments), context.home.daemon_log));
  if (auto daemon = connect_daemon(context))
    if (const auto open = list_workspaces(*daemon)) warn_about(*open, context);
  print_wrapped(relay::format("the daemon is up (pid {}); the workspace of {} is open\n", pid, context.project.root));
  print_address(context, pid);
  return {};
}

Result<void> open_or_start(const Invocation& invocation, Context& context, const config::Settings& settings) {
  auto daemon = connect_daemon(context);
  if (daemon) return open_in(*daemon, invocation, context, settings);
  if (!is(daemon.error(), Errc::NoDaemon)) return Failure{daemon.error()};
  return start_in_background(invocation, context, settings);
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto settings = RELAY_CLI_TRY([&]() -> Result<config::Settings> {
    auto loaded = settings_of(invocation, context);
    if (!loaded && invocation.has("--ready-fd"))
      report_startup_error(static_cast<int>(invocation.number("--ready-fd", 0, kMaxFd, -1).value_or(-1)),
                           loaded.error().message());
    return loaded;
  }());
  if (!invocation.has("--ready-fd")) {  // fails before a daemon is started in vain
    RELAY_CLI_TRY(config::check_trusted(context.project.root, context.home, settings, context.environment));
    print_system_directory_notice(context);
  }
  if (invocation.has("--foreground")) return run_in_foreground(invocation, context, std::move(settings));
  RELAY_CLI_TRY(retry_between_daemons([&] { return open_or_start(invocation, context, settings); }));
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--foreground", .description = "stay in this terminal and write the log to it"},
    {.name = "--socket",
     .value = "PATH",
     .description = "listen at PATH too, for this project's workspace",
     .completes = CompletionKind::Files},
    {.name = "--durability",
     .value = "WHAT",
     .description = "what an accepted message survives: a power cut, or a process crash",
     .choices = "power|process"},
    {.name = "--storage", .value = "KIND", .description = "where to store messages", .choices = "sqlite|memory"},
    {.name = "--no-http", .description = "do not serve the HTTP API"},
    {.name = "--ready-fd", .value = "N", .description = "write there when ready", .hidden = true},
};

}  // namespace

const Command kUp = {
    .name = "up",
    .group = Group::Everyday,
    .usage = "up",
    .summary = "start the daemon and open this project's workspace",
    .options = kOptions,
    .example = "agent-relay up",
    .details =
        "Returns when the workspace is ready. A second `up` is harmless; in another project it opens that project's\n"
        "workspace too.",
    .run = run,
};

}  // namespace relay::cli
