/// `agent-relay down`
#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"
#include "host/control/host_record.h"

namespace relay::cli {
namespace {

/// Agents outlive the daemon. The user may not expect that of those without a terminal.
void mention_detached(const std::vector<std::string>& host_directories, std::string_view where) {
  std::string names;
  for (const auto& directory : host_directories)
    for (const auto& host : host::reachable_hosts(directory))
      if (host.spawned || host.detached) names += (names.empty() ? "" : ", ") + sanitize(host.name, Lines::Join);
  if (!names.empty())
    print_notice(relay::format("still running in the background of {}: {}; stop one with: agent-relay release NAME",
                               where, names));
}

/// Of every project that has a workspace.
std::vector<std::string> all_host_directories(const Context& context) {
  std::vector<std::string> directories;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator{context.home.projects, none})
    directories.push_back((entry.path() / "hosts").string());
  std::ranges::sort(directories);
  return directories;
}

ExitCode stop_daemon(DaemonConnection& daemon, const Context& context) {
  RELAY_CLI_TRY(shut_down_daemon(daemon));
  print_wrapped("the daemon has stopped\n");
  mention_detached(all_host_directories(context), "all projects");
  return ExitCode::Ok;
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto daemon = connect_daemon(context);
  if (!daemon && is(daemon.error(), Errc::NoDaemon)) {  // already in the requested state
    print_notice("no daemon is running");
    return ExitCode::Ok;
  }
  if (!daemon) return report_error(daemon.error());
  if (invocation.has("--all")) return stop_daemon(*daemon, context);
  const auto open = RELAY_CLI_TRY(list_workspaces(*daemon));
  const auto& root = context.project.root;
  const bool is_open = std::any_of(open.begin(), open.end(), [&](const auto& one) { return one.root == root; });
  if (!is_open) {
    print_notice(relay::format("the workspace of {} is not open", root));
    return ExitCode::Ok;
  }
  RELAY_CLI_TRY(close_workspace(*daemon, root));
  print_wrapped(relay::format(
      "the workspace of {} is closed; the daemon keeps running; stop it with: agent-relay down --all\n", root));
  mention_detached({context.project.hosts}, "this project");
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {{.name = "--all", .description = "stop the daemon and close every workspace"}};

}  // namespace

const Command kDown = {
    .name = "down",
    .group = Group::Everyday,
    .usage = "down",
    .summary = "close this project's workspace",
    .hint = "[--all]",
    .options = kOptions,
    .example = "agent-relay down --all",
    .details =
        "Returns when the workspace is closed. Nothing is lost: pending messages are delivered after the workspace is\n"
        "opened again, by `up` or by any command that needs it (unless `--no-start` is given).\n"
        "The daemon refuses this command from a process inside an agent.",
    .run = run,
};

}  // namespace relay::cli
