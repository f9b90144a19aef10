/// All settings, in one table, and the origin of each value.
///
/// Precedence: default < file < environment < flag. A row of the table gives a setting its name in config.toml, its
///   environment variable, type, default, range and description; parsing, `config --show-source` and the documentation
///   are derived from it. Only `load_settings` and `read_config` read anything from outside.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "config/environment.h"
#include "config/paths.h"

namespace relay::config {

enum class Errc { BadValue, UnknownSetting, BadSyntax, Unreadable, NotTrusted };
std::string_view describe(Errc code);

enum class Setting : std::uint8_t {
  DashboardPort,
  HttpAddress,
  HttpOrigins,
  StorageType,
  StoragePath,
  StorageUrl,
  Debug,
  Socket,
  Durability,
  RetentionMaxAgeDays,
  RetentionMaxBytes,
  RetentionEventsDays,
  HeartbeatMs,
  MaxBacklog,
  RatePerSecond,
  RateBurst,
  SessionGraceMs,
  DefaultTtlDays,
  BreakLoops,
  NotifyTerminal,
  NotifyCommand,
  NotifyDesktop,
  TrustedProjects,
  PermissionsPreset,
  SpawnByAgents,
  Workspace,
};
inline constexpr std::size_t kSettingCount = 26;

enum class SettingKind : std::uint8_t { Text, Choice, Integer, Flag };
enum class Source : std::uint8_t { Default, File, Variable, Flag };
std::string_view name_of(Source source);

/// When a changed value takes effect after config.toml was loaded again.
enum class Applies : std::uint8_t {
  OnSave,         // when config.toml is saved: the daemon watches the file
  OnReload,       // at once
  NewSessions,    // for agents started later; their hosts read it
  NewWorkspaces,  // for workspaces opened from now on
  OnRestart,      // for the next daemon
};
/// `now` (of two kinds), `for new sessions`, `for workspaces opened from now on`, `after a restart`.
std::string_view describe(Applies applies);

struct SettingRow {
  Setting setting;
  std::string_view name;      // dotted, as in config.toml: `retention.max_bytes`
  std::string_view variable;  // AGENT_RELAY_…; empty: only in the file, so that no environment weakens it
  SettingKind kind;
  std::string_view default_text;
  std::int64_t min;  // Integer only
  std::int64_t max;
  std::string_view choices;  // Choice only: `sqlite|memory`
  std::string_view description;
  Applies applies = Applies::OnRestart;
};
std::span<const SettingRow> setting_table();
const SettingRow& row_of(Setting setting);

enum class StorageType : std::uint8_t { Sqlite, Memory };
enum class Durability : std::uint8_t { Power, Process };
/// The sequence that notifies a terminal.
enum class TerminalNotification : std::uint8_t { Off, Osc9, Osc777 };

/// The effective values. Always complete: an unset setting has its default.
class Settings {
 public:
  Settings();

  /// Applies the text of config.toml. `path` is only for the error, which names file, line, column, the problem and the
  /// allowed values.
  Result<void> apply_file(std::string_view text, std::string_view path);
  Result<void> apply_environment(const Environment& environment);
  Result<void> apply_flag(Setting setting, std::string_view text);

  /// The values a daemon runs with: each setting as of the daemon's start, the opening of the workspace, or the last
  ///   load of config.toml, by its `applies`.
  static Settings in_force(const Settings& at_start, const Settings& at_open, const Settings& now);

  /// Whether a daemon can run with these values; rejects values that are accepted in the file but not supported yet.
  [[nodiscard]] Result<void> check_usable() const;

  [[nodiscard]] Source source(Setting setting) const { return slot(setting).source; }
  /// `default`, `/home/x/.agent-relay/config.toml:3`, `AGENT_RELAY_DEBUG`, `flag`.
  [[nodiscard]] const std::string& origin(Setting setting) const { return slot(setting).origin; }
  [[nodiscard]] std::string text(Setting setting) const;
  [[nodiscard]] std::int64_t integer(Setting setting) const;
  [[nodiscard]] bool flag(Setting setting) const;

  // Typed accessors.
  [[nodiscard]] std::int64_t dashboard_port() const { return integer(Setting::DashboardPort); }
  [[nodiscard]] std::string http_address() const { return text(Setting::HttpAddress); }
  /// The items, one by one, as written.
  [[nodiscard]] std::vector<std::string> http_origins() const;
  [[nodiscard]] StorageType storage_type() const;
  [[nodiscard]] std::string storage_path() const { return text(Setting::StoragePath); }
  [[nodiscard]] bool debug() const { return flag(Setting::Debug); }
  [[nodiscard]] std::string socket() const { return text(Setting::Socket); }
  [[nodiscard]] Durability durability() const;
  [[nodiscard]] std::int64_t retention_max_age_days() const { return integer(Setting::RetentionMaxAgeDays); }
  [[nodiscard]] std::int64_t retention_max_bytes() const { return integer(Setting::RetentionMaxBytes); }
  [[nodiscard]] std::int64_t retention_events_days() const { return integer(Setting::RetentionEventsDays); }
  [[nodiscard]] std::int64_t heartbeat_ms() const { return integer(Setting::HeartbeatMs); }
  [[nodiscard]] std::int64_t max_backlog() const { return integer(Setting::MaxBacklog); }
  [[nodiscard]] std::int64_t rate_per_second() const { return integer(Setting::RatePerSecond); }
  [[nodiscard]] bool break_loops() const { return flag(Setting::BreakLoops); }
  [[nodiscard]] std::int64_t rate_burst() const { return integer(Setting::RateBurst); }
  [[nodiscard]] std::int64_t session_grace_ms() const { return integer(Setting::SessionGraceMs); }
  [[nodiscard]] std::int64_t default_ttl_days() const { return integer(Setting::DefaultTtlDays); }
  [[nodiscard]] TerminalNotification notify_terminal() const;
  [[nodiscard]] std::string notify_command() const { return text(Setting::NotifyCommand); }
  [[nodiscard]] bool notify_desktop() const { return flag(Setting::NotifyDesktop); }
  /// The items, one by one, as written.
  [[nodiscard]] std::vector<std::string> trusted_projects() const;

 private:
  struct Slot {
    std::variant<std::string, std::int64_t, bool> value;
    Source source = Source::Default;
    std::string origin = "default";
  };
  friend class FileReader;

  [[nodiscard]] std::vector<std::string> list(Setting setting) const;
  [[nodiscard]] const Slot& slot(Setting setting) const { return slots_[static_cast<std::size_t>(setting)]; }
  void set(const SettingRow& row, std::variant<std::string, std::int64_t, bool> value, Source source,
           std::string origin);

  std::array<Slot, kSettingCount> slots_;
};

struct SettingChange {
  const SettingRow* row;
  std::string from, to;
  Applies applies;  // that of the row; OnReload if `to` is already effective
};
/// The changes of a load of config.toml, in the order of the table: values that differ from the ones loaded before, and
/// values loaded before that still differ from the effective ones. A setting that applies on save counts only if it is
/// not effective yet.
std::vector<SettingChange> changes_on_load(const Settings& in_force, const Settings& before, const Settings& after);

/// The text of config.toml; empty if there is none.
Result<std::string> read_config(const std::string& path);

/// Defaults, then `home.config_file` if it exists, then the environment.
Result<Settings> load_settings(const Home& home, const Environment& environment);

/// The database of a workspace: `storage.path` if set (a directory, or a path with `{project}` in it, gives each
///   project a separate file; a relative path starts at the project's root), else the project's `messages.sqlite`.
std::string database_path(const Settings& settings, const Project& project);

}  // namespace relay::config
