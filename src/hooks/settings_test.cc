#include "hooks/settings.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/beneath.h"
#include "base/format.h"
#include "hooks/install.h"

namespace relay::hooks {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kNoHooks = R"({"disableAllHooks": true})";

struct ProjectSettings : ::testing::Test {
  std::string top = format("{}/project-settings.{}", testing::TempDir(), ::getpid()), project = top + "/project";

  void SetUp() override {
    fs::remove_all(top);
    write("elsewhere/settings.json", kNoHooks);
    fs::create_directories(project + "/.claude");
  }
  void TearDown() override { fs::remove_all(top); }
  void write(const std::string& path, std::string_view text) const {
    fs::create_directories(fs::path{top + "/" + path}.parent_path());
    std::ofstream{top + "/" + path} << text;
  }
  [[nodiscard]] auto read() const { return read_project_settings(project, ".claude/settings.json"); }
  [[nodiscard]] std::string forbidden() const {
    return hooks_blocked_reason(AgentCli::Claude, {"HOME=" + top + "/home"}, project);
  }
  void expect_refused(BeneathErrc why) const {
    const auto text = read();
    ASSERT_FALSE(text);
    EXPECT_TRUE(is(text.error(), why)) << text.error().message();
    EXPECT_EQ(forbidden(), "") << "it is not read";
  }
};

TEST_F(ProjectSettings, OrdinaryFileIsRead) {
  EXPECT_EQ(read().value(), std::nullopt);
  EXPECT_EQ(read_project_settings(top + "/nowhere", "settings.json").value(), std::nullopt);
  write("project/.claude/settings.json", kNoHooks);
  EXPECT_EQ(read().value(), kNoHooks);
  EXPECT_EQ(forbidden(), project + "/.claude/settings.json sets disableAllHooks");
}

TEST_F(ProjectSettings, LinkOutOfTheProjectIsNotFollowed) {
  fs::create_symlink(top + "/elsewhere/settings.json", project + "/.claude/settings.json");
  expect_refused(BeneathErrc::Link);
}

TEST_F(ProjectSettings, LinkedDirectoryIsNotEntered) {
  fs::remove_all(project + "/.claude");
  fs::create_directory_symlink(top + "/elsewhere", project + "/.claude");
  expect_refused(BeneathErrc::Link);
}

TEST_F(ProjectSettings, PipeIsNotWaitedFor) {
  ASSERT_EQ(::mkfifo((project + "/.claude/settings.json").c_str(), 0600), 0);
  expect_refused(BeneathErrc::WrongKind);
}

TEST_F(ProjectSettings, FileOfAnotherUserIsNotRead) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change a file's owner";
  write("project/.claude/settings.json", kNoHooks);
  ASSERT_EQ(::chown((project + "/.claude/settings.json").c_str(), 65'534, 65'534), 0);
  expect_refused(BeneathErrc::Foreign);
}

TEST_F(ProjectSettings, FileThatIsTooLargeIsRefused) {
  write("project/.claude/settings.json", std::string(kMaxSettingsBytes + 1, ' '));
  EXPECT_FALSE(read());
}

}  // namespace
}  // namespace relay::hooks
