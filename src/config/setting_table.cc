#include <limits>

#include "config/settings.h"

namespace relay::config {
namespace {

constexpr std::int64_t kMaxPort = 65'535;
constexpr std::int64_t kTenYearsInDays = 3'650;
constexpr std::int64_t kMaxTtlDays = 30;  // the maximum time to live on the wire
constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

using enum SettingKind;

constexpr SettingRow kTable[] = {
    {Setting::DashboardPort, "dashboard_port", "AGENT_RELAY_DASHBOARD_PORT", Integer, "3888", 0, kMaxPort, "",
     "port of the HTTP API, or the next free one; 0 disables it", Applies::OnRestart},
    {Setting::HttpAddress, "http.address", "AGENT_RELAY_HTTP_ADDRESS", Text, "127.0.0.1", 0, 0, "",
     "address of the HTTP API; other machines reach it only with AGENT_RELAY_API_TOKEN", Applies::OnRestart},
    {Setting::HttpOrigins, "http.origins", "AGENT_RELAY_API_ALLOWED_ORIGINS", Text, "", 0, 0, "",
     "web sites whose pages may use the HTTP API, comma-separated", Applies::OnRestart},
    {Setting::StorageType, "storage.type", "AGENT_RELAY_STORAGE_TYPE", Choice, "sqlite", 0, 0, "sqlite|memory",
     "where messages are stored; in memory, at most 64 MiB besides pending messages", Applies::NewWorkspaces},
    {Setting::StoragePath, "storage.path", "AGENT_RELAY_STORAGE_PATH", Text, "", 0, 0, "",
     "database file or directory; empty: messages.sqlite below ~/.agent-relay/projects", Applies::NewWorkspaces},
    {Setting::StorageUrl, "storage.url", "AGENT_RELAY_STORAGE_URL", Text, "", 0, 0, "",
     "PostgreSQL address; not usable yet", Applies::NewWorkspaces},
    {Setting::Debug, "debug", "AGENT_RELAY_DEBUG", Flag, "false", 0, 0, "",
     "log the decisions of daemon and hosts with their reasons", Applies::OnReload},
    {Setting::Socket, "socket", "AGENT_RELAY_SOCKET", Text, "", 0, 0, "",
     "an additional socket path of the project's workspace", Applies::NewWorkspaces},
    {Setting::Durability, "durability", "AGENT_RELAY_DURABILITY", Choice, "power", 0, 0, "power|process",
     "what an accepted message survives: a power cut, or any crash of a process", Applies::NewWorkspaces},
    {Setting::RetentionMaxAgeDays, "retention.max_age_days", "AGENT_RELAY_RETENTION_MAX_AGE_DAYS", Integer, "30", 1,
     kTenYearsInDays, "", "messages older than this are removed", Applies::OnReload},
    {Setting::RetentionMaxBytes, "retention.max_bytes", "AGENT_RELAY_RETENTION_MAX_BYTES", Integer, "1073741824",
     1'048'576, kNoLimit, "", "the oldest messages are removed beyond this size", Applies::OnReload},
    {Setting::RetentionEventsDays, "retention.events_days", "AGENT_RELAY_RETENTION_EVENTS_DAYS", Integer, "7", 1,
     kTenYearsInDays, "", "events older than this are removed", Applies::OnReload},
    {Setting::HeartbeatMs, "heartbeat_ms", "AGENT_RELAY_HEARTBEAT_MS", Integer, "5000", 100, 3'600'000, "",
     "a silent connection gets a heartbeat after this time", Applies::NewWorkspaces},
    {Setting::MaxBacklog, "max_backlog", "AGENT_RELAY_MAX_BACKLOG", Integer, "1000000", 1, 1'000'000'000, "",
     "pending messages allowed per recipient", Applies::NewWorkspaces},
    {Setting::RatePerSecond, "rate_per_second", "AGENT_RELAY_RATE_PER_SECOND", Integer, "100000", 0, 1'000'000'000, "",
     "messages per second allowed per sender; 0: no limit", Applies::NewWorkspaces},
    {Setting::RateBurst, "rate_burst", "AGENT_RELAY_RATE_BURST", Integer, "200000", 1, 1'000'000'000, "",
     "messages one sender may send at once", Applies::NewWorkspaces},
    {Setting::SessionGraceMs, "session_grace_ms", "AGENT_RELAY_SESSION_GRACE_MS", Integer, "60000", 0, 86'400'000, "",
     "a lost session may resume within this time; then it ends as crashed", Applies::NewWorkspaces},
    {Setting::DefaultTtlDays, "default_ttl_days", "AGENT_RELAY_DEFAULT_TTL_DAYS", Integer, "7", 1, kMaxTtlDays, "",
     "an undelivered message expires after this time", Applies::NewWorkspaces},
    {Setting::BreakLoops, "break_loops", "AGENT_RELAY_BREAK_LOOPS", Flag, "true", 0, 0, "",
     "stop agents that answer each other without new content", Applies::NewWorkspaces},
    {Setting::NotifyTerminal, "notify.terminal", "AGENT_RELAY_NOTIFY_TERMINAL", Choice, "off", 0, 0, "off|osc9|osc777",
     "sequence that notifies your terminal when its agent waits for you", Applies::NewSessions},
    {Setting::NotifyCommand, "notify.command", "AGENT_RELAY_NOTIFY_COMMAND", Text, "", 0, 0, "",
     "program with arguments to run when an agent waits for you; split at spaces, no shell", Applies::OnReload},
    {Setting::NotifyDesktop, "notify.desktop", "AGENT_RELAY_NOTIFY_DESKTOP", Flag, "false", 0, 0, "",
     "send a desktop notification with notify-send when an agent waits for you", Applies::OnReload},
    {Setting::TrustedProjects, "trusted_projects", "AGENT_RELAY_TRUSTED_PROJECTS", Text, "", 0, 0, "",
     "projects of other users that may be used: comma-separated paths, or *", Applies::OnReload},
    {Setting::PermissionsPreset, "permissions.preset", "", Choice, "none", 0, 0, "none|read-only",
     "built-in rules that approve without asking you (docs/permissions.md)", Applies::OnSave},
    {Setting::SpawnByAgents, "spawn.by_agents", "", Choice, "off", 0, 0, "off|ask|profiles",
     "whether agents may start other agents: never, each after your approval, or any that has a profile",
     Applies::OnSave},
    {Setting::Workspace, "workspace", "AGENT_RELAY_WORKSPACE", Choice, "main", 0, 0, "main|worktree",
     "linked git worktrees use the workspace of their main worktree, or a separate one each", Applies::OnReload},
};
static_assert(std::size(kTable) == kSettingCount);
static_assert(
    [] {
      for (std::size_t i = 0; i < kSettingCount; ++i)
        if (static_cast<std::size_t>(kTable[i].setting) != i) return false;
      return true;
    }(),
    "rows are in the order of the enum");

}  // namespace

std::span<const SettingRow> setting_table() { return kTable; }

const SettingRow& row_of(Setting setting) { return kTable[static_cast<std::size_t>(setting)]; }

std::string_view describe(Applies applies) {
  switch (applies) {
    case Applies::OnSave:
    case Applies::OnReload: return "now";
    case Applies::NewSessions: return "for new sessions";
    case Applies::NewWorkspaces: return "for workspaces opened from now on";
    case Applies::OnRestart: return "after a restart";
  }
  return "";
}

std::string_view name_of(Source source) {
  switch (source) {
    case Source::Default: return "default";
    case Source::File: return "file";
    case Source::Variable: return "environment";
    case Source::Flag: return "flag";
  }
  return "";
}

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::BadValue: return "a setting has an invalid value";
    case Errc::UnknownSetting: return "no such setting";
    case Errc::BadSyntax: return "the configuration is not TOML";
    case Errc::Unreadable: return "the configuration cannot be read";
    case Errc::NotTrusted: return "the project belongs to another user";
  }
  return "";
}

}  // namespace relay::config
