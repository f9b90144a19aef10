#include "config/trust.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <map>

namespace relay::config {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kOtherUid = 65534;

/// A project whose root another user owns.
struct ForeignProject : ::testing::Test {
  std::string root;
  Settings settings;
  std::map<std::string, std::string, std::less<>> variables;

  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to change the owner";
    std::string pattern = "/tmp/trust-XXXXXX";
    root = ::mkdtemp(pattern.data());
    ASSERT_EQ(::chown(root.c_str(), kOtherUid, kOtherUid), 0);
  }
  void TearDown() override {
    if (!root.empty()) fs::remove_all(root);
  }
  Result<void> check() {
    return check_trusted(root, Home{}, settings, [this](std::string_view name) -> std::optional<std::string> {
      const auto found = variables.find(name);
      return found == variables.end() ? std::nullopt : std::optional{found->second};
    });
  }
};

TEST_F(ForeignProject, IsRefusedWithAHint) {
  const auto checked = check();
  ASSERT_FALSE(checked.has_value());
  EXPECT_TRUE(is(checked.error(), Errc::NotTrusted));
  EXPECT_NE(checked.error().message().find("belongs to another user (uid 65534)"), std::string::npos);
  EXPECT_NE(checked.error().message().find("trusted_projects = \"" + root + "\""), std::string::npos);
}

TEST_F(ForeignProject, IsUsedWhenListedAsTrusted) {
  ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, "/somewhere/else").has_value());
  EXPECT_FALSE(check().has_value());
  ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, "/somewhere/else, " + root + "/").has_value());
  EXPECT_TRUE(check().has_value());
  ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, "*").has_value());
  EXPECT_TRUE(check().has_value());
}

TEST_F(ForeignProject, IsUsedUnderSudoOfItsOwner) {
  variables["SUDO_UID"] = "65534";
  EXPECT_TRUE(check().has_value());
  variables["SUDO_UID"] = "1000";
  EXPECT_FALSE(check().has_value());
}

const Environment kNothing = [](std::string_view) { return std::optional<std::string>{}; };

TEST(Trust, AcceptsProjectsOfThisUser) {
  std::string pattern = "/tmp/trust-XXXXXX";
  const std::string own = ::mkdtemp(pattern.data());
  EXPECT_EQ(trust_of(own, Home{}, Settings{}, kNothing), ProjectTrust::Trusted);
  fs::remove_all(own);
  EXPECT_TRUE(check_trusted("/nowhere/at/all", Home{}, Settings{}, kNothing).has_value())
      << "opening it reports the error";
}

TEST(Trust, TreatsSystemDirectoriesAsCommon) {
  for (const auto* root : {"/", "/tmp"}) {
    EXPECT_EQ(trust_of(root, Home{}, Settings{}, kNothing), ProjectTrust::Common) << root;
    EXPECT_TRUE(check_trusted(root, Home{}, Settings{}, kNothing).has_value()) << root;
    Settings settings;
    ASSERT_TRUE(settings.apply_flag(Setting::TrustedProjects, root).has_value());
    EXPECT_EQ(trust_of(root, Home{}, settings, kNothing), ProjectTrust::Trusted) << root;
  }
  Home home;
  home.projects = "/home/ada/.agent-relay/projects";
  const auto project = usable_project("/tmp", home, Settings{}, kNothing);
  EXPECT_TRUE(project.common);
  EXPECT_EQ(project.tree, project.directory);
  EXPECT_EQ(project.id, project_at("/tmp", home).id);
}

/// Seen by an ordinary user.
struct RootDirectory : ::testing::Test {
  std::string root;
  void SetUp() override {
    if (::geteuid() != 0) GTEST_SKIP() << "needs root, to create one";
    std::string pattern = "/tmp/trust-XXXXXX";
    root = ::mkdtemp(pattern.data());
    fs::permissions(root, fs::perms{0755});
  }
  void TearDown() override {
    if (!root.empty()) fs::remove_all(root);
  }
  [[nodiscard]] ProjectTrust trust() const {
    EXPECT_EQ(::seteuid(kOtherUid), 0);
    const auto found = trust_of(root, Home{}, Settings{}, kNothing);
    EXPECT_EQ(::seteuid(0), 0);
    return found;
  }
};

TEST_F(RootDirectory, IsCommonWithoutAMarkerAndForeignWithOne) {
  EXPECT_EQ(trust(), ProjectTrust::Common);
  fs::create_directory(root + "/.git");
  EXPECT_EQ(trust(), ProjectTrust::Foreign);
}

TEST_F(RootDirectory, IgnoresMarkersWhereAllUsersMayWrite) {
  fs::permissions(root, fs::perms{01777});
  fs::create_directory(root + "/.git");
  EXPECT_EQ(trust(), ProjectTrust::Common);
  fs::create_directory(root + "/mine");
  ASSERT_EQ(::chown((root + "/mine").c_str(), kOtherUid, kOtherUid), 0);
  ASSERT_EQ(::seteuid(kOtherUid), 0);
  const auto found = find_project_root(root + "/mine", Home{}, kNothing);
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_EQ(found, root + "/mine");
}

}  // namespace
}  // namespace relay::config
