#include "adapters/codex_rollout.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "net/testing/temporary_directory.h"

namespace relay::adapters {
namespace {

constexpr std::string_view kThread = "01a1ee81-474e-7d43-b945-dbdab7298917";

struct OpenRollout : ::testing::Test {
  net::testing::TemporaryDirectory place;
  std::filesystem::path day = std::filesystem::path{place.path()} / "sessions/2026/11/18";

  OpenRollout() { std::filesystem::create_directories(day); }
  std::string named(const std::string& name) const { return (day / name).string(); }
  std::string found() const { return find_open_rollout(::getpid(), place.path()); }
};

TEST_F(OpenRollout, IsTheRolloutThatTheAgentHasOpen) {
  const auto mine = named("rollout-2026-11-18T11-53-32-01a1ee81-474e-7d43-b945-dbdab7298917.jsonl");
  EXPECT_EQ(found(), "");
  std::ofstream{named("rollout-2026-11-18T11-53-31-another.jsonl")} << "closed\n";
  const std::ofstream notes{named("notes.jsonl")};
  EXPECT_EQ(found(), "");
  const std::ofstream rollout{mine};
  EXPECT_EQ(found(), mine);
  EXPECT_EQ(thread_of_rollout(found()), kThread);
}

TEST_F(OpenRollout, OfSeveralIsTheOldest) {
  const std::ofstream subagent{named("rollout-2026-11-18T12-00-00-b.jsonl")};
  const std::ofstream agent{named("rollout-2026-11-18T11-00-00-c.jsonl")};
  EXPECT_EQ(found(), named("rollout-2026-11-18T11-00-00-c.jsonl"));
}

TEST_F(OpenRollout, IsFoundBehindALink) {
  std::filesystem::create_directory_symlink(place.path(), place.file("home"));
  const std::ofstream agent{named("rollout-2026-11-18T11-00-00-c.jsonl")};
  EXPECT_EQ(find_open_rollout(::getpid(), place.file("home")), named("rollout-2026-11-18T11-00-00-c.jsonl"));
}

TEST_F(OpenRollout, OfAProcessThatHasEndedIsNone) { EXPECT_EQ(find_open_rollout(0, place.path()), ""); }

TEST_F(OpenRollout, HomeIsTheVariableOrBelowTheHomeDirectory) {
  EXPECT_EQ(codex_home({.argv = {}, .environment = {"HOME=/h", "CODEX_HOME=/c"}, .directory = {}}), "/c");
  EXPECT_EQ(codex_home({.argv = {}, .environment = {"HOME=/h"}, .directory = {}}), "/h/.codex");
  EXPECT_EQ(thread_of_rollout("rollout-x.jsonl"), "");
}

}  // namespace
}  // namespace relay::adapters
