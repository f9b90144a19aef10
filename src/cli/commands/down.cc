/// `agent-relay down`
#include "base/format.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/control.h"
#include "cli/invocation.h"
#include "cli/workspace.h"
#include "host/record.h"

namespace relay::cli {
namespace {

/// Agents outlive the daemon; whoever ends it may not expect that of those nobody sees.
void mention_spawned(const Context& context) {
  std::string names;
  for (const auto& host : host::living_hosts(context.project.hosts))
    if (host.spawned) names += (names.empty() ? "" : ", ") + sanitised(host.name, Lines::Join);
  if (!names.empty())
    remark(relay::format("in the background of this project go on: {}; end one with: agent-relay release NAME", names));
}

ExitCode end_daemon(Connection& daemon, const Context& context) {
  RELAY_CLI_TRY(shut_down_daemon(daemon));
  print_sentence("the daemon has ended\n");
  mention_spawned(context);
  return ExitCode::Yes;
}

ExitCode run(const Invocation& invocation, Context& context) {
  auto daemon = reach_daemon(context);
  if (!daemon && is(daemon.error(), Errc::NoDaemon)) {  // what was wished for is already so
    remark("no daemon is running");
    return ExitCode::Yes;
  }
  if (!daemon) return complain(daemon.error());
  if (invocation.has("--all")) return end_daemon(*daemon, context);
  const auto open = RELAY_CLI_TRY(list_workspaces(*daemon));
  const auto& root = context.project.root;
  const bool is_open = std::any_of(open.begin(), open.end(), [&](const auto& one) { return one.root == root; });
  if (!is_open) {
    remark(relay::format("the workspace of {} is not open", root));
    return ExitCode::Yes;
  }
  RELAY_CLI_TRY(close_workspace(*daemon, root));
  print_sentence(
      relay::format("the workspace of {} is closed; the daemon goes on, end it with: agent-relay down --all\n", root));
  mention_spawned(context);
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
    .details =
        "Returns when it is closed. Nothing is lost: what waits is delivered when the workspace is open again. `up`\n"
        "opens it, and so does any command that needs it, unless it is given `--no-start`.",
    .run = run,
};

}  // namespace relay::cli
