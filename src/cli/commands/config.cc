/// `agent-relay config`
#include "config/settings.h"

#include "base/json.h"
#include "cli/commands/commands.h"
#include "cli/context.h"
#include "cli/invocation.h"
#include "cli/workspace.h"

namespace relay::cli {
namespace {

std::string shown_value(const config::Settings& settings, const config::SettingRow& row) {
  const auto text = sanitised(settings.text(row.setting), Lines::Join);
  return text.empty() ? "(none)" : text;
}

void print_json(const config::Settings& settings, const Context& context) {
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
  if (invocation.has("--json")) {
    print_json(settings, context);
    return ExitCode::Yes;
  }
  const bool with_source = invocation.has("--show-source");
  Columns columns{with_source ? std::vector<std::string>{"SETTING", "VALUE", "FROM"}
                              : std::vector<std::string>{"SETTING", "VALUE", "MEANING"}};
  for (const auto& row : config::setting_table())
    columns.add({std::string{row.name}, shown_value(settings, row),
                 with_source ? settings.origin(row.setting) : std::string{row.description}});
  print(columns.text(context.paint));
  return ExitCode::Yes;
}

constexpr Option kOptions[] = {
    {.name = "--show-source", .description = "say where each value came from"},
    kJsonOption,
};

}  // namespace

const Command kConfig = {
    .name = "config",
    .group = Group::More,
    .usage = "config",
    .summary = "the settings in force",
    .hint = "[--show-source]",
    .options = kOptions,
    .example = "agent-relay config --show-source",
    .details = "Flags win over environment variables, those over config.toml, that over the defaults.",
    .run = run,
};

}  // namespace relay::cli
