#include "cli/doctor/agent_checks.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "base/json.h"
#include "base/toml.h"
#include "capture/capture_log.h"
#include "cli/agent/host_setup.h"
#include "cli/agent/self_path.h"
#include "cli/doctor/agent_versions.h"
#include "cli/wire/daemon_control.h"
#include "cli/wire/workspace.h"
#include "hooks/install.h"
#include "hooks/settings.h"
#include "hooks/wiring.h"
#include "profiles/profile_file.h"
#include "profiles/registry.h"
#include "pty/command.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

constexpr Millis kVersionLimit{5'000};  // agents on Node take one or two seconds
constexpr std::uintmax_t kMaxConfigBytes = 16U << 20;
constexpr std::array kAgentsWithHooks = {hooks::AgentCli::Claude, hooks::AgentCli::Codex, hooks::AgentCli::Gemini};

struct Installed {
  profiles::Profile profile;
  std::string command, path;
};

std::string find_on_path(const Context& context, const std::string& program) {
  const auto search = context.environment("PATH").value_or("");
  for (std::size_t at = 0; at <= search.size();) {
    const auto end = std::min(search.find(':', at), search.size());
    const auto candidate = relay::format("{}/{}", search.substr(at, end - at), program);
    std::error_code failed;
    if (candidate.starts_with('/') && fs::is_regular_file(candidate, failed) && ::access(candidate.c_str(), X_OK) == 0)
      return candidate;
    at = end + 1;
  }
  return {};
}

/// The agents whose programs are on PATH. A user's own profile replaces the built-in one of the same name.
std::vector<Installed> installed_agents(const Context& context, const std::vector<profiles::UserProfile>& own) {
  std::vector<Installed> found;
  for (const auto& builtin : profiles::builtin_profiles()) {
    const auto read = profiles::read_profile(builtin.toml, builtin.path);
    const auto profile = read ? profiles::find_profile(read->name, own) : read;
    if (!profile || profile->name == profiles::kGeneric) continue;
    for (const auto& command : profile->commands)
      if (auto path = find_on_path(context, command); !path.empty()) {
        found.push_back({*profile, command, std::move(path)});
        break;
      }
  }
  return found;
}

void check_versions(const Context& context, const std::vector<profiles::UserProfile>& own,
                    std::vector<CheckResult>& results) {
  const auto installed = installed_agents(context, own);
  if (installed.empty())
    return results.push_back(note("agents", "none on PATH", "install one, such as claude, codex, gemini or opencode"));
  std::vector<std::string> paths;
  for (const auto& agent : installed) paths.push_back(agent.path);
  const auto printed = query_versions(paths, kVersionLimit);
  for (std::size_t i = 0; i < installed.size(); ++i) {
    const auto& agent = installed[i];
    const auto version = parse_version(printed[i]);
    if (version.empty()) {
      results.push_back(note("agents",
                             relay::format("{} at {} did not report its version within {} s", agent.command, agent.path,
                                           kVersionLimit.count() / 1000),
                             relay::format("check that it runs: {} --version", agent.command)));
      continue;
    }
    const auto deviation = version_deviation(version, agent.profile.tested);
    const auto message = relay::format("{} {} at {}", agent.command, version, agent.path);
    results.push_back(
        deviation.empty()
            ? fine("agents", message)
            : note("agents", message + ", " + deviation,
                   relay::format(
                       "if its screen is not recognized (agent-relay explain NAME), update agent-relay or write "
                       "{}/profiles/{}.toml",
                       context.home.root, agent.profile.name)));
  }
}

CheckResult check_user_profiles(const Context& context, const std::vector<profiles::UserProfile>& own) {
  for (const auto& file : own)
    if (const auto read = profiles::read_profile(file.toml, file.path); !read)
      return problem("profiles", read.error().message(), "correct or remove it: it is not used");
  if (own.empty()) return fine("profiles", "built-in profiles only");
  return fine("profiles", relay::format("{} of your own in {}/profiles", own.size(), context.home.root));
}

/// Claude Code and Codex need hooks only when started without agent-relay, so missing hooks are not a problem.
CheckResult check_hooks(const Context& context) {
  const auto environment = pty::inherited_environment();
  const auto program = self_path_on(context.environment("PATH").value_or(""));
  std::string installed;
  for (const auto agent : kAgentsWithHooks) {
    const auto name = std::string{name_of(agent)};
    if (hooks::user_hooks_file(agent, environment).empty()) continue;  // none without $HOME
    const auto file = hooks::read_hooks_file(agent, environment);
    if (!file) return problem("hooks", file.error().message(), "correct the file: the hooks of agent-relay cannot run");
    const auto status = hooks::status_of(agent, *file, program.value_or(""), environment);
    if (!status.problem.empty())
      return problem("hooks", relay::format("{}: {}", file->path, status.problem), "correct the file");
    if (status.state == hooks::InstallState::No) continue;
    const auto again = relay::format("run: agent-relay hooks install {}", name);
    if (status.stale)
      return problem("hooks", relay::format("{} calls {}, which is not this program", name, status.program), again);
    if (status.state == hooks::InstallState::Partly)
      return problem("hooks", "some are missing in " + file->path, again);
    if (!status.blocked_reason.empty())
      return note("hooks", relay::format("the hooks of {} will not run: {}", name, status.blocked_reason),
                  "allow them there, or start it with agent-relay");
    installed += (installed.empty() ? "" : ", ") + name;
  }
  if (!installed.empty())
    if (auto unobserved = hooks_unobserved(context)) return *std::move(unobserved);
  const bool gemini_has_none = !installed.contains("gemini") && !find_on_path(context, "gemini").empty();
  if (gemini_has_none && !hooks::is_root_owned(context.home.config_file))
    return note("hooks",
                "Gemini CLI has none: it takes hooks for a single run only from a file owned by root, so agent-relay "
                "cannot pass them",
                "run: agent-relay hooks install gemini");
  return fine("hooks", installed.empty() ? "not installed; Claude Code and Codex started with agent-relay need none"
                                         : "installed for " + installed);
}

// --- MCP

struct McpEntry {
  std::string file, command;
};

bool is_agent_relay(std::string_view command, bool has_mcp_argument) {
  const auto name = command.substr(command.rfind('/') + 1);
  return has_mcp_argument && (name == "agent-relay" || name == "relay");
}

void add_servers(const std::string& file, const json::object& servers, std::vector<McpEntry>& found) {
  for (const auto& [name, value] : servers) {
    const auto* server = value.if_object();
    if (server == nullptr) continue;
    auto command = string_member(*server, "command").value_or("");
    const auto* arguments = array_member(*server, "args");
    if (const auto* words = array_member(*server, "command"); words != nullptr && !words->empty()) {  // OpenCode
      command = words->at(0).is_string() ? std::string{words->at(0).as_string()} : "";
      arguments = words;
    }
    const bool mcp = arguments != nullptr && std::ranges::any_of(*arguments, [](const json::value& word) {
                       return word.is_string() && word.as_string() == "mcp";
                     });
    if (is_agent_relay(command, mcp)) found.push_back({file, command});
  }
}

void add_codex_servers(const std::string& file, std::string_view text, std::vector<McpEntry>& found) {
  const auto root = parse_toml(text, file);
  const auto* all = root ? root->table() : nullptr;
  const auto member = [](const TomlNode::Table& table, std::string_view key) -> const TomlNode* {
    const auto at = std::ranges::find(table, key, &TomlMember::key);
    return at == table.end() ? nullptr : &at->value;
  };
  const auto* servers = all == nullptr ? nullptr : member(*all, "mcp_servers");
  if (servers == nullptr || servers->table() == nullptr) return;
  for (const auto& [name, node] : *servers->table()) {
    const auto* table = node.table();
    const auto* command = table == nullptr ? nullptr : member(*table, "command");
    const auto* arguments = table == nullptr ? nullptr : member(*table, "args");
    if (command == nullptr || command->string() == nullptr || arguments == nullptr || arguments->array() == nullptr)
      continue;
    const bool mcp = std::ranges::any_of(
        *arguments->array(), [](const TomlNode& word) { return word.string() != nullptr && *word.string() == "mcp"; });
    if (is_agent_relay(*command->string(), mcp)) found.push_back({file, *command->string()});
  }
}

std::string text_of(const std::string& path) {
  std::error_code failed;
  if (!fs::is_regular_file(path, failed) || fs::file_size(path, failed) > kMaxConfigBytes) return {};
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

struct McpServers {
  std::vector<McpEntry> entries;
  std::string unread;  // the error for a project file that was not read
};

McpServers mcp_servers(const Context& context) {
  McpServers found;
  const auto add = [&](const std::string& file, std::string_view text) {
    if (const auto read = parse_json_object(text))
      for (const auto* key : {"mcpServers", "mcp"})
        if (const auto* servers = object_member(*read, key)) add_servers(file, *servers, found.entries);
  };
  const auto home = context.environment("HOME").value_or("");
  if (home.empty()) return found;
  for (const auto& file :
       {home + "/.claude.json", home + "/.gemini/settings.json", home + "/.config/opencode/opencode.json"})
    add(file, text_of(file));
  for (const std::string file : {".mcp.json", "opencode.json"}) {
    const auto text = hooks::read_project_settings(context.project.root, file);
    if (!text) found.unread = text.error().message();
    if (text && *text) add(relay::format("{}/{}", context.project.root, file), **text);
  }
  const auto codex = home + "/.codex/config.toml";
  add_codex_servers(codex, text_of(codex), found.entries);
  return found;
}

CheckResult check_mcp(const Context& context) {
  const auto servers = mcp_servers(context);
  std::string files;
  for (const auto& [file, command] : servers.entries) {
    const bool runs =
        command.contains('/') ? ::access(command.c_str(), X_OK) == 0 : !find_on_path(context, command).empty();
    if (!runs)
      return problem("mcp", relay::format("{} starts {}, which does not exist", file, command),
                     "correct the path, or put agent-relay on PATH");
    files += (files.empty() ? "" : ", ") + file;
  }
  if (!servers.unread.empty())
    return note("mcp", servers.unread, "make it a regular file that you own: doctor follows no links in a project");
  return fine("mcp", files.empty() ? "not added to any agent (see docs/mcp.md)" : "added in " + files);
}

}  // namespace

std::optional<CheckResult> hooks_unobserved(const Context& context) {
  const auto own_home = capture::home_directory(context.environment("RELAY_HOME"), context.environment("HOME"));
  auto daemon = connect_daemon(context);
  if (!own_home || !daemon) return std::nullopt;
  const auto state = query_daemon_state(*daemon, context.project.root);
  std::error_code none;
  if (!state || state->capture_home.empty() || state->capture_home == *own_home ||
      fs::equivalent(state->capture_home, *own_home, none))
    return std::nullopt;
  return note(
      "hooks",
      relay::format("agents started from here are not observed: their hooks write to {}/events, and the daemon, which "
                    "was started with another HOME or RELAY_HOME, reads {}/events",
                    *own_home, state->capture_home),
      relay::format("start agents with RELAY_HOME={}, or restart the daemon from here: agent-relay down --all, then "
                    "agent-relay up",
                    state->capture_home));
}

std::vector<CheckResult> run_agent_checks(const Context& context) {
  std::vector<CheckResult> results;
  const auto own = user_profiles(context.home);
  check_versions(context, own, results);
  results.push_back(check_user_profiles(context, own));
  results.push_back(check_hooks(context));
  results.push_back(check_mcp(context));
  return results;
}

}  // namespace relay::cli
