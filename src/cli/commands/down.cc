/// `agent-relay down`
#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/control.h"
#include "cli/invocation.h"
#include "cli/workspace.h"

namespace relay::cli {
namespace {

ExitCode end_daemon(Connection& daemon) {
  RELAY_CLI_TRY(shut_down_daemon(daemon));
  print("the daemon has ended\n");
  return ExitCode::Yes;
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto daemon = reach_daemon(context);
  if (!daemon && is(daemon.error(), Errc::NoDaemon)) {  // what was wished for is already so
    remark("no daemon is running");
    return ExitCode::Yes;
  }
  if (!daemon) return complain(daemon.error());
  if (invocation.has("--all")) return end_daemon(*daemon);
  const auto open = RELAY_CLI_TRY(list_workspaces(*daemon));
  const auto& root = context.project.root;
  const bool is_open = std::any_of(open.begin(), open.end(), [&](const auto& one) { return one.root == root; });
  if (!is_open) {
    remark(relay::format("the workspace of {} is not open", root));
    return ExitCode::Yes;
  }
  RELAY_CLI_TRY(close_workspace(*daemon, root));
  print(
      relay::format("the workspace of {} is closed; the daemon goes on, end it with: agent-relay down --all\n", root));
  return ExitCode::Yes;
}

constexpr Option kOptions[] = {{.name = "--all", .description = "end the daemon, with every workspace"}};

}  // namespace

const Command kDown = {
    .name = "down",
    .group = Group::Everyday,
    .usage = "down",
    .summary = "close this project's workspace",
    .hint = "[--all]",
    .options = kOptions,
    .example = "agent-relay down --all",
    .details = "Returns when it is closed. Nothing is lost: what waits is delivered after the next `up`.",
    .run = run,
};

}  // namespace relay::cli
