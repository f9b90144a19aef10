/// `agent-relay reload`
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

std::string display_value(const std::string& value) { return value.empty() ? "(none)" : sanitize(value, Lines::Join); }

ExitCode run(const Invocation& invocation, Context& context) {
  auto daemon = RELAY_CLI_TRY(connect_daemon(context));
  const auto changes = RELAY_CLI_TRY(reload_daemon(daemon, context.project.root));
  if (invocation.has("--json")) {
    json::array changed;
    for (const auto& change : changes)
      changed.push_back(json::object{
          {"setting", change.setting}, {"from", change.from}, {"to", change.to}, {"applies", change.applies}});
    print(json::serialize(json::object{{"file", context.home.config_file}, {"changed", std::move(changed)}}) + "\n");
    return ExitCode::Ok;
  }
  if (changes.empty()) {
    print_wrapped("the daemon reloaded its configuration; nothing changed\n");
    return ExitCode::Ok;
  }
  Table columns{{"SETTING", "WAS", "IS", "APPLIES"}};
  for (const auto& change : changes) {
    const bool is_pending = change.applies != describe(config::Applies::OnReload);
    columns.add({change.setting, display_value(change.from), display_value(change.to),
                 context.paint(is_pending ? Color::Yellow : Color::Green, change.applies)});
  }
  print(columns.text(context.paint, context.width()));
  for (const auto& change : changes)
    if (change.applies == describe(config::Applies::OnRestart)) {
      print_notice("restart the daemon to apply the rest: agent-relay down --all, agent-relay up");
      break;
    }
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kReload = {
    .name = "reload",
    .group = Group::Control,
    .usage = "reload",
    .summary = "make the daemon load config.toml again",
    .hint = "[--json]",
    .options = kOptions,
    .listed = false,
    .example = "agent-relay reload",
    .details =
        "Prints what changed, and whether it applies at once, to new sessions, to workspaces opened afterwards, or\n"
        "after a restart. When the file has an error the settings stay as they were, but until it is corrected no\n"
        "permission rule is in force and agents cannot spawn others. Environment and flags stay those the daemon was\n"
        "started with.",
    .run = run,
};

}  // namespace relay::cli
