/// `agent-relay reload`
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

std::string shown(const std::string& value) { return value.empty() ? "(none)" : sanitize(value, Lines::Join); }

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
    print_sentence("the daemon loaded its configuration again; nothing changed\n");
    return ExitCode::Ok;
  }
  Table columns{{"SETTING", "WAS", "IS", "APPLIES"}};
  for (const auto& change : changes) {
    const bool waits = change.applies != describe(config::Applies::OnReload);
    columns.add({change.setting, shown(change.from), shown(change.to),
                 context.paint(waits ? Colour::Yellow : Colour::Green, change.applies)});
  }
  print(columns.text(context.paint, context.width()));
  for (const auto& change : changes)
    if (change.applies == describe(config::Applies::OnRestart)) {
      print_notice("restart the daemon for the rest: agent-relay down --all, agent-relay up");
      break;
    }
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {kJsonOption};

}  // namespace

const Command kReload = {
    .name = "reload",
    .group = Group::More,
    .usage = "reload",
    .summary = "have the daemon load config.toml again",
    .hint = "[--json]",
    .options = kOptions,
    .example = "agent-relay reload",
    .details =
        "Says what changed, and what counts at once, for new sessions, for workspaces opened afterwards or after\n"
        "a restart. With a mistake in the file the settings stay as they were, but until it is mended no permission "
        "rule\n"
        "is in force and agents start no others. Environment and flags are those the daemon was started with.",
    .run = run,
};

}  // namespace relay::cli
