#include <gtest/gtest.h>

#include <filesystem>

#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;

TEST(Config, SaysWhereEachValueCameFrom) {
  Sandbox box;
  box.write(box.home() + "/config.toml", "debug = true\n[retention]\nmax_age_days = 3\n");
  box.set("AGENT_RELAY_DURABILITY", "process");
  const auto shown = box.ok({"config", "--show-source"});
  EXPECT_NE(shown.find(box.home() + "/config.toml:3"), std::string::npos) << shown;
  EXPECT_NE(shown.find("AGENT_RELAY_DURABILITY"), std::string::npos);
  const auto parsed = box.ok_json({"config"});
  const auto* settings = object_member(parsed, "settings");
  EXPECT_EQ(integer_member(*object_member(*settings, "retention.max_age_days"), "value"), 3);
  EXPECT_EQ(string_member(*object_member(*settings, "durability"), "source"), "environment");
  EXPECT_EQ(string_member(*object_member(*settings, "dashboard_port"), "source"), "default");
}

TEST(Config, ABadFileIsOneSentenceWithItsPlace) {
  Sandbox box;
  box.write(box.home() + "/config.toml", "[storage]\nkind = 'sqlite'\n");
  const auto ran = box.run({"config"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_NE(ran.err.find(box.home() + "/config.toml:2:1: there is no setting storage.kind"), std::string::npos)
      << ran.err;
}

TEST(Doctor, IsContentWithAFreshHomeAndARunningDaemon) {
  Sandbox box;
  const auto fresh = box.run({"doctor"});
  EXPECT_EQ(fresh.code, 0) << fresh.out;
  EXPECT_NE(fresh.out.find("start it with: agent-relay up"), std::string::npos) << fresh.out;
  box.ok({"up"});
  const auto report = box.ok_json({"doctor"});
  EXPECT_EQ(bool_member(report, "healthy"), true);
  for (const auto& entry : *array_member(report, "checks"))
    EXPECT_EQ(string_member(entry.as_object(), "verdict"), "ok") << json::serialize(entry);
}

TEST(Doctor, NamesProblemsAndWhatToDo) {
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
  box.write(box.workspace_directory() + "/messages.sqlite", "this is no database");
  const auto no_database = box.run({"doctor"});
  EXPECT_EQ(no_database.code, 1);
  EXPECT_NE(no_database.out.find("is no SQLite database"), std::string::npos) << no_database.out;
}

TEST(Doctor, FindsWhatADeadDaemonLeft) {
  Sandbox box;
  box.ok({"up"});
  box.kill_daemon();
  const auto ran = box.run({"doctor"});
  EXPECT_EQ(ran.code, 0) << "leftovers are no problem";
  EXPECT_NE(ran.out.find("a daemon that died left"), std::string::npos) << ran.out;
}

TEST(Help, IsThereForEveryCommand) {
  Sandbox box;
  for (const auto* command : {"up", "down", "status", "send", "inbox", "log", "read", "chat", "agents", "trace",
                              "search", "doctor", "config", "completion"})
    EXPECT_NE(box.ok({command, "--help"}).find("example: "), std::string::npos) << command;
  EXPECT_EQ(box.ok({}), box.ok({"--help"}));
  EXPECT_TRUE(box.ok({"--version"}).starts_with("agent-relay "));
  for (const auto* alias : {"version", "-V"}) EXPECT_EQ(box.ok({alias}), box.ok({"--version"}));
  for (const auto* shell : {"bash", "zsh", "fish"}) EXPECT_NE(box.ok({"completion", shell}), "") << shell;
}

TEST(Documentation, OfTheCommandLineIsTheTables) {
  Sandbox box;
  const auto manual = box.ok({"completion", "manual"});
  EXPECT_NE(manual.find("### send"), std::string::npos);
  EXPECT_NE(box.ok({"completion", "man"}).find(".SH EXIT STATUS"), std::string::npos);
}

}  // namespace
}  // namespace relay::cli_tests
