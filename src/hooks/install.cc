#include "hooks/install.h"

#include <algorithm>
#include <filesystem>

#include "base/format.h"
#include "hooks/hook_specs.h"
#include "hooks/replace_file.h"
#include "hooks/settings.h"
#include "hooks/settings_text.h"

namespace relay::hooks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kCopySuffix = ".before-agent-relay";

Failure not_changed(const HooksFile& file, const Error& error) {
  return fail(format("{} was not changed: {}", file.path, error.message()));
}

/// Are all hooks present, each once and in the current form.
bool is_complete(AgentCli agent, const std::vector<InstalledHook>& own, std::string_view program) {
  const auto specs = hook_specs(agent);
  if (own.size() != specs.size()) return false;
  return std::ranges::all_of(specs, [&](const HookSpec& hook) {
    const auto found = std::ranges::find(own, hook.event, &InstalledHook::event);
    const auto handler = handler_for(agent, hook, program);
    return found != own.end() && handler && found->written == *handler;
  });
}

Result<std::string> installed_text(AgentCli agent, std::string_view text, std::string_view program) {
  const auto hooks = RELAY_TRY(hooks_for(agent, program));
  return with_hooks(RELAY_TRY(without_hooks(text, agent)), hooks);
}

bool is_blank(std::string_view text) { return text.find_first_not_of(" \t\r\n") == std::string_view::npos; }

Result<std::vector<InstalledHook>> read_own_hooks(AgentCli agent, const std::optional<std::string>& text) {
  if (!text || is_blank(*text)) return std::vector<InstalledHook>{};
  return own_hooks(agent, RELAY_TRY(parse_json_object(*text)));
}

/// The target of a link. A dangling link is an error, because its intended target is unknown.
Result<std::string> behind_links(const std::string& path) {
  std::error_code failed;
  if (!fs::is_symlink(path, failed)) return path;
  auto target = fs::canonical(path, failed);
  if (failed) return fail(format("{} is a dangling link; remove it or create its target first", path));
  return target.string();
}

}  // namespace

Result<HooksFile> read_hooks_file(AgentCli agent, const EnvironmentBlock& environment) {
  HooksFile file{.path = user_hooks_file(agent, environment), .target = {}, .copy = {}};
  if (file.path.empty()) return fail(format("cannot find the settings of {}: set HOME", name_of(agent)));
  file.copy = format("{}{}", file.path, kCopySuffix);
  file.target = RELAY_TRY(behind_links(file.path));
  file.text = RELAY_TRY(read_settings_file(file.target));
  file.text_before = RELAY_TRY(read_settings_file(file.copy));
  return file;
}

Result<std::optional<FileEdit>> plan_install(AgentCli agent, const HooksFile& file, std::string_view program) {
  if (const auto hooks = hooks_for(agent, program); !hooks) return not_changed(file, hooks.error());
  if (program_of(agent, *handler_for(agent, hook_specs(agent).front(), program)).empty()) {
    return fail(format("{} was not changed: this program must be called agent-relay, not {}", file.path, program));
  }
  // The text first: its parser is stricter and gives the reason.
  auto text = installed_text(agent, file.text.value_or(""), program);
  if (!text) return not_changed(file, text.error());
  const auto own = read_own_hooks(agent, file.text);
  if (!own) return not_changed(file, own.error());
  if (is_complete(agent, *own, program)) return std::nullopt;
  return FileEdit{.text = *std::move(text), .makes_copy = file.text && own->empty()};
}

Result<std::optional<FileEdit>> plan_uninstall(AgentCli agent, const HooksFile& file) {
  const auto own = read_own_hooks(agent, file.text);
  if (!own) return not_changed(file, own.error());
  if (own->empty()) return std::nullopt;
  const auto& program = own->front().program;
  const auto came_from = [&](std::string_view text) {
    const auto installed = installed_text(agent, text, program);
    return installed && *installed == *file.text;
  };
  if (file.text_before && came_from(*file.text_before)) {
    return FileEdit{.text = file.text_before, .makes_copy = false, .removes_copy = true};
  }
  if (!file.text_before && file.path == file.target && came_from("")) return FileEdit{};
  auto text = without_hooks(*file.text, agent);
  if (!text) return not_changed(file, text.error());
  return FileEdit{.text = *std::move(text), .makes_copy = false, .removes_copy = false};
}

Result<void> execute(const HooksFile& file, const FileEdit& change) {
  if (RELAY_TRY(read_settings_file(file.target)) != file.text) {
    return fail(format("{} was not changed: another program is writing it; try again", file.path));
  }
  if (change.makes_copy && file.text) RELAY_TRY(replace_file(file.copy, *file.text, {.modes_of = file.target}));
  if (change.text) {
    RELAY_TRY(replace_file(file.target, *change.text, {.modes_of = file.target}));
  } else {
    RELAY_TRY(remove_file(file.path));
  }
  if (change.removes_copy) RELAY_TRY(remove_file(file.copy));
  return {};
}

std::string_view name_of(InstallState state) {
  switch (state) {
    case InstallState::No: return "not";
    case InstallState::Partly: return "partly";
    case InstallState::Yes: return "installed";
  }
  return "";
}

HooksStatus status_of(AgentCli agent, const HooksFile& file, std::string_view program,
                      const EnvironmentBlock& environment) {
  HooksStatus status{.blocked_reason = hooks_blocked_reason(agent, environment)};
  const auto own = read_own_hooks(agent, file.text);
  if (!own) {
    status.problem = own.error().message();
    return status;
  }
  if (own->empty()) return status;
  status.program = own->front().program;
  status.state = is_complete(agent, *own, status.program) ? InstallState::Yes : InstallState::Partly;
  std::error_code failed;
  status.stale = std::ranges::any_of(
      *own, [&](const InstalledHook& hook) { return !fs::equivalent(hook.program, program, failed) || failed; });
  return status;
}

}  // namespace relay::hooks
