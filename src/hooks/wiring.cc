#include "hooks/wiring.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <optional>

#include "base/format.h"
#include "hooks/codex_override.h"
#include "hooks/hook_specs.h"
#include "hooks/settings.h"

namespace relay::hooks {
namespace {

WiringResult unwired(std::string why) { return {.blocked_reason = std::move(why)}; }

void set_variable(EnvironmentBlock& environment, std::string_view name, std::string_view value) {
  std::erase_if(environment, [&](std::string_view entry) {
    return entry.starts_with(name) && entry.substr(name.size()).starts_with('=');
  });
  environment.push_back(format("{}={}", name, value));
}

/// True for `claude`, `/opt/x/claude` and a wrapper called `claude-work`, whose other arguments are the agent's.
/// False for `npx claude`.
bool starts(const std::vector<std::string>& argv, AgentCli agent) {
  if (argv.empty()) return false;
  std::string_view name = argv.front();
  if (const auto slash = name.rfind('/'); slash != std::string_view::npos) name.remove_prefix(slash + 1);
  if (!name.starts_with(name_of(agent))) return false;
  name.remove_prefix(name_of(agent).size());
  return name.empty() || name.front() == '-' || name.front() == '.' || name.front() == '_';
}

bool has_flag(const std::vector<std::string>& argv, std::string_view flag) {
  const auto end = std::ranges::find(argv, "--");
  return std::any_of(argv.begin(), end, [&](std::string_view argument) {
    return argument == flag || (argument.starts_with(flag) && argument.substr(flag.size()).starts_with('='));
  });
}

std::string_view option_value(const std::vector<std::string>& argv, std::string_view option) {
  for (std::size_t i = 0; i < argv.size() && argv[i] != "--"; ++i) {
    const std::string_view argument = argv[i];
    if (argument == option && i + 1 < argv.size()) return argv[i + 1];
    if (argument.starts_with(option) && argument.substr(option.size()).starts_with('='))
      return argument.substr(option.size() + 1);
  }
  return {};
}

Result<WiringResult> write_settings(json::object settings, const WiringOptions& options) {
  RELAY_TRY(write_private_file(options.private_file, json::serialize(settings)));
  return WiringResult{.hooks = true};
}

std::string resolved(std::string_view path, const WiringOptions& options) {
  return path.starts_with('/') || options.directory.empty() ? std::string{path}
                                                            : format("{}/{}", options.directory, path);
}

// Claude Code: one --settings; it uses the last of several.

struct SettingsOption {
  std::vector<std::string> others;  // argv without them
  std::optional<std::string> value;
};

SettingsOption take_settings(const std::vector<std::string>& argv) {
  constexpr std::string_view kFlag = "--settings";
  SettingsOption parsed;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") {
      parsed.others.insert(parsed.others.end(), argv.begin() + static_cast<std::ptrdiff_t>(i), argv.end());
      break;
    }
    if (argument == kFlag && i + 1 < argv.size()) {
      parsed.value = argv[++i];
    } else if (argument.starts_with(kFlag) && argument.substr(kFlag.size()).starts_with('=')) {
      parsed.value = argument.substr(kFlag.size() + 1);
    } else {
      parsed.others.emplace_back(argument);
    }
  }
  return parsed;
}

Result<json::object> user_settings(const std::string& value, const WiringOptions& options) {
  const auto start = value.find_first_not_of(" \t\r\n");
  if (start != std::string::npos && value[start] == '{') return parse_settings(value, Comments::Reject);
  auto text = RELAY_TRY(read_settings_file(resolved(value, options)));
  if (!text) return fail(format("there is no file {}", value));
  return parse_settings(*text, Comments::Reject);
}

Result<WiringResult> wire_claude(std::vector<std::string>& argv, const EnvironmentBlock& environment,
                                 const WiringOptions& options) {
  if (!starts(argv, AgentCli::Claude)) {
    return unwired("no hooks: the command is not claude itself, so no options can be added to it");
  }
  for (const std::string_view flag : {"--bare", "--safe-mode"}) {
    if (has_flag(argv, flag)) return unwired(format("no hooks: {} disables them", flag));
  }
  if (has_flag(argv, "--include-hook-events"))
    return unwired("no hooks: --include-hook-events prints every hook, and the relay must not change the output");
  if (const auto safe = variable(environment, "CLAUDE_CODE_SAFE_MODE"); !safe.empty() && safe != "0") {
    return unwired("no hooks: CLAUDE_CODE_SAFE_MODE disables them");
  }
  auto parsed = take_settings(argv);
  json::object settings;
  if (parsed.value) {
    auto merged = user_settings(*parsed.value, options);
    if (!merged) return unwired(format("no hooks: your --settings cannot be merged: {}", merged.error().message()));
    settings = *std::move(merged);
  }
  if (bool_member(settings, "disableAllHooks").value_or(false)) {
    return unwired("no hooks: your --settings set disableAllHooks");
  }
  auto hooks = hooks_for(AgentCli::Claude, options.program, HookScope::Run);
  if (!hooks) return unwired(format("no hooks: {}", hooks.error().message()));
  // A JSON stream contains two lines for this hook and for no other; the prompt's hook names the transcript too.
  if (option_value(argv, "--output-format") == "stream-json") hooks->erase("SessionStart");
  if (const auto added = add_hooks(settings, *hooks); !added) {
    return unwired(format("no hooks: your --settings cannot be merged: {}", added.error().message()));
  }
  // A file instead of an argument: other users can list processes and must not see the user's settings.
  auto wired = RELAY_TRY(write_settings(std::move(settings), options));
  argv = std::move(parsed.others);
  argv.insert(argv.begin() + 1, {"--settings", options.private_file});
  return wired;
}

// Codex: one -c, with the hashes that make exactly these hooks trusted.

/// The key of every `-c key=value`, and the keys that --enable and --disable set.
std::vector<std::string> codex_overrides(const std::vector<std::string>& argv) {
  std::vector<std::string> found;
  for (std::size_t i = 0; i < argv.size(); ++i) {
    const std::string_view argument = argv[i];
    if (argument == "--") break;
    const std::string_view next = i + 1 < argv.size() ? std::string_view{argv[i + 1]} : std::string_view{};
    if (argument == "-c" || argument == "--config")
      found.emplace_back(next);
    else if (argument.starts_with("--config="))
      found.emplace_back(argument.substr(9));
    else if (argument.starts_with("-c") && argument.size() > 2)
      found.emplace_back(argument.substr(argument[2] == '=' ? 3 : 2));
    else if (argument == "--disable")
      found.emplace_back(format("features.{}=false", next));
    else if (argument.starts_with("--disable="))
      found.emplace_back(format("features.{}=false", argument.substr(10)));
  }
  std::ranges::for_each(found, [](std::string& text) { std::erase(text, ' '); });
  return found;
}

constexpr std::string_view kCodexWithValue[] = {"-c",        "--config",
                                                "--enable",  "--disable",
                                                "-i",        "--image",
                                                "-m",        "--model",
                                                "-p",        "--profile",
                                                "-s",        "--sandbox",
                                                "-C",        "--cd",
                                                "-a",        "--ask-for-approval",
                                                "--remote",  "--remote-auth-token-env",
                                                "--add-dir", "--local-provider"};
constexpr std::string_view kCodexOneShot[] = {"exec", "e", "review"};

/// The relay's installed hooks, which would be called a second time.
std::vector<DisabledCodexHook> disabled(const EnvironmentBlock& environment) {
  std::vector<DisabledCodexHook> out;
  const auto file = user_hooks_file(AgentCli::Codex, environment);
  const auto text = read_settings_file(file);
  if (!text || !*text) return out;
  const auto settings = parse_settings(**text, Comments::Reject);
  if (!settings) return out;
  // Codex resolves links in a given CODEX_HOME, but not in its default home.
  std::vector<std::string> names{file};
  std::error_code failed;
  const auto real = std::filesystem::canonical(std::filesystem::path{file}.parent_path(), failed) / "hooks.json";
  if (!failed && real != file) names.push_back(real.string());
  for (const auto& hook : own_hooks(AgentCli::Codex, *settings)) {
    for (const auto& name : names) {
      out.push_back({.key = codex_hook_key(name, hook.event, hook.group, hook.handler),
                     .hash = codex_trusted_hash(hook.event, hook.written)});
    }
  }
  return out;
}

Result<WiringResult> wire_codex(std::vector<std::string>& argv, const EnvironmentBlock& environment,
                                const WiringOptions& options) {
  if (!starts(argv, AgentCli::Codex)) {
    return unwired("no hooks: the command is not codex itself, so no options can be added to it");
  }
  if (is_one_shot_codex(argv))
    return unwired(
        "no hooks: without its screen Codex prints a line for each hook it calls, and the relay must not change its "
        "output");
  if (has_flag(argv, "--remote")) return unwired("no hooks: --remote runs the agent elsewhere");
  for (const auto& text : codex_overrides(argv)) {
    if (text == "features.hooks=false") return unwired("no hooks: your options disable them");
    if (text.starts_with("hooks=") || text.starts_with("hooks.")) {
      return unwired("no hooks: your own -c hooks… would be replaced; write them to hooks.json instead");
    }
  }
  const auto text = codex_override(options.program, disabled(environment));
  if (!text) return unwired(format("no hooks: {}", text.error().message()));
  // With an override on the command line Codex does not use its shared server, and warns about it unless the server is
  // off.
  argv.insert(argv.begin() + 1, {"-c", "features.daemon_auto_start=false", "-c", *text});
  return WiringResult{.hooks = true};
}

// Gemini CLI: a file of defaults below the user's own settings; it joins the hooks of all layers.

/// The path that Gemini reads by default.
std::string gemini_defaults(const EnvironmentBlock& environment) {
  if (const auto path = variable(environment, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH"); !path.empty()) {
    return std::string{path};
  }
  std::string_view system = variable(environment, "GEMINI_CLI_SYSTEM_SETTINGS_PATH");
  if (system.empty()) system = "/etc/gemini-cli/settings.json";
  const auto slash = system.rfind('/');
  return format("{}/system-defaults.json", slash == std::string_view::npos ? "." : system.substr(0, slash));
}

/// In a continuous-integration run Gemini reduces the environment of its hooks to a short list, so the hook command
/// itself contains the variables it needs.
void add_environment(json::object& hooks, const EnvironmentBlock& environment) {
  json::object variables;
  for (const std::string_view entry : environment) {
    if (entry.starts_with("AGENT_RELAY_") || entry.starts_with("RELAY_HOME=")) {
      const auto equals = entry.find('=');
      variables[entry.substr(0, equals)] = entry.substr(equals + 1);
    }
  }
  if (variables.empty()) return;
  for (auto& event : hooks) {
    for (auto& group : event.value().as_array()) {
      for (auto& handler : group.as_object().at("hooks").as_array()) handler.as_object()["env"] = variables;
    }
  }
}

/// Used by hooks that the user installed permanently; they find the host socket by the environment.
bool is_installed(const EnvironmentBlock& environment) {
  const auto text = read_settings_file(user_hooks_file(AgentCli::Gemini, environment));
  if (!text || !*text) return false;
  const auto settings = parse_settings(**text, Comments::Skip);
  return settings && !own_hooks(AgentCli::Gemini, *settings).empty();
}

Result<WiringResult> wire_gemini(EnvironmentBlock& environment, const WiringOptions& options) {
  if (!options.root_owned) {
    if (is_installed(environment)) return WiringResult{.hooks = true};
    return unwired(
        "no hooks: Gemini CLI reads hooks of one run only from a file owned by root; it has them from its next start "
        "on "
        "after: agent-relay hooks install gemini");
  }
  const auto path = gemini_defaults(environment);
  auto text = read_settings_file(resolved(path, options));
  if (!text) return unwired(format("no hooks: {}", text.error().message()));
  json::object settings;
  if (*text) {
    auto merged = parse_settings(**text, Comments::Skip);
    if (!merged) return unwired(format("no hooks: {} cannot be merged: {}", path, merged.error().message()));
    settings = *std::move(merged);
  }
  auto hooks = hooks_for(AgentCli::Gemini, options.program);
  if (!hooks) return unwired(format("no hooks: {}", hooks.error().message()));
  add_environment(*hooks, environment);
  if (const auto added = add_hooks(settings, *hooks); !added) {
    return unwired(format("no hooks: {} cannot be merged: {}", path, added.error().message()));
  }
  auto wired = RELAY_TRY(write_settings(std::move(settings), options));
  set_variable(environment, "GEMINI_CLI_SYSTEM_DEFAULTS_PATH", options.private_file);
  return wired;
}

}  // namespace

bool is_one_shot_codex(const std::vector<std::string>& argv) {
  if (!starts(argv, AgentCli::Codex)) return false;
  for (std::size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    if (!argv[i].starts_with('-')) return std::ranges::count(kCodexOneShot, argv[i]) > 0;
    if (std::ranges::count(kCodexWithValue, argv[i]) > 0) ++i;
  }
  return false;
}

bool is_root_owned(const std::string& file) {
  if (::geteuid() != 0) return false;
  std::error_code failed;
  auto directory = std::filesystem::canonical(std::filesystem::path{file}.parent_path(), failed);
  if (failed) return false;
  for (;; directory = directory.parent_path()) {
    struct stat facts{};
    if (::stat(directory.c_str(), &facts) != 0 || facts.st_uid != 0 || (facts.st_mode & (S_IWGRP | S_IWOTH)) != 0)
      return false;
    if (directory == directory.parent_path()) return true;
  }
}

Result<WiringResult> wire(AgentCli agent, std::vector<std::string>& argv, EnvironmentBlock& environment,
                          const WiringOptions& options) {
  if (const auto forbidden =
          hooks_blocked_reason(agent, environment, options.directory.empty() ? "." : options.directory);
      !forbidden.empty()) {
    return unwired(format("no hooks: {}", forbidden));
  }
  switch (agent) {
    case AgentCli::Claude: return wire_claude(argv, environment, options);
    case AgentCli::Codex: return wire_codex(argv, environment, options);
    case AgentCli::Gemini: return wire_gemini(environment, options);
  }
  return WiringResult{};
}

}  // namespace relay::hooks
