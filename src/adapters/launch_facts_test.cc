#include "adapters/launch_facts.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

struct LaunchFactsTest : ::testing::Test {
  fs::path top = fs::path{::testing::TempDir()} / format("launch-facts-{}", ::getpid());
  pty::Command command{.argv = {"claude"},
                       .environment = {"PATH=" + (top / "bin").string(), "HOME=" + (top / "home").string()},
                       .directory = (top / "project").string()};

  void SetUp() override {
    fs::remove_all(top);
    write("package/package.json", R"({"name":"some-agent","version":"2.1.325"})");
    write("package/cli/start", "#!/bin/sh\n");
    fs::permissions(top / "package/cli/start", fs::perms::owner_all);
    fs::create_directories(top / "bin");
    fs::create_symlink(top / "package/cli/start", top / "bin/claude");
    fs::create_symlink(top / "package/cli/start", top / "bin/codex");
    fs::create_directories(top / "project");
  }
  void TearDown() override { fs::remove_all(top); }
  void write(const std::string& path, std::string_view text) const {
    fs::create_directories((top / path).parent_path());
    std::ofstream{top / path} << text;
  }
  [[nodiscard]] std::string mode(std::string_view profile, std::vector<std::string> argv) {
    command.argv = std::move(argv);
    return launch_facts(profile, command).permission_mode;
  }
};

TEST_F(LaunchFactsTest, ReadsVersionOfPackage) {
  EXPECT_EQ(launch_facts("claude", command).version, "2.1.325");
  fs::remove(top / "bin/claude");
  write("versions/2.1.400", "#!/bin/sh\n");
  fs::permissions(top / "versions/2.1.400", fs::perms::owner_all);
  fs::create_symlink(top / "versions/2.1.400", top / "bin/claude");
  EXPECT_EQ(launch_facts("claude", command).version, "2.1.400");
  command.argv = {"missing"};
  EXPECT_EQ(launch_facts("claude", command).version, "");
}

TEST_F(LaunchFactsTest, ReadsPermissionModeOfCommandLine) {
  EXPECT_EQ(mode("claude", {"claude", "--permission-mode", "plan"}), "plan");
  EXPECT_EQ(mode("claude", {"claude", "--permission-mode=manual"}), "manual");
  EXPECT_EQ(mode("claude", {"claude", "--dangerously-skip-permissions"}), "bypassPermissions");
  EXPECT_EQ(mode("claude", {"claude", "--", "--permission-mode", "plan"}), "");
  EXPECT_EQ(mode("claude", {"claude", "--permission-mode"}), "");
  EXPECT_EQ(mode("codex", {"codex", "-a", "never"}), "never");
  EXPECT_EQ(mode("gemini", {"gemini", "-y"}), "yolo");
  EXPECT_EQ(mode("opencode", {"opencode", "-y"}), "");
}

TEST_F(LaunchFactsTest, ReadsPermissionModeOfSettings) {
  write("home/.claude/settings.json", R"({"permissions":{"defaultMode":"acceptEdits"}})");
  EXPECT_EQ(mode("claude", {"claude"}), "acceptEdits");
  write("project/.claude/settings.json", R"({"permissions":{"defaultMode":"plan"}})");
  EXPECT_EQ(mode("claude", {"claude"}), "plan");
  EXPECT_EQ(mode("claude", {"claude", "--permission-mode", "default"}), "default");
  write("home/.codex/config.toml",
        "model = \"x\"\napproval_policy = \"on-request\"\n[other]\napproval_policy = \"no\"\n");
  EXPECT_EQ(mode("codex", {"codex"}), "on-request");
  EXPECT_EQ(mode("codex", {"codex", "exec", "hello"}), "never") << "it prints: approval: never";
  write("home/.codex/config.toml", "not toml");
  EXPECT_EQ(mode("codex", {"codex"}), "");
}

TEST(ModeAfterHook, KeepsPolicyThatCodexHookCannotName) {
  EXPECT_EQ(mode_after_hook("codex", "on-request", "default"), "on-request") << "it was lost after the first turn";
  EXPECT_EQ(mode_after_hook("codex", "never", "bypassPermissions"), "never");
  EXPECT_EQ(mode_after_hook("codex", "on-request", "bypassPermissions"), "never") << "changed by the user";
  EXPECT_EQ(mode_after_hook("codex", "never", "default"), "") << "changed to one that the hook does not name";
  EXPECT_EQ(mode_after_hook("codex", "", "default"), "");
  EXPECT_EQ(mode_after_hook("claude", "auto", "default"), "default");
}

TEST_F(LaunchFactsTest, ProjectSettingsAreReadWithoutLinks) {
  write("elsewhere/.claude/settings.json", R"({"permissions":{"defaultMode":"plan"}})");
  write("elsewhere/.gemini/settings.json", R"({"general":{"defaultApprovalMode":"yolo"}})");
  write("home/.claude/settings.json", R"({"permissions":{"defaultMode":"acceptEdits"}})");
  write("home/.gemini/settings.json", R"({"general":{"defaultApprovalMode":"auto_edit"}})");
  EXPECT_EQ(mode("claude", {"claude"}), "acceptEdits");
  EXPECT_EQ(mode("gemini", {"gemini"}), "auto_edit");
  fs::create_directories(top / "project/.claude");
  fs::create_symlink(top / "elsewhere/.claude/settings.json", top / "project/.claude/settings.json");
  fs::create_directory_symlink(top / "elsewhere/.gemini", top / "project/.gemini");
  EXPECT_EQ(mode("claude", {"claude"}), "") << "the agent may read another file there";
  EXPECT_EQ(mode("gemini", {"gemini"}), "");
  fs::remove(top / "project/.claude/settings.json");
  ASSERT_EQ(::mkfifo((top / "project/.claude/settings.json").c_str(), 0600), 0);
  EXPECT_EQ(mode("claude", {"claude"}), "");
}

TEST_F(LaunchFactsTest, LinkInHomeDirectoryIsFollowed) {
  write("elsewhere/settings.json", R"({"permissions":{"defaultMode":"plan"}})");
  fs::create_directories(top / "home/.claude");
  fs::create_symlink(top / "elsewhere/settings.json", top / "home/.claude/settings.json");
  EXPECT_EQ(mode("claude", {"claude"}), "plan");
  command.directory = (top / "home").string();
  EXPECT_EQ(mode("claude", {"claude"}), "plan") << "the agent was started in the home directory";
}

}  // namespace
}  // namespace relay::adapters
