#include "adapters/launch_facts.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <optional>
#include <span>

#include "base/format.h"
#include "base/json.h"
#include "base/toml.h"
#include "hooks/settings.h"
#include "hooks/wiring.h"
#include "text/utf8.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxFactBytes = 64;
constexpr int kMaxLevels = 4;  // from the program up to its package

/// An option that sets the mode: to its value, or to `mode` where it has none.
struct ModeOption {
  std::string_view profile, option, mode = {};
};
constexpr std::array kModeOptions{
    ModeOption{"claude", "--permission-mode"},
    ModeOption{"claude", "--dangerously-skip-permissions", "bypassPermissions"},
    ModeOption{"codex", "--ask-for-approval"},
    ModeOption{"codex", "-a"},
    ModeOption{"codex", "--dangerously-bypass-approvals-and-sandbox", "never"},
    ModeOption{"codex", "--yolo", "never"},
    ModeOption{"gemini", "--approval-mode"},
    ModeOption{"gemini", "--yolo", "yolo"},
    ModeOption{"gemini", "-y", "yolo"},
};

std::string fact(std::string_view text) { return std::string{text::truncate_utf8(text, kMaxFactBytes)}; }

bool is_version(std::string_view text) {
  return !text.empty() && text.front() >= '0' && text.front() <= '9' && text.contains('.') &&
         std::ranges::all_of(text, [](char c) { return (c >= '0' && c <= '9') || c == '.' || c == '-'; });
}

std::optional<json::object> parse_json_text(const std::optional<std::string>& text) {
  auto object = text ? hooks::parse_settings(*text, hooks::Comments::Skip) : fail("there is none");
  return object ? std::optional{*std::move(object)} : std::nullopt;
}

std::optional<json::object> read_json_file(const std::string& path) {
  const auto text = hooks::read_settings_file(path);
  return text ? parse_json_text(*text) : std::nullopt;
}

std::string version_of(const std::string& program) {
  std::error_code failed;
  const auto file = fs::canonical(program, failed);
  if (failed) return {};
  if (is_version(file.filename().string())) return fact(file.filename().string());
  auto folder = file.parent_path();
  for (int level = 0; level < kMaxLevels && folder.has_relative_path(); ++level, folder = folder.parent_path())
    if (const auto package = read_json_file((folder / "package.json").string()))
      if (const auto version = string_member(*package, "version")) return fact(*version);
  return {};
}

std::string read_mode_option(std::string_view profile, std::span<const std::string> argv) {
  std::string mode;
  for (std::size_t i = 1; i < argv.size() && argv[i] != "--"; ++i) {
    for (const auto& each : kModeOptions) {
      if (each.profile != profile) continue;
      const std::string_view argument = argv[i];
      if (argument == each.option)
        mode = !each.mode.empty() ? fact(each.mode) : i + 1 < argv.size() ? fact(argv[i + 1]) : std::string{};
      else if (each.mode.empty() && argument.starts_with(format("{}=", each.option)))
        mode = fact(argument.substr(each.option.size() + 1));
    }
  }
  return mode;
}

std::string read_fact(const json::object& object, std::string_view outer, std::string_view inner) {
  const auto* table = object_member(object, outer);
  return table == nullptr ? std::string{} : fact(string_member(*table, inner).value_or(""));
}

std::string path_or_default(std::string_view value, std::string_view home, std::string_view below) {
  return value.empty() ? format("{}/{}", home, below) : std::string{value};
}

/// The settings files and the setting with an agent's permission mode. Project files take precedence.
struct ModeSetting {
  std::vector<std::string> project_files;
  std::string own_file, outer, inner;
};

/// An error for a project file that is not read, since the agent itself may follow the link.
Result<std::string> read_project_mode(const std::string& project, const ModeSetting& setting) {
  for (const auto& file : setting.project_files)
    if (const auto settings = parse_json_text(RELAY_TRY(hooks::read_project_settings(project, file))))
      if (auto mode = read_fact(*settings, setting.outer, setting.inner); !mode.empty()) return mode;
  return std::string{};
}

std::string read_mode(const ModeSetting& setting, const std::string& project, std::string_view home) {
  const auto mode = read_project_mode(project, setting);
  if (mode && !mode->empty()) return *mode;
  if (!mode && project != home) return {};  // in the home directory it is the user's own file, read below
  const auto settings = read_json_file(setting.own_file);
  return settings ? read_fact(*settings, setting.outer, setting.inner) : std::string{};
}

/// The mode of the settings file that takes precedence for that agent.
std::string read_settings_mode(std::string_view profile, const pty::Command& command) {
  const auto get = [&](std::string_view name) { return pty::variable(command.environment, name); };
  const auto home = get("HOME");
  const std::string project = command.directory.empty() ? "." : command.directory;
  if (profile == "claude")
    return read_mode({.project_files = {".claude/settings.local.json", ".claude/settings.json"},
                      .own_file = path_or_default(get("CLAUDE_CONFIG_DIR"), home, ".claude") + "/settings.json",
                      .outer = "permissions",
                      .inner = "defaultMode"},
                     project, home);
  if (profile == "gemini")
    return read_mode({.project_files = {".gemini/settings.json"},
                      .own_file = path_or_default(get("GEMINI_CLI_HOME"), home, "") + "/.gemini/settings.json",
                      .outer = "general",
                      .inner = "defaultApprovalMode"},
                     project, home);
  if (profile == "codex") {
    if (hooks::is_one_shot_codex(command.argv)) return "never";  // it cannot prompt, so its settings do not matter
    const auto path = path_or_default(get("CODEX_HOME"), home, ".codex") + "/config.toml";
    const auto text = hooks::read_settings_file(path);
    const auto table = text && *text ? parse_toml(**text, path) : fail("there is none");
    if (!table || table->table() == nullptr) return {};
    for (const auto& [key, value] : *table->table())
      if (key == "approval_policy" && value.string() != nullptr) return fact(*value.string());
  }
  return {};
}

}  // namespace

LaunchFacts launch_facts(std::string_view profile, const pty::Command& command) {
  LaunchFacts facts;
  if (const auto program = pty::find_program(command)) facts.version = version_of(*program);
  facts.permission_mode = read_mode_option(profile, command.argv);
  if (facts.permission_mode.empty()) facts.permission_mode = read_settings_mode(profile, command);
  return facts;
}

std::string mode_after_hook(std::string_view profile, std::string_view before, std::string_view reported) {
  constexpr std::string_view kNever = "never";
  if (profile == "codex" && reported == "bypassPermissions") return std::string{kNever};
  if (profile == "codex" && reported == "default") return std::string{before == kNever ? std::string_view{} : before};
  return std::string{reported};
}

}  // namespace relay::adapters
