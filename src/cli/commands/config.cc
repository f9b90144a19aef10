/// `agent-relay config`
#include "config/settings.h"

#include <optional>

#include "base/format.h"
#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/framework/context.h"
#include "cli/framework/invocation.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/policy_settings.h"
#include "cli/wire/workspace.h"

namespace relay::cli {
namespace {

std::string display_value(const config::Settings& settings, const config::SettingRow& row) {
  const auto text = sanitize(settings.text(row.setting), Lines::Join);
  return text.empty() ? "(none)" : text;
}

/// The state that the running daemon reports; empty without a daemon.
DaemonState daemon_state(const Context& context) {
  auto daemon = connect_daemon(context);
  if (!daemon) return {};
  auto state = query_daemon_state(*daemon, context.project.root);
  return state ? *std::move(state) : DaemonState{};
}

/// The value that the daemon uses instead; none when it uses this one, or when only hosts read the setting.
std::optional<std::string> other_value_in_use(const DaemonState& daemon, const config::Settings& settings,
                                              const config::SettingRow& row) {
  const auto found = daemon.settings.find(std::string{row.name});
  if (found == daemon.settings.end() || row.applies == config::Applies::NewSessions) return std::nullopt;
  return found->second == settings.text(row.setting) ? std::nullopt : std::optional{found->second};
}

/// The commands that make the daemon use the listed value.
std::string apply_command(const DaemonState& daemon, const config::Settings& settings, const config::SettingRow& row) {
  const bool set_at_start =
      settings.source(row.setting) == config::Source::Variable || daemon.overridden.contains(std::string{row.name});
  switch (set_at_start ? config::Applies::OnRestart : row.applies) {
    case config::Applies::OnSave: return "agent-relay reload, or automatically in a moment";
    case config::Applies::OnReload:
    case config::Applies::NewSessions: return "agent-relay reload";
    case config::Applies::NewWorkspaces: return "agent-relay reload, agent-relay down, agent-relay up";
    case config::Applies::OnRestart: return "agent-relay down --all, agent-relay up";
  }
  return "";
}

/// The error in config.toml that puts all permission rules out of force; empty when there is none.
std::string policy_error(const Context& context) {
  const auto policy = load_policy(context.home);
  return policy ? std::string{} : policy.error().message();
}

/// The next step for a value that the daemon does not use.
std::string next_step(const DaemonState& daemon, const config::Settings& settings, const config::SettingRow& row,
                      const Context& context) {
  if (row.setting == config::Setting::PermissionsPreset)
    if (const auto error = policy_error(context); !error.empty())
      return relay::format("no rule is in force until this is corrected: {}", sanitize(error, Lines::Join));
  return "apply it with: " + apply_command(daemon, settings, row);
}

void print_json(const config::Settings& settings, const DaemonState& daemon, const Context& context) {
  json::object values;
  for (const auto& row : config::setting_table()) {
    json::object entry;
    switch (row.kind) {
      case config::SettingKind::Integer: entry["value"] = settings.integer(row.setting); break;
      case config::SettingKind::Flag: entry["value"] = settings.flag(row.setting); break;
      case config::SettingKind::Text:
      case config::SettingKind::Choice: entry["value"] = settings.text(row.setting); break;
    }
    entry["source"] = config::name_of(settings.source(row.setting));
    entry["origin"] = settings.origin(row.setting);
    entry["applies"] = describe(row.applies);
    if (const auto other = other_value_in_use(daemon, settings, row)) entry["inUse"] = *other;
    values[row.name] = std::move(entry);
  }
  const json::object all = {{"home", context.home.root},
                            {"file", context.home.config_file},
                            {"project", {{"root", context.project.root}, {"id", context.project.id}}},
                            {"settings", std::move(values)}};
  print(json::serialize(all) + "\n");
}

ExitCode run(const Invocation& invocation, Context& context) {
  const auto settings = RELAY_CLI_TRY(config::load_settings(context.home, context.environment));
  const auto daemon = daemon_state(context);
  if (invocation.has("--json")) {
    print_json(settings, daemon, context);
    return ExitCode::Ok;
  }
  const bool with_source = invocation.has("--show-source");
  Table columns{with_source ? std::vector<std::string>{"SETTING", "VALUE", "FROM"}
                            : std::vector<std::string>{"SETTING", "VALUE", "MEANING"}};
  std::vector<std::string> pending;
  for (const auto& row : config::setting_table()) {
    auto value = display_value(settings, row);
    if (const auto other = other_value_in_use(daemon, settings, row)) {
      value = context.paint(Color::Yellow, value + " *");
      pending.push_back(relay::format("* {}: the daemon uses {}; {}\n", row.name,
                                      other->empty() ? "(none)" : sanitize(*other, Lines::Join),
                                      next_step(daemon, settings, row, context)));
    }
    columns.add({std::string{row.name}, std::move(value),
                 with_source ? settings.origin(row.setting) : std::string{row.description}});
  }
  print(columns.text(context.paint, context.width()));
  for (const auto& line : pending) print_wrapped(line);
  return ExitCode::Ok;
}

constexpr Option kOptions[] = {
    {.name = "--show-source", .description = "show where each value comes from"},
    kJsonOption,
};

}  // namespace

const Command kConfig = {
    .name = "config",
    .group = Group::Inspect,
    .usage = "config",
    .summary = "show the settings in force",
    .hint = "[--show-source]",
    .options = kOptions,
    .listed = false,
    .example = "agent-relay config --show-source",
    .details =
        "Flags override environment variables, which override config.toml, which overrides the defaults. A * marks\n"
        "values that the running daemon does not use yet, with the command that applies them.",
    .run = run,
};

}  // namespace relay::cli
