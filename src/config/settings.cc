#include "config/settings.h"

#include <sys/stat.h>

#include <fstream>

#include "base/comma_list.h"
#include "base/format.h"
#include "config/setting_value.h"

namespace relay::config {
namespace {

constexpr std::size_t kMaxConfigBytes = 1024 * 1024;
constexpr std::string_view kProjectPlaceholder = "{project}";

}  // namespace

Result<std::string> read_config(const std::string& path) {
  struct stat info{};
  if (::stat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return std::string{};
    return fail(Errc::Unreadable, Error::from_errno("cannot read the configuration " + path).message());
  }
  if (!S_ISREG(info.st_mode))
    return fail(Errc::Unreadable,
                "cannot read the configuration " + path + ": it is not a regular file; move it aside");
  if (static_cast<std::size_t>(info.st_size) > kMaxConfigBytes)
    return fail(Errc::Unreadable,
                relay::format("cannot read the configuration {}: it is larger than {} bytes; shorten it", path,
                              kMaxConfigBytes));
  std::ifstream file{path, std::ios::binary};
  std::string text{std::istreambuf_iterator<char>{file}, {}};
  if (!file.is_open() || file.bad())
    return fail(Errc::Unreadable,
                Error::from_errno("cannot read the configuration " + path).message() + "; make it readable");
  return text;
}

Settings::Settings() {
  for (const auto& row : setting_table()) {
    auto value = value_from_text(row, row.default_text, "default");
    RELAY_ASSERT(value.has_value());
    slots_[static_cast<std::size_t>(row.setting)].value = *std::move(value);
  }
}

Settings Settings::in_force(const Settings& at_start, const Settings& at_open, const Settings& now) {
  Settings all;
  for (const auto& row : setting_table()) {
    const auto& from = row.applies == Applies::OnRestart       ? at_start
                       : row.applies == Applies::NewWorkspaces ? at_open
                                                               : now;
    all.slots_[static_cast<std::size_t>(row.setting)] = from.slot(row.setting);
  }
  return all;
}

std::vector<SettingChange> changes_on_load(const Settings& in_force, const Settings& before, const Settings& after) {
  std::vector<SettingChange> changes;
  for (const auto& row : setting_table()) {
    const auto used = in_force.text(row.setting);
    auto from = before.text(row.setting), to = after.text(row.setting);
    if (from == to || row.applies == Applies::OnSave) from = used;
    if (from == to) continue;
    const auto applies = used == to ? Applies::OnReload : row.applies;
    changes.push_back({&row, std::move(from), std::move(to), applies});
  }
  return changes;
}

Result<void> Settings::apply_environment(const Environment& environment) {
  for (const auto& row : setting_table())
    if (const auto text = row.variable.empty() ? std::nullopt : environment(row.variable))
      set(row, RELAY_TRY(value_from_text(row, *text, row.variable)), Source::Variable, std::string{row.variable});
  return {};
}

Result<void> Settings::apply_flag(Setting setting, std::string_view text) {
  const auto& row = row_of(setting);
  set(row, RELAY_TRY(value_from_text(row, text, "command line")), Source::Flag, "flag");
  return {};
}

void Settings::set(const SettingRow& row, SettingValue value, Source source, std::string origin) {
  slots_[static_cast<std::size_t>(row.setting)] = {std::move(value), source, std::move(origin)};
}

std::string Settings::text(Setting setting) const {
  const auto& value = slot(setting).value;
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  if (const auto* flag = std::get_if<bool>(&value)) return *flag ? "true" : "false";
  return relay::format("{}", std::get<std::int64_t>(value));
}

std::int64_t Settings::integer(Setting setting) const { return std::get<std::int64_t>(slot(setting).value); }

bool Settings::flag(Setting setting) const { return std::get<bool>(slot(setting).value); }

std::vector<std::string> Settings::list(Setting setting) const {
  const auto all = text(setting);
  const auto parts = comma_list(all);
  return {parts.begin(), parts.end()};
}

std::vector<std::string> Settings::http_origins() const { return list(Setting::HttpOrigins); }
std::vector<std::string> Settings::trusted_projects() const { return list(Setting::TrustedProjects); }

StorageType Settings::storage_type() const {
  return text(Setting::StorageType) == "memory" ? StorageType::Memory : StorageType::Sqlite;
}

Durability Settings::durability() const {
  return text(Setting::Durability) == "process" ? Durability::Process : Durability::Power;
}

TerminalNotification Settings::notify_terminal() const {
  const auto value = text(Setting::NotifyTerminal);
  return value == "osc9"     ? TerminalNotification::Osc9
         : value == "osc777" ? TerminalNotification::Osc777
                             : TerminalNotification::Off;
}

Result<void> Settings::check_usable() const {
  if (text(Setting::StorageUrl).empty()) return {};
  return fail(Errc::BadValue, relay::format("storage.url is set ({}), but this version cannot use PostgreSQL yet; "
                                            "unset it to keep messages in SQLite",
                                            origin(Setting::StorageUrl)));
}

Result<Settings> load_settings(const Home& home, const Environment& environment) {
  Settings settings;
  if (const auto text = RELAY_TRY(read_config(home.config_file)); !text.empty())
    RELAY_TRY(settings.apply_file(text, home.config_file));
  RELAY_TRY(settings.apply_environment(environment));
  return settings;
}

std::string database_path(const Settings& settings, const Project& project) {
  auto path = settings.storage_path();
  if (path.empty()) return project.database;
  if (!path.starts_with('/')) path = project.root + "/" + path;  // not relative to the daemon's working directory
  if (const auto at = path.find(kProjectPlaceholder); at != std::string::npos)
    return path.replace(at, kProjectPlaceholder.size(), project.id);
  struct stat info{};
  const bool is_directory = path.ends_with('/') || (::stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode));
  if (!is_directory) return path;
  return path + (path.ends_with('/') ? "" : "/") + project.id + ".sqlite";
}

}  // namespace relay::config
