#include "daemon/policy_file_watcher.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::daemon {
namespace {

using permissions::Action;

struct PolicyFileWatcherTest : ::testing::Test {
  net::testing::TemporaryDirectory place;
  net::AsioLoop loop;
  config::Home home;
  std::shared_ptr<const permissions::Policy> policy;
  broker::SpawnPolicy spawn;

  PolicyFileWatcherTest() {
    home.root = place.path();
    home.config_file = place.file("config.toml");
  }
  void write(const std::string& text) const { std::ofstream{home.config_file} << text; }
  PolicyFileWatcher follow() {
    return {loop, home, [this](const Rules& newest) {
              policy = newest.permissions;
              spawn = *newest.spawn;
            }};
  }
  Action decided(const std::string& command) const {
    return policy->decide({.tool = "Bash", .command = command, .directory = "/p"}).action;
  }
  bool becomes(const std::string& command, Action action) {
    return net::testing::run_until(loop, [&] { return decided(command) == action; });
  }
};

constexpr auto kMake =
    "[permissions]\npreset = \"read-only\"\n[[permissions.rules]]\ntool = \"bash\"\ncommand = \"make\"\naction = "
    "\"approve\"\n";

TEST_F(PolicyFileWatcherTest, ApprovesNothingWithoutAFile) {
  const auto rules = follow();
  EXPECT_EQ(decided("ls"), Action::Ask);
  EXPECT_EQ(decided("make"), Action::Ask);
}

TEST_F(PolicyFileWatcherTest, AppliesChangesAndLeavesEverythingToTheUserWhileTheFileIsInvalid) {
  const auto rules = follow();
  write(kMake);
  EXPECT_TRUE(becomes("make", Action::Approve));
  write("[[permissions]]\naction = \"perhaps\"\n");
  EXPECT_TRUE(becomes("ls", Action::Ask)) << "not even what the preset approves";
  write(kMake);
  EXPECT_TRUE(becomes("make", Action::Approve));
  EXPECT_EQ(decided("ls"), Action::Approve);
}

TEST_F(PolicyFileWatcherTest, LeavesEverythingToTheUserWhenAnotherSettingIsInvalid) {
  write(kMake);
  auto rules = follow();
  EXPECT_EQ(decided("make"), Action::Approve);
  write(std::string{"heartbeat_ms = \"often\"\n"} + kMake);
  const auto outcome = rules.read();
  ASSERT_FALSE(outcome);
  EXPECT_NE(outcome.error().message().find("heartbeat_ms"), std::string::npos) << outcome.error().message();
  EXPECT_EQ(decided("make"), Action::Ask);
}

TEST_F(PolicyFileWatcherTest, AgentsStartOthersOnlyIfTheFileAllowsIt) {
  auto rules = follow();
  EXPECT_EQ(spawn.by_agents, broker::SpawnByAgents::Off);
  write("[spawn]\nby_agents = \"profiles\"\n");
  std::filesystem::create_directory(place.file("profiles"));
  std::ofstream{place.file("profiles/own.toml")} << "name = \"own\"\ntitle = \"mine\"\ncommands = [\"mine\"]\n";
  EXPECT_TRUE(rules.read());
  EXPECT_EQ(spawn.by_agents, broker::SpawnByAgents::Profiles);
  for (const auto* program : {"claude", "codex", "gemini", "opencode", "mine"})
    EXPECT_TRUE(spawn.programs.contains(program)) << program;
  EXPECT_FALSE(spawn.programs.contains("sh"));
  write("[spawn]\nby_agents = \"profiles\"\nby_users = true\n");
  EXPECT_FALSE(rules.read());
  EXPECT_EQ(spawn.by_agents, broker::SpawnByAgents::Off) << "a file with a mistake allows nothing";
}

TEST_F(PolicyFileWatcherTest, ReadsAReplacedFileAndRefusesAnUnreadableOne) {
  write(kMake);
  const auto rules = follow();
  EXPECT_EQ(decided("make"), Action::Approve);
  std::ofstream{place.file("other")} << "[[permissions]]\ntool = \"bash\"\ncommand = \"ls\"\naction = \"deny\"\n";
  std::filesystem::rename(place.file("other"), home.config_file);
  EXPECT_TRUE(becomes("ls", Action::Deny));
  std::filesystem::remove(home.config_file);
  std::filesystem::create_directory(home.config_file);
  EXPECT_TRUE(becomes("ls", Action::Ask));
}

}  // namespace
}  // namespace relay::daemon
