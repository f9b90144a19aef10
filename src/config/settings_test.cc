#include "config/settings.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "base/format.h"

namespace relay::config {
namespace {

Environment environment_of(std::map<std::string, std::string> variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    const auto found = variables.find(std::string{name});
    return found == variables.end() ? std::nullopt : std::optional{found->second};
  };
}

std::string error_of(std::string_view text) {
  Settings settings;
  const auto applied = settings.apply_file(text, "/h/config.toml");
  return applied ? "" : applied.error().message();
}

TEST(Settings, HaveValidDefaultsAndEnvironmentVariables) {
  const Settings settings;
  std::set<std::string_view> names;
  for (const auto& row : setting_table()) {
    EXPECT_EQ(settings.text(row.setting), row.default_text);
    EXPECT_EQ(settings.source(row.setting), Source::Default);
    const bool loosens = row.setting == Setting::PermissionsPreset || row.setting == Setting::SpawnByAgents;
    EXPECT_EQ(row.variable.empty(), loosens) << "settings that weaken security are only in the file";
    EXPECT_TRUE(loosens || row.variable.starts_with("AGENT_RELAY_"));
    EXPECT_FALSE(row.description.empty());
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
  }
}

TEST(Settings, HaveTheDocumentedDefaults) {
  const Settings settings;
  EXPECT_EQ(settings.dashboard_port(), 3888);
  EXPECT_EQ(settings.http_address(), "127.0.0.1");
  EXPECT_TRUE(settings.http_origins().empty());
  EXPECT_EQ(settings.storage_type(), StorageType::Sqlite);
  EXPECT_EQ(settings.durability(), Durability::Power);
  EXPECT_FALSE(settings.debug());
  EXPECT_EQ(settings.retention_max_bytes(), 1LL << 30);
}

TEST(Settings, FollowPrecedence) {
  Settings settings;
  ASSERT_TRUE(settings.apply_file("durability = 'process'\nheartbeat_ms = 200\ndebug = true", "/h/config.toml"));
  EXPECT_EQ(settings.origin(Setting::HeartbeatMs), "/h/config.toml:2");
  ASSERT_TRUE(
      settings.apply_environment(environment_of({{"AGENT_RELAY_HEARTBEAT_MS", "300"}, {"AGENT_RELAY_DEBUG", "0"}})));
  ASSERT_TRUE(settings.apply_flag(Setting::Debug, "true"));
  EXPECT_EQ(settings.source(Setting::Durability), Source::File);
  EXPECT_EQ(settings.durability(), Durability::Process);
  EXPECT_EQ(settings.heartbeat_ms(), 300);
  EXPECT_EQ(settings.origin(Setting::HeartbeatMs), "AGENT_RELAY_HEARTBEAT_MS");
  EXPECT_TRUE(settings.debug());
  EXPECT_EQ(settings.source(Setting::Debug), Source::Flag);
  EXPECT_EQ(settings.source(Setting::MaxBacklog), Source::Default);
}

TEST(Settings, AcceptTablesAndDottedNames) {
  Settings tables, dotted;
  ASSERT_TRUE(tables.apply_file("[retention]\nmax_age_days = 3\n[storage]\ntype = 'memory'", "f"));
  ASSERT_TRUE(dotted.apply_file("retention.max_age_days = 3\nstorage.type = 'memory'", "f"));
  EXPECT_EQ(tables.retention_max_age_days(), 3);
  EXPECT_EQ(dotted.retention_max_age_days(), 3);
  EXPECT_EQ(tables.storage_type(), StorageType::Memory);
}

TEST(Settings, SplitLists) {
  Settings settings;
  ASSERT_TRUE(settings.apply_file("http.origins = 'http://localhost:5173, https://board.example,,'", "f"));
  EXPECT_EQ(settings.http_origins(), (std::vector<std::string>{"http://localhost:5173", "https://board.example"}));
}

TEST(Settings, IgnorePermissionRules) {
  EXPECT_EQ(error_of("heartbeat_ms = 200\n[[permissions]]\ntool = 'bash'\naction = 'ask'"), "");
  EXPECT_EQ(error_of("[permissions]\npreset = 'read-only'\n[[permissions.rules]]\naction = 'ask'"), "");
  EXPECT_NE(error_of("[permissions]\npreset = 'everything'"), "");
  EXPECT_NE(error_of("[storage]\npermissions = 1"), "");
}

TEST(Settings, ReportFileLineColumnAndAllowedValues) {
  EXPECT_EQ(error_of("\n\ndashboard_port = 70000"),
            "/h/config.toml:3:18: dashboard_port cannot be 70000; allowed: a whole number from 0 to 65535");
  EXPECT_EQ(error_of("durability = 'maybe'"),
            "/h/config.toml:1:14: durability cannot be \"maybe\"; allowed: power or process");
  EXPECT_EQ(error_of("debug = 1"), "/h/config.toml:1:9: debug cannot be a value of that type; allowed: true or false");
  EXPECT_TRUE(error_of("[storage]\nkind = 'sqlite'")
                  .starts_with("/h/config.toml:2:1: unknown setting storage.kind; known settings: dashboard_port,"))
      << error_of("[storage]\nkind = 'sqlite'");
  EXPECT_EQ(error_of("[retention]\nmax_byte = 1"),
            "/h/config.toml:2:1: unknown setting retention.max_byte; did you mean retention.max_bytes?");
  EXPECT_EQ(error_of("[retenton]\nmax_bytes = 1"),
            "/h/config.toml:1:2: unknown setting retenton; did you mean retention?");
  EXPECT_TRUE(error_of("debug = ").starts_with("/h/config.toml:1:")) << error_of("debug = ");
}

TEST(Settings, KeepValuesAfterABadFile) {
  Settings settings;
  ASSERT_FALSE(settings.apply_file("heartbeat_ms = 200\nnonsense = 1", "f"));
  EXPECT_EQ(settings.heartbeat_ms(), 5000);
}

TEST(Settings, RefuseHostileText) {
  EXPECT_NE(error_of("debug = \xff\xfe"), "");
  EXPECT_NE(error_of("é = 1"), "");
  EXPECT_NE(error_of("\xef\xb3\xbf["), "");
  EXPECT_NE(error_of("[[["), "");
  EXPECT_NE(error_of(std::string(100'000, '[')), "");
  EXPECT_NE(error_of("a = " + std::string(100'000, '[')), "");
  EXPECT_NE(error_of(std::string("debug\0= true", 12)), "");
  EXPECT_EQ(error_of("\"\\u0007x\" = 1").find('\x07'), std::string::npos) << "control characters are removed";
}

TEST(Settings, CheckTheEnvironment) {
  Settings settings;
  const auto applied = settings.apply_environment(environment_of({{"AGENT_RELAY_STORAGE_TYPE", "floppy"}}));
  ASSERT_FALSE(applied.has_value());
  EXPECT_EQ(applied.error().message(),
            "AGENT_RELAY_STORAGE_TYPE: storage.type cannot be \"floppy\"; allowed: sqlite or memory");
  EXPECT_FALSE(settings.apply_environment(environment_of({{"AGENT_RELAY_HEARTBEAT_MS", "5s"}})).has_value());
  EXPECT_FALSE(settings.apply_environment(environment_of({{"AGENT_RELAY_HEARTBEAT_MS", "99999999999999999999"}})));
}

TEST(Settings, AcceptAPostgresAddressButRefuseToRun) {
  Settings settings;
  ASSERT_TRUE(settings.apply_environment(environment_of({{"AGENT_RELAY_STORAGE_URL", "postgres://x"}})));
  EXPECT_FALSE(settings.check_usable().has_value());
  EXPECT_TRUE(Settings{}.check_usable().has_value());
}

TEST(Settings, AcceptAMissingFileAndReportAnUnreadableOne) {
  std::string pattern = "/tmp/settings-XXXXXX";
  const std::string top = ::mkdtemp(pattern.data());
  const auto environment = environment_of({{"AGENT_RELAY_HOME", top}});
  const auto home = find_home(environment).value();
  EXPECT_TRUE(load_settings(home, environment).has_value());
  std::filesystem::create_directory(home.config_file);
  const auto loaded = load_settings(home, environment);
  ASSERT_FALSE(loaded.has_value());
  EXPECT_TRUE(is(loaded.error(), Errc::Unreadable));
  std::filesystem::remove_all(top);
}

TEST(Settings, UseASeparateDatabasePerProject) {
  Settings settings;
  const auto home = find_home(environment_of({{"AGENT_RELAY_HOME", "/h"}})).value();
  const auto project = project_at("/srv/app", home);
  EXPECT_EQ(database_path(settings, project), project.database);
  ASSERT_TRUE(settings.apply_flag(Setting::StoragePath, "/data/{project}/m.sqlite"));
  EXPECT_EQ(database_path(settings, project), "/data/" + project.id + "/m.sqlite");
  ASSERT_TRUE(settings.apply_flag(Setting::StoragePath, "/data/"));
  EXPECT_EQ(database_path(settings, project), "/data/" + project.id + ".sqlite");
  ASSERT_TRUE(settings.apply_flag(Setting::StoragePath, "/data/one.sqlite"));
  EXPECT_EQ(database_path(settings, project), "/data/one.sqlite");
  ASSERT_TRUE(settings.apply_flag(Setting::StoragePath, "here.sqlite"));
  EXPECT_EQ(database_path(settings, project), "/srv/app/here.sqlite");
}

TEST(Settings, TakeEffectAtTheirTime) {
  Settings at_start, at_open, now;
  for (auto* settings : {&at_start, &at_open, &now}) {
    const auto number = settings == &at_start ? "4001" : settings == &at_open ? "4002" : "4003";
    ASSERT_TRUE(settings->apply_flag(Setting::DashboardPort, number));
    ASSERT_TRUE(settings->apply_flag(Setting::HeartbeatMs, number));
    ASSERT_TRUE(settings->apply_flag(Setting::RetentionMaxAgeDays, settings == &now ? "3" : "1"));
  }
  const auto used = Settings::in_force(at_start, at_open, now);
  EXPECT_EQ(used.dashboard_port(), 4001) << "only the next daemon uses another port";
  EXPECT_EQ(used.heartbeat_ms(), 4002) << "a workspace keeps its values";
  EXPECT_EQ(used.retention_max_age_days(), 3);
  const auto changed = [&](const Settings& before, const Settings& after) {
    std::string all;
    for (const auto& change : changes_on_load(used, before, after))
      all += relay::format("{} {} {} {}\n", change.row->name, change.from, change.to, describe(change.applies));
    return all;
  };
  EXPECT_EQ(changed(now, now),
            "dashboard_port 4001 4003 after a restart\nheartbeat_ms 4002 4003 for workspaces opened from now on\n")
      << "a loaded value that is not effective is reported again";
  EXPECT_EQ(changed(now, at_open),
            "dashboard_port 4003 4002 after a restart\nretention.max_age_days 3 1 now\nheartbeat_ms 4003 4002 now\n")
      << "a value that returns to the effective one is reported too";
}

}  // namespace
}  // namespace relay::config
