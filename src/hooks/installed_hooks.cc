#include "hooks/installed_hooks.h"

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/format.h"
#include "base/toml.h"
#include "hooks/hook_specs.h"
#include "hooks/settings.h"

namespace relay::hooks {
namespace {

std::string claude_directory(const EnvironmentBlock& environment) {
  if (const auto own = variable(environment, "CLAUDE_CONFIG_DIR"); !own.empty()) return std::string{own};
  const auto home = variable(environment, "HOME");
  return home.empty() ? "" : format("{}/.claude", home);
}

std::string codex_directory(const EnvironmentBlock& environment) {
  if (const auto own = variable(environment, "CODEX_HOME"); !own.empty()) return std::string{own};
  const auto home = variable(environment, "HOME");
  return home.empty() ? "" : format("{}/.codex", home);
}

std::string gemini_directory(const EnvironmentBlock& environment) {
  auto home = variable(environment, "GEMINI_CLI_HOME");
  if (home.empty()) home = variable(environment, "HOME");
  return home.empty() ? "" : format("{}/.gemini", home);
}

std::optional<json::object> settings_in(const Result<std::optional<std::string>>& text, Comments comments) {
  if (!text || !*text) return std::nullopt;
  auto settings = parse_settings(**text, comments);
  if (!settings) return std::nullopt;
  return *std::move(settings);
}

std::optional<json::object> settings_at(const std::string& path, Comments comments) {
  return settings_in(read_settings_file(path), comments);
}

constexpr std::string_view kClaudePolicy = "/etc/claude-code/managed-settings.json";

std::string claude_forbids(const EnvironmentBlock& environment, std::string_view directory) {
  const auto policy = settings_at(std::string{kClaudePolicy}, Comments::Reject);
  for (const std::string_view key : {"allowManagedHooksOnly", "disableAllHooks"}) {
    if (policy && bool_member(*policy, key).value_or(false)) {
      return format("{} sets {}, so only hooks of the administrator run", kClaudePolicy, key);
    }
  }
  const auto disables = [](const std::optional<json::object>& settings) {
    return settings && bool_member(*settings, "disableAllHooks").value_or(false);
  };
  const auto own = user_hooks_file(AgentCli::Claude, environment);
  if (disables(settings_at(own, Comments::Reject))) return format("{} sets disableAllHooks", own);
  if (directory.empty()) return {};
  const std::string project{directory};
  for (const std::string file : {".claude/settings.json", ".claude/settings.local.json"})
    if (disables(settings_in(read_project_settings(project, file), Comments::Reject)))
      return format("{}/{} sets disableAllHooks", project, file);
  return {};
}

/// The boolean at `path` (one key after the other) of a TOML file; empty when there is none.
std::optional<bool> toml_bool(const std::string& file, std::initializer_list<std::string_view> path) {
  const auto text = read_settings_file(file);
  if (!text || !*text) return std::nullopt;
  const auto tree = parse_toml(**text, file);
  if (!tree) return std::nullopt;
  const TomlNode* node = &*tree;
  for (const auto key : path) {
    const auto* table = node->table();
    if (table == nullptr) return std::nullopt;
    const auto member = std::ranges::find(*table, key, &TomlMember::key);
    if (member == table->end()) return std::nullopt;
    node = &member->value;
  }
  const bool* value = node->boolean();
  return value == nullptr ? std::nullopt : std::optional{*value};
}

constexpr std::string_view kCodexPolicy = "/etc/codex/requirements.toml";

std::string codex_forbids(const EnvironmentBlock& environment) {
  if (toml_bool(std::string{kCodexPolicy}, {"allow_managed_hooks_only"}).value_or(false)) {
    return format("{} sets allow_managed_hooks_only, so only hooks of the administrator run", kCodexPolicy);
  }
  const auto own = format("{}/config.toml", codex_directory(environment));
  if (!toml_bool(own, {"features", "hooks"}).value_or(true)) return format("{} sets features.hooks = false", own);
  return {};
}

std::string gemini_forbids(const EnvironmentBlock& environment) {
  const auto path = user_hooks_file(AgentCli::Gemini, environment);
  const auto own = settings_at(path, Comments::Skip);
  if (!own) return {};
  const auto* config = object_member(*own, "hooksConfig");
  if (config == nullptr) return {};
  if (!bool_member(*config, "enabled").value_or(true)) return format("{} sets hooksConfig.enabled: false", path);
  if (const auto* disabled = array_member(*config, "disabled")) {
    for (const auto& name : *disabled) {
      if (name.is_string() && name.get_string() == "agent-relay")
        return format("{} lists agent-relay in hooksConfig.disabled", path);
    }
  }
  return {};
}

}  // namespace

std::string_view variable(const EnvironmentBlock& environment, std::string_view name) {
  for (const std::string_view entry : environment) {
    if (entry.starts_with(name) && entry.substr(name.size()).starts_with('=')) return entry.substr(name.size() + 1);
  }
  return {};
}

std::string user_hooks_file(AgentCli agent, const EnvironmentBlock& environment) {
  const auto file = [](const std::string& directory, std::string_view name) {
    return directory.empty() ? std::string{} : format("{}/{}", directory, name);
  };
  switch (agent) {
    case AgentCli::Claude: return file(claude_directory(environment), "settings.json");
    case AgentCli::Codex: return file(codex_directory(environment), "hooks.json");
    case AgentCli::Gemini: return file(gemini_directory(environment), "settings.json");
  }
  return {};
}

std::vector<InstalledHook> own_hooks(AgentCli agent, const json::object& settings) {
  std::vector<InstalledHook> found;
  const auto* hooks = object_member(settings, "hooks");
  if (hooks == nullptr) return found;
  for (const auto& event : *hooks) {
    const auto* groups = event.value().if_array();
    if (groups == nullptr) continue;
    for (std::size_t group = 0; group < groups->size(); ++group) {
      const auto* members = (*groups)[group].if_object();
      const auto* handlers = members == nullptr ? nullptr : array_member(*members, "hooks");
      if (handlers == nullptr) continue;
      for (std::size_t i = 0; i < handlers->size(); ++i) {
        auto program = program_of(agent, (*handlers)[i]);
        if (program.empty()) continue;
        found.push_back({.event = event.key(),
                         .group = group,
                         .handler = i,
                         .program = std::move(program),
                         .written = (*handlers)[i].get_object()});
      }
    }
  }
  return found;
}

std::string hooks_blocked_reason(AgentCli agent, const EnvironmentBlock& environment, std::string_view directory) {
  switch (agent) {
    case AgentCli::Claude: return claude_forbids(environment, directory);
    case AgentCli::Codex: return codex_forbids(environment);
    case AgentCli::Gemini: return gemini_forbids(environment);
  }
  return {};
}

}  // namespace relay::hooks
