#include "daemon/rules_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::daemon {
namespace {

using permissions::Action;

struct RulesFileTest : ::testing::Test {
  net::testing::TemporaryDirectory place;
  net::AsioLoop loop;
  config::Home home;
  std::shared_ptr<const permissions::Policy> policy;

  RulesFileTest() { home.config_file = place.file("config.toml"); }
  void write(const std::string& text) const { std::ofstream{home.config_file} << text; }
  RulesFile follow() {
    return {loop, home, [this](auto newest) { policy = std::move(newest); }};
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

TEST_F(RulesFileTest, WithoutAFileNothingIsApproved) {
  const auto rules = follow();
  EXPECT_EQ(decided("ls"), Action::Ask);
  EXPECT_EQ(decided("make"), Action::Ask);
}

TEST_F(RulesFileTest, AChangeIsSeenAndAMistakeLeavesEverythingToAPersonUntilItIsMended) {
  const auto rules = follow();
  write(kMake);
  EXPECT_TRUE(becomes("make", Action::Approve));
  write("[[permissions]]\naction = \"perhaps\"\n");
  EXPECT_TRUE(becomes("ls", Action::Ask)) << "not even what the preset approves";
  write(kMake);
  EXPECT_TRUE(becomes("make", Action::Approve));
  EXPECT_EQ(decided("ls"), Action::Approve);
}

TEST_F(RulesFileTest, AFileThatIsPutInItsPlaceIsSeenAndOneThatCannotBeReadRefused) {
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
