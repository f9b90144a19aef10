// Hooks in the user's settings of an agent: the diff, the written file, and the complete removal.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "base/format.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

struct Hooks : testing::Test {
  Sandbox box;
  std::string user_home = box.home() + "/user";

  void SetUp() override {
    std::filesystem::create_directories(user_home + "/.claude");
    box.set("HOME", user_home);
  }
};

TEST_F(Hooks, DryRunPrintsDiffAndWritesNothing) {
  const auto path = box.write(user_home + "/.claude/settings.json", "{\n    \"model\": \"opus\"\n}\n");
  const auto out = box.ok({"hooks", "install", "claude", "--dry-run"});
  EXPECT_TRUE(out.starts_with(format("--- {0}\n+++ {0}\n@@ -1,3 +1,", path))) << out;
  EXPECT_NE(out.find("+    \"hooks\": {\n"), std::string::npos) << out;
  EXPECT_NE(out.find(format("\"command\": \"{}\"", program())), std::string::npos) << out;
  EXPECT_EQ(file_contents(path), "{\n    \"model\": \"opus\"\n}\n");
}

TEST_F(Hooks, UninstallRestoresFileForEveryAgent) {
  const std::string text = "{\n  \"z\": 1.0, \"a\": [ ],\n  \"hooks\": {\"Stop\": [{\"hooks\": []}]}\n}";
  for (const auto& [agent, file] :
       {std::pair{"claude", ".claude/settings.json"}, std::pair{"codex", ".codex/hooks.json"},
        std::pair{"gemini", ".gemini/settings.json"}}) {
    const auto path = user_home + "/" + file;
    std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
    box.write(path, text);
    ASSERT_EQ(::chmod(path.c_str(), 0600), 0);
    EXPECT_FALSE(box.ok({"hooks", "install", agent}).empty());
    EXPECT_EQ(box.run({"hooks", "install", agent}).out, "") << "the second run changes nothing";
    const auto status = box.ok_json({"hooks", "status", agent});
    const auto& row = status.at("hooks").at(0);
    EXPECT_EQ(row.at("hooks"), "installed");
    EXPECT_EQ(row.at("program").as_string(), program());
    EXPECT_EQ(row.at("stale"), false);
    EXPECT_FALSE(box.ok({"hooks", "uninstall", agent}).empty());
    EXPECT_EQ(file_contents(path), text);
    struct stat modes{};
    ASSERT_EQ(::stat(path.c_str(), &modes), 0);
    EXPECT_EQ(modes.st_mode & 0777, 0600U);
    EXPECT_EQ(box.run({"hooks", "status", agent}).code, 1);
  }
}

TEST_F(Hooks, UninstallRemovesFileCreatedByInstall) {
  box.ok({"hooks", "install", "codex"});
  EXPECT_TRUE(std::filesystem::exists(user_home + "/.codex/hooks.json"));
  box.ok({"hooks", "uninstall", "codex"});
  EXPECT_FALSE(std::filesystem::exists(user_home + "/.codex/hooks.json"));
}

TEST_F(Hooks, FileWithCommentsIsRefused) {
  const auto path = box.write(user_home + "/.claude/settings.json", "{} // mine\n");
  const auto ran = box.run({"hooks", "install", "claude"});
  EXPECT_EQ(ran.code, 1);
  EXPECT_EQ(ran.out, "");
  EXPECT_NE(ran.err.find("it has comments"), std::string::npos) << ran.err;
  EXPECT_EQ(file_contents(path), "{} // mine\n");
  EXPECT_NE(box.ok({"hooks", "status"}).find("cannot be read"), std::string::npos);
}

TEST_F(Hooks, StatusWarnsOfMovedProgramAndBlockedHooks) {
  box.write(user_home + "/.claude/settings.json",
            R"({"disableAllHooks": true, "hooks": {"Stop": [{"hooks": [{"type": "command", )"
            R"("command": "/gone/agent-relay", "args": ["hook", "claude"]}]}]}})");
  const auto ran = box.run({"hooks", "status", "claude", "--json"});
  EXPECT_EQ(ran.code, 1);
  const auto status = parse_json_object(ran.out);
  ASSERT_TRUE(status) << ran.out;
  const auto& row = status->at("hooks").at(0).as_object();
  EXPECT_EQ(row.at("hooks"), "partly");
  EXPECT_EQ(row.at("stale"), true);
  EXPECT_NE(string_member(row, "forbidden").value_or("").find("disableAllHooks"), std::string::npos);
}

TEST_F(Hooks, StatusAndDoctorReportDaemonWithOtherHome) {
  box.set("RELAY_HOME", box.home() + "-one");
  box.ok({"up"});
  box.ok({"hooks", "install", "claude"});
  EXPECT_EQ(box.run({"hooks", "status"}).err, "");
  box.set("RELAY_HOME", box.home() + "-other");
  const auto notice = box.run({"hooks", "status"}).err;
  EXPECT_NE(notice.find("agents started from here are not observed"), std::string::npos) << notice;
  EXPECT_NE(notice.find("RELAY_HOME=" + box.home() + "-one"), std::string::npos) << notice;
  EXPECT_NE(box.run({"doctor"}).out.find("agents started from here are not observed"), std::string::npos);
  box.ok({"hooks", "uninstall", "claude"});
  EXPECT_EQ(box.run({"hooks", "status"}).err, "") << "no hooks are installed";
}

TEST_F(Hooks, UsageErrorsAreReported) {
  EXPECT_EQ(box.run({"hooks", "instal", "claude"}).code, 2);
  EXPECT_EQ(box.run({"hooks", "install"}).code, 2);
  EXPECT_EQ(box.run({"hooks", "install", "aider"}).code, 2);
  EXPECT_EQ(box.run({"hooks", "install", "claude", "--json"}).code, 2);
}

}  // namespace
}  // namespace relay::cli_tests
