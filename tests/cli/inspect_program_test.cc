#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/clock.h"
#include "base/format.h"
#include "cli/sandbox.h"
#include "store/journal/recovery.h"
#include "store/sqlite/store.h"
#include "store/testing/sample_records.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

TEST(Config, ShowsSourceOfEachValue) {
  Sandbox box;
  box.write(box.home() + "/config.toml", "debug = true\n[retention]\nmax_age_days = 3\n");
  box.set("AGENT_RELAY_DURABILITY", "process");
  const auto text = box.ok({"config", "--show-source"});
  EXPECT_NE(text.find(box.home() + "/config.toml:3"), std::string::npos) << text;
  EXPECT_NE(text.find("AGENT_RELAY_DURABILITY"), std::string::npos);
  const auto parsed = box.ok_json({"config"});
  const auto* settings = object_member(parsed, "settings");
  EXPECT_EQ(integer_member(*object_member(*settings, "retention.max_age_days"), "value"), 3);
  EXPECT_EQ(string_member(*object_member(*settings, "durability"), "source"), "environment");
  EXPECT_EQ(string_member(*object_member(*settings, "dashboard_port"), "source"), "default");
}

TEST(Config, MarksValuesNotInUse) {
  Sandbox box;
  box.ok({"up", "--no-http"});
  EXPECT_EQ(box.ok({"reload"}), "the daemon reloaded its configuration; nothing changed\n");
  box.write(box.home() + "/config.toml", "debug = true\nheartbeat_ms = 7000\n[http]\naddress = '127.0.0.2'\n");
  const auto entry = [&](std::string_view name) {
    return box.ok_json({"config"}).at("settings").as_object().at(name).as_object();
  };
  EXPECT_EQ(string_member(entry("debug"), "inUse"), "false");
  EXPECT_EQ(string_member(entry("heartbeat_ms"), "inUse"), "5000");
  EXPECT_EQ(string_member(entry("dashboard_port"), "inUse"), "0") << "set by an option of `up`";
  EXPECT_FALSE(entry("durability").contains("inUse"));
  EXPECT_NE(box.ok({"config"}).find("* debug: the daemon uses false; apply it with: agent-relay reload\n"),
            std::string::npos);

  const auto changed = box.ok_json({"reload"}).at("changed").as_array();
  ASSERT_EQ(changed.size(), 3u) << json::serialize(changed);
  EXPECT_EQ(string_member(changed[0].as_object(), "setting"), "http.address");
  EXPECT_EQ(string_member(changed[0].as_object(), "applies"), "after a restart");
  EXPECT_EQ(string_member(changed[1].as_object(), "setting"), "debug");
  EXPECT_EQ(string_member(changed[1].as_object(), "applies"), "now");
  EXPECT_EQ(string_member(changed[2].as_object(), "applies"), "for workspaces opened from now on");
  EXPECT_FALSE(entry("debug").contains("inUse"));
  EXPECT_EQ(string_member(entry("heartbeat_ms"), "inUse"), "5000") << "until this workspace is opened again";
  box.ok({"down"});
  box.ok({"up"});
  EXPECT_FALSE(entry("heartbeat_ms").contains("inUse"));
  EXPECT_EQ(string_member(entry("http.address"), "inUse"), "127.0.0.1");

  box.write(box.home() + "/config.toml", "heartbeat_ms = 'often'\n");
  const auto refused = box.run({"reload"});
  EXPECT_EQ(refused.code, 1);
  EXPECT_NE(refused.err.find("heartbeat_ms"), std::string::npos) << refused.err;
}

TEST(Config, MarksRulesNotInForce) {
  Sandbox box;
  box.ok({"up"});
  const auto in_use = [&](std::string_view name) {
    return string_member(box.ok_json({"config"}).at("settings").at(name).as_object(), "inUse").value_or("");
  };
  box.write(box.home() + "/config.toml", "[spawn]\nby_agents = 'ask'\n[permissions]\npreset = 'read-only'\n");
  EXPECT_TRUE(eventually([&] { return in_use("spawn.by_agents").empty(); })) << "the daemon watches the file";
  EXPECT_EQ(in_use("permissions.preset"), "");
  box.write(box.home() + "/config.toml", "[permissions]\npreset = 'read-only'\n[[permissions.rules]]\nallow = 3\n");
  EXPECT_TRUE(eventually([&] { return in_use("permissions.preset") == "none"; })) << "a rule has an error";
  EXPECT_TRUE(
      box.ok({"config", "--show-source"})
          .contains("* permissions.preset: the daemon uses none; no rule is in force until this is corrected: " +
                    box.home() + "/config.toml:"));
}

TEST(Config, AdvisesRestartForEnvironmentValues) {
  Sandbox box;
  box.set("AGENT_RELAY_DEBUG", "1");
  box.ok({"up"});
  box.set("AGENT_RELAY_DEBUG", "0");
  EXPECT_TRUE(box.ok({"config"})
                  .contains("* debug: the daemon uses true; apply it with: agent-relay down --all, agent-relay up\n"))
      << box.ok({"config"});
}

TEST(Reload, ListsSettingsResetToDefault) {
  Sandbox box;
  box.ok({"up"});
  const auto changed = [&] {
    std::string all;
    const auto result = box.ok_json({"reload"});
    for (const auto& change : result.at("changed").as_array())
      all += format("{} {} {}; ", change.at("setting").as_string().c_str(), change.at("to").as_string().c_str(),
                    change.at("applies").as_string().c_str());
    return all;
  };
  box.write(box.home() + "/config.toml", "dashboard_port = 3999\nheartbeat_ms = 7000\n[spawn]\nby_agents = 'ask'\n");
  EXPECT_EQ(changed(),
            "dashboard_port 3999 after a restart; heartbeat_ms 7000 for workspaces opened from now on; "
            "spawn.by_agents ask now; ");
  box.write(box.home() + "/config.toml", "");
  EXPECT_EQ(changed(), "dashboard_port 3888 now; heartbeat_ms 5000 now; spawn.by_agents off now; ");
  EXPECT_EQ(changed(), "");
}

TEST(Config, SyntaxErrorIsComplete) {
  Sandbox box;
  box.write(box.home() + "/config.toml", "debug = true\n[spawn]\nby_agents = 'ask\n");
  const auto ran = box.run({"config"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.err, "agent-relay: " + box.home() +
                         "/config.toml:3:17: this is not TOML: Error while parsing literal string: control characters "
                         "other than TAB (U+0009) are explicitly prohibited\n");
}

TEST(Config, BadFileErrorHasLocation) {
  Sandbox box;
  box.write(box.home() + "/config.toml", "[storage]\nkind = 'sqlite'\n");
  const auto ran = box.run({"config"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find(box.home() + "/config.toml:2:1: unknown setting storage.kind"), std::string::npos) << ran.err;
}

TEST(Doctor, PassesWithFreshHomeAndRunningDaemon) {
  Sandbox box;
  const auto bin = box.project() + "/bin";  // puts an agent on PATH on any machine
  std::filesystem::create_directory(bin);
  ASSERT_EQ(::chmod(box.write(bin + "/claude", "#!/bin/sh\necho '2.1.325 (Claude Code)'\n").c_str(), 0700), 0);
  box.set("PATH", bin + ":/usr/bin:/bin");
  const auto fresh = box.run({"doctor"});
  EXPECT_EQ(fresh.code, 0) << fresh.out;
  EXPECT_NE(fresh.out.find("start it with: agent-relay up"), std::string::npos) << fresh.out;
  box.ok({"up"});
  const auto report = box.ok_json({"doctor"});
  EXPECT_EQ(bool_member(report, "healthy"), true);
  for (const auto& entry : *array_member(report, "checks"))
    EXPECT_EQ(string_member(entry.as_object(), "status"), "ok") << json::serialize(entry);
}

TEST(Doctor, ReportsMissingGeminiHooks) {
  Sandbox box;  // below /tmp, which other users may write to
  const auto bin = box.project() + "/bin";
  std::filesystem::create_directory(bin);
  box.set("PATH", bin + ":/usr/bin:/bin");
  box.set("HOME", box.project());
  const auto hooks = [&] { return json::serialize(doctor_checks(box, "hooks").at(0)); };
  EXPECT_TRUE(hooks().contains("Claude Code and Codex started with agent-relay need none")) << hooks();
  ASSERT_EQ(::chmod(box.write(bin + "/gemini", "#!/bin/sh\necho 0.61.0\n").c_str(), 0700), 0);
  EXPECT_TRUE(hooks().contains("run: agent-relay hooks install gemini")) << hooks();
  EXPECT_TRUE(box.ok({"hooks", "--help"}).contains("Gemini CLI does, unless agent-relay runs\nas root"));
}

TEST(Doctor, ReportsProblemsWithFixes) {
  Sandbox box;
  fs::create_directories(box.home());
  fs::permissions(box.home(), fs::perms::all);
  const auto open_home = box.run({"doctor"});
  EXPECT_EQ(open_home.code, 1);
  EXPECT_NE(open_home.out.find("chmod 700 " + box.home()), std::string::npos) << open_home.out;
  fs::permissions(box.home(), fs::perms::owner_all);
  box.write(box.home() + "/config.toml", "nonsense");
  EXPECT_EQ(box.run({"doctor"}).code, 1);
  box.write(box.home() + "/config.toml", "");
  box.write(box.workspace_directory() + "/messages.sqlite", "this is not a database");
  const auto no_database = box.run({"doctor"});
  EXPECT_EQ(no_database.code, 1);
  EXPECT_NE(no_database.out.find("is not a SQLite database"), std::string::npos) << no_database.out;
}

TEST(Doctor, ChecksAgentVersionsServiceHooksMcpAndProfiles) {
  Sandbox box;
  const auto bin = box.project() + "/bin";
  std::filesystem::create_directory(bin);
  const auto agent = [&](const std::string& name, const std::string& version) {
    const auto path = box.write(bin + "/" + name, "#!/bin/sh\necho '" + version + "'\n");
    ASSERT_EQ(::chmod(path.c_str(), 0700), 0);
  };
  agent("claude", "2.1.325 (Claude Code)");
  agent("codex", "codex-cli 9.0.0");
  box.set("PATH", bin + ":/usr/bin:/bin");
  box.set("HOME", box.project());
  box.set("XDG_CONFIG_HOME", box.project() + "/config");
  const auto first = box.run({"doctor"});
  EXPECT_EQ(first.code, 0) << first.out;
  EXPECT_NE(first.out.find("claude 2.1.325 at " + bin + "/claude\n"), std::string::npos) << first.out;
  EXPECT_NE(first.out.find("codex 9.0.0 at " + bin + "/codex, newer than 0.166.0"), std::string::npos) << first.out;
  for (const auto* check : {"inotify", "descriptors", "service", "hooks", "mcp", "profiles"})
    EXPECT_NE(first.out.find(check), std::string::npos) << check << first.out;

  const auto finding = [&](std::string_view check) { return doctor_checks(box, check).at(0); };
  box.write(box.project() + "/.mcp.json", R"({"mcpServers":{"relay":{"command":"/gone/agent-relay","args":["mcp"]}}})");
  EXPECT_EQ(string_member(finding("mcp"), "status"), "problem");
  std::filesystem::rename(box.project() + "/.mcp.json", box.project() + "/config.json");
  std::filesystem::create_symlink(box.project() + "/config.json", box.project() + "/.mcp.json");
  EXPECT_EQ(string_member(finding("mcp"), "status"), "note") << "links in a project are not followed";
  EXPECT_NE(string_member(finding("mcp"), "message").value_or("").find("/.mcp.json is a link"), std::string::npos);
  std::filesystem::remove(box.project() + "/.mcp.json");
  ASSERT_EQ(::mkfifo((box.project() + "/opencode.json").c_str(), 0600), 0);
  EXPECT_NE(string_member(finding("mcp"), "message").value_or("").find("/opencode.json is not an ordinary file"),
            std::string::npos);
  std::filesystem::remove(box.project() + "/opencode.json");
  EXPECT_EQ(string_member(finding("mcp"), "status"), "ok");
  std::filesystem::create_directories(box.project() + "/config/systemd/user");
  box.write(box.project() + "/config/systemd/user/relay.service", "[Service]\nExecStart=/gone/agent-relay up\n");
  EXPECT_EQ(string_member(finding("service"), "status"), "problem");
  std::filesystem::create_directories(box.home() + "/profiles");
  box.write(box.home() + "/profiles/mine.toml", "name = 3\n");
  EXPECT_EQ(string_member(finding("profiles"), "status"), "problem");
  EXPECT_FALSE(string_member(finding("profiles"), "fix").value_or("").empty());
}

TEST(Doctor, ComparesClockWithNewestMessage) {
  Sandbox box;
  const auto clock = [&] { return doctor_checks(box, "clock"); };
  box.ok({"up"});
  box.run({"chat", "--name", "Bob"});
  box.ok({"send", "Bob", "hello", "--from", "ada"});
  ASSERT_EQ(clock().size(), 1U);
  EXPECT_EQ(string_member(clock()[0], "status"), "ok");
  EXPECT_TRUE(string_member(clock()[0], "message")->starts_with("20")) << "the current date";
  box.ok({"down", "--all"});
  {
    const store::SqliteOptions options{.path = box.workspace_directory() + "/messages.sqlite"};
    const auto store = store::SqliteStore::open(options);
    ASSERT_TRUE(store && store::recover_journal(**store, options));
    const auto newest = (*store)->load();
    ASSERT_TRUE(newest);
    auto later = store::sample::direct(newest->newest.value() + 1, "Alice", "Bob", "later", 1);
    std::get<records::AddMessage>(later.at(0)).message.ts = SystemClock{}.now().wall + 3'600'000;
    ASSERT_TRUE(store::sample::commit(**store, later));
  }
  box.ok({"up"});
  ASSERT_EQ(clock().size(), 2U);
  EXPECT_EQ(string_member(clock()[1], "status"), "problem");
  EXPECT_EQ(string_member(clock()[1], "message"), "the newest message is from the future");
  EXPECT_EQ(string_member(clock()[1], "fix"), "the clock was set back: correct it");
}

TEST(Doctor, FindsFilesOfDeadDaemon) {
  Sandbox box;
  box.ok({"up"});
  box.kill_daemon();
  const auto ran = box.run({"doctor"});
  EXPECT_EQ(ran.code, 0) << "a note, not a problem";
  EXPECT_NE(ran.out.find("left behind by a daemon that died"), std::string::npos) << ran.out;
}

TEST(Help, ExistsForEveryCommand) {
  Sandbox box;
  for (const auto* command : {"up", "down", "status", "send", "inbox", "log", "read", "chat", "agents", "trace",
                              "search", "doctor", "config", "completion"})
    EXPECT_NE(box.ok({command, "--help"}).find("example: "), std::string::npos) << command;
  EXPECT_EQ(box.ok({}), box.ok({"--help"}));
  EXPECT_TRUE(box.ok({"--version"}).starts_with("agent-relay "));
  for (const auto* alias : {"version", "-V"}) EXPECT_EQ(box.ok({alias}), box.ok({"--version"}));
  for (const auto* shell : {"bash", "zsh", "fish"}) EXPECT_NE(box.ok({"completion", shell}), "") << shell;
}

TEST(Documentation, IsGeneratedAsMarkdownAndManPage) {
  Sandbox box;
  const auto manual = box.ok({"completion", "manual"});
  EXPECT_NE(manual.find("### send"), std::string::npos);
  EXPECT_NE(box.ok({"completion", "man"}).find(".SH EXIT STATUS"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
