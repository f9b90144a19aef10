#include "hooks/install.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "hooks/hook_specs.h"

namespace relay::hooks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kProgram = "/opt/relay/agent-relay";

/// An empty home directory.
class Install : public testing::TestWithParam<AgentCli> {
 protected:
  Install() : home_{testing::TempDir() + "/install." + std::to_string(::getpid())} {
    fs::remove_all(home_);
    fs::create_directories(home_);
    environment_ = {"HOME=" + home_};
    path_ = user_hooks_file(GetParam(), environment_);
  }
  ~Install() override { fs::remove_all(home_); }

  void write(const std::string& path, std::string_view text) const {
    fs::create_directories(fs::path{path}.parent_path());
    std::ofstream{path} << text;
  }
  [[nodiscard]] static std::string read(const std::string& path) {
    std::ostringstream out;
    out << std::ifstream{path}.rdbuf();
    return out.str();
  }
  [[nodiscard]] HooksFile file() const { return read_hooks_file(GetParam(), environment_).value(); }

  /// True when a change was written.
  bool install(std::string_view program = kProgram) {
    const auto now = file();
    const auto change = plan_install(GetParam(), now, program);
    EXPECT_TRUE(change) << change.error().message();
    if (!change || !*change) return false;
    EXPECT_TRUE(execute(now, **change));
    return true;
  }
  bool uninstall() {
    const auto now = file();
    const auto change = plan_uninstall(GetParam(), now);
    EXPECT_TRUE(change) << change.error().message();
    if (!change || !*change) return false;
    EXPECT_TRUE(execute(now, **change));
    return true;
  }
  [[nodiscard]] HooksStatus status(std::string_view program = kProgram) const {
    return status_of(GetParam(), file(), program, environment_);
  }

  std::string home_;
  EnvironmentBlock environment_;
  std::string path_;
};

TEST_P(Install, UninstallRemovesFileThatInstallCreated) {
  EXPECT_EQ(status().state, InstallState::No);
  EXPECT_TRUE(install());
  EXPECT_EQ(status().state, InstallState::Yes);
  struct stat modes{};
  ASSERT_EQ(::stat(path_.c_str(), &modes), 0);
  EXPECT_EQ(modes.st_mode & 0777, 0600U);
  EXPECT_FALSE(install());
  EXPECT_TRUE(uninstall());
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_FALSE(uninstall());
}

TEST_P(Install, UninstallRestoresBytesAndModes) {
  for (const std::string_view text : {"{}", "", "\n", "{\"hooks\": {}}", "{\"hooks\": {\"SessionStart\": []}}\n",
                                      "{\n   \"b\": 1,\n   \"a\": 2.0\n}\n"}) {
    write(path_, text);
    ASSERT_EQ(::chmod(path_.c_str(), 0640), 0);
    EXPECT_TRUE(install());
    EXPECT_EQ(read(path_ + ".before-agent-relay"), text);
    EXPECT_EQ(status().state, InstallState::Yes) << text;
    EXPECT_TRUE(uninstall());
    EXPECT_EQ(read(path_), text);
    EXPECT_FALSE(fs::exists(path_ + ".before-agent-relay"));
    struct stat modes{};
    ASSERT_EQ(::stat(path_.c_str(), &modes), 0);
    EXPECT_EQ(modes.st_mode & 0777, 0640U);
  }
}

TEST_P(Install, UninstallKeepsLaterAdditions) {
  write(path_, "{\n  \"a\": 1\n}\n");
  install();
  auto text = read(path_);
  text.replace(text.find("\"a\": 1"), 6, "\"a\": 2, \"new\": [3]");
  write(path_, text);
  EXPECT_TRUE(uninstall());
  EXPECT_EQ(read(path_), "{\n  \"a\": 2, \"new\": [3]\n}\n");
  EXPECT_TRUE(fs::exists(path_ + ".before-agent-relay"));
}

TEST_P(Install, WritesThroughLink) {
  write(home_ + "/dotfiles/x.json", "{\"a\": 1}\n");
  fs::create_directories(fs::path{path_}.parent_path());
  fs::create_symlink(home_ + "/dotfiles/x.json", path_);
  EXPECT_TRUE(install());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_NE(read(home_ + "/dotfiles/x.json").find("agent-relay"), std::string::npos);
  EXPECT_TRUE(uninstall());
  EXPECT_TRUE(fs::is_symlink(path_));
  EXPECT_EQ(read(home_ + "/dotfiles/x.json"), "{\"a\": 1}\n");
}

TEST_P(Install, RefusesDanglingLink) {
  fs::create_directories(fs::path{path_}.parent_path());
  fs::create_symlink(home_ + "/missing", path_);
  const auto file = read_hooks_file(GetParam(), environment_);
  ASSERT_FALSE(file);
  EXPECT_NE(file.error().message().find("a dangling link"), std::string::npos);
}

TEST_P(Install, KeepsMalformedFile) {
  for (const std::string_view text : {"{", "{} // mine", "[1]", "{\"hooks\": 1}", "{\"a\":1,\"a\":2}"}) {
    write(path_, text);
    const auto change = plan_install(GetParam(), file(), kProgram);
    ASSERT_FALSE(change) << text;
    EXPECT_NE(change.error().message().find(path_), std::string::npos);
    EXPECT_EQ(read(path_), text);
  }
}

TEST_P(Install, ReplacesOldPathOnce) {
  write(path_, "{\"a\": 1}");
  install("/old/agent-relay");
  EXPECT_TRUE(status().stale);
  EXPECT_TRUE(install());
  EXPECT_EQ(read(path_).find("/old/"), std::string::npos);
  EXPECT_EQ(read(path_ + ".before-agent-relay"), "{\"a\": 1}");
  EXPECT_EQ(status().program, kProgram);
  EXPECT_TRUE(uninstall());
  EXPECT_EQ(read(path_), "{\"a\": 1}");
}

TEST_P(Install, CompletesPartialInstallation) {
  install();
  auto text = read(path_);
  text.replace(text.find("SessionStart"), 12, "UnknownEvent");
  write(path_, text);
  EXPECT_EQ(status().state, InstallState::Partly);
  EXPECT_TRUE(install());
  EXPECT_EQ(status().state, InstallState::Yes);
  EXPECT_EQ(read(path_).find("UnknownEvent"), std::string::npos);
}

TEST_P(Install, NeverOverwritesChangedFile) {
  write(path_, "{}");
  const auto before = file();
  const auto change = plan_install(GetParam(), before, kProgram);
  ASSERT_TRUE(change && *change);
  write(path_, "{\"new\": 1}");
  EXPECT_FALSE(execute(before, **change));
  EXPECT_EQ(read(path_), "{\"new\": 1}");
}

TEST_P(Install, RefusesProgramOfAnotherName) { EXPECT_FALSE(plan_install(GetParam(), file(), "/opt/other")); }

INSTANTIATE_TEST_SUITE_P(Agents, Install, testing::Values(AgentCli::Claude, AgentCli::Codex, AgentCli::Gemini),
                         [](const auto& agent) { return std::string{name_of(agent.param)}; });

TEST(InstallStatus, NamesSettingThatDisablesHooks) {
  const auto home = testing::TempDir() + "/forbids." + std::to_string(::getpid());
  fs::create_directories(home + "/.gemini");
  std::ofstream{home + "/.gemini/settings.json"} << R"({"hooksConfig": {"disabled": ["x", "agent-relay"]}})";
  EXPECT_NE(hooks_blocked_reason(AgentCli::Gemini, {"HOME=" + home}).find("hooksConfig.disabled"), std::string::npos);
  EXPECT_EQ(hooks_blocked_reason(AgentCli::Gemini, {"GEMINI_CLI_HOME=/nowhere", "HOME=" + home}), "");
  fs::remove_all(home);
}

TEST(InstallPaths, FollowVariablesOfAgent) {
  const EnvironmentBlock own{"HOME=/h", "CLAUDE_CONFIG_DIR=/c", "CODEX_HOME=/x", "GEMINI_CLI_HOME=/g"};
  EXPECT_EQ(user_hooks_file(AgentCli::Claude, own), "/c/settings.json");
  EXPECT_EQ(user_hooks_file(AgentCli::Codex, own), "/x/hooks.json");
  EXPECT_EQ(user_hooks_file(AgentCli::Gemini, own), "/g/.gemini/settings.json");
  EXPECT_EQ(user_hooks_file(AgentCli::Codex, {"HOME=/h"}), "/h/.codex/hooks.json");
  EXPECT_EQ(user_hooks_file(AgentCli::Claude, {}), "");
}

}  // namespace
}  // namespace relay::hooks
