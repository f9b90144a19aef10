#include "adapters/codex_rollout.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "net/testing/temporary_directory.h"

namespace relay::adapters {
namespace {

constexpr std::string_view kThread = "01a1ee81-474e-7d43-b945-dbdab7298917";

struct OpenRolloutTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  std::filesystem::path day = std::filesystem::path{directory.path()} / "sessions/2026/11/18";

  OpenRolloutTest() { std::filesystem::create_directories(day); }
  std::string path_of(const std::string& name) const { return (day / name).string(); }
  std::string found() const { return find_open_rollout(::getpid(), directory.path()); }
};

TEST_F(OpenRolloutTest, IsRolloutThatAgentHasOpen) {
  const auto rollout_path = path_of("rollout-2026-11-18T11-53-32-01a1ee81-474e-7d43-b945-dbdab7298917.jsonl");
  EXPECT_EQ(found(), "");
  std::ofstream{path_of("rollout-2026-11-18T11-53-31-another.jsonl")} << "closed\n";
  const std::ofstream notes{path_of("notes.jsonl")};
  EXPECT_EQ(found(), "");
  const std::ofstream rollout{rollout_path};
  EXPECT_EQ(found(), rollout_path);
  EXPECT_EQ(thread_of_rollout(found()), kThread);
}

TEST_F(OpenRolloutTest, OldestOfSeveralIsFound) {
  const std::ofstream subagent{path_of("rollout-2026-11-18T12-00-00-b.jsonl")};
  const std::ofstream agent{path_of("rollout-2026-11-18T11-00-00-c.jsonl")};
  EXPECT_EQ(found(), path_of("rollout-2026-11-18T11-00-00-c.jsonl"));
}

TEST_F(OpenRolloutTest, IsFoundBehindLink) {
  std::filesystem::create_directory_symlink(directory.path(), directory.file("home"));
  const std::ofstream agent{path_of("rollout-2026-11-18T11-00-00-c.jsonl")};
  EXPECT_EQ(find_open_rollout(::getpid(), directory.file("home")), path_of("rollout-2026-11-18T11-00-00-c.jsonl"));
}

TEST_F(OpenRolloutTest, EndedProcessHasNone) { EXPECT_EQ(find_open_rollout(0, directory.path()), ""); }

TEST_F(OpenRolloutTest, CodexHomeIsVariableOrInHomeDirectory) {
  EXPECT_EQ(codex_home({.argv = {}, .environment = {"HOME=/h", "CODEX_HOME=/c"}, .directory = {}}), "/c");
  EXPECT_EQ(codex_home({.argv = {}, .environment = {"HOME=/h"}, .directory = {}}), "/h/.codex");
  EXPECT_EQ(thread_of_rollout("rollout-x.jsonl"), "");
}

}  // namespace
}  // namespace relay::adapters
