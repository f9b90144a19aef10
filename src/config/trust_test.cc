#include "config/trust.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

namespace relay::config {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kSomebodyElse = 65534;

/// A project whose root another user owns.
struct AProjectOfAnotherUser : ::testing::Test {
  std::string root;
  Settings settings;
  std::map<std::string, std::string, std::less<>> variables;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "only root can give a directory away";
    std::string pattern = "/tmp/trust-XXXXXX";
    root = ::mkdtemp(pattern.data());
    ASSERT_EQ(::chown(root.c_str(), kSomebodyElse, kSomebodyElse), 0);
  }
  void TearDown() override {
    if (!root.empty()) fs::remove_all(root);
  }
  Result<void> check() {
    return check_trusted(root, settings, [this](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional{found->second};
    });
  }
};

TEST_F(AProjectOfAnotherUser, IsNotUsedAndTheSentenceSaysHowToAllowIt) {
  const auto checked = check();
  ASSERT_FALSE(checked.has_value());
  EXPECT_TRUE(is(checked.error(), Errc::NotTrusted));
  EXPECT_NE(checked.error().message().find("belongs to another user (uid 65534)"), std::string::npos);
  EXPECT_NE(checked.error().message().find("trusted_projects = \"" + root + "\""), std::string::npos);
}

TEST_F(AProjectOfAnotherUser, IsUsedWhenThePersonAllowsIt) {
  ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, "/somewhere/else").has_value());
  EXPECT_FALSE(check().has_value());
  ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, "/somewhere/else, " + root + "/").has_value());
  EXPECT_TRUE(check().has_value());
  ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, "*").has_value());
  EXPECT_TRUE(check().has_value());
}

TEST_F(AProjectOfAnotherUser, IsUsedByTheUserWhoCalledSudo) {
  variables["SUDO_UID"] = "65534";
  EXPECT_TRUE(check().has_value());
  variables["SUDO_UID"] = "1000";
  EXPECT_FALSE(check().has_value());
}

TEST(Trust, IsNotAskedForInOnesOwnProjectsAndInThoseOfRoot) {
  const Environment nothing = [](std::string_view) { return std::optional<std::string>{}; };
  EXPECT_TRUE(check_trusted(fs::temp_directory_path().string(), Settings{}, nothing).has_value());
  std::string pattern = "/tmp/trust-XXXXXX";
  const std::string own = ::mkdtemp(pattern.data());
  EXPECT_TRUE(check_trusted(own, Settings{}, nothing).has_value());
  fs::remove_all(own);
  EXPECT_TRUE(check_trusted("/nowhere/at/all", Settings{}, nothing).has_value()) << "whoever opens it says so";
}

}  // namespace
}  // namespace relay::config
