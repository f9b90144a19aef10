#include "permissions/path_matching.h"

#include <gtest/gtest.h>

namespace relay::permissions {
namespace {

bool glob_matches(const std::string& glob, std::string_view path, std::string_view directory = "/w") {
  const std::vector<std::string> globs = {glob};
  return matches_path(Pattern::of_files(globs, Matching::Strict).value(), path, directory);
}

TEST(PathMatching, NormalizesPaths) {
  EXPECT_EQ(normalize_path("a/b", "/w"), "/w/a/b");
  EXPECT_EQ(normalize_path("../x", "/w"), "/x");
  EXPECT_EQ(normalize_path("/a//b/./c/../d/", ""), "/a/b/d");
  EXPECT_EQ(normalize_path("/../..", ""), "/");
  EXPECT_EQ(normalize_path("a/../../b", ""), "../b");
  EXPECT_EQ(normalize_path("~/x", "/w"), "~/x");
  EXPECT_EQ(normalize_path("~/../etc", "/w"), "~/../etc") << "the parents of a home directory are unknown";
  EXPECT_EQ(normalize_path("/w/~a/../../etc", ""), "/etc");
  EXPECT_EQ(normalize_path("", "/w"), "/w");
  EXPECT_EQ(normalize_path("", ""), ".");
}

TEST(PathMatching, InsideIncludesTheDirectoryAndBelow) {
  EXPECT_TRUE(is_inside("/w/a", "/w"));
  EXPECT_TRUE(is_inside("/w", "/w/"));
  EXPECT_FALSE(is_inside("/work", "/w"));
  EXPECT_FALSE(is_inside("~/w", "/w"));
  EXPECT_FALSE(is_inside("/a", "")) << "unknown directory";
  EXPECT_TRUE(is_inside("a", ""));
  EXPECT_FALSE(is_inside("../a", ""));
  EXPECT_TRUE(is_inside("/a", "/"));
}

TEST(PathMatching, GlobsAreAnchoredAsWritten) {
  EXPECT_TRUE(glob_matches(".env", "a/.env"));
  EXPECT_TRUE(glob_matches(".env", "/elsewhere/.env"));
  EXPECT_FALSE(glob_matches(".env", "a/x.env"));
  EXPECT_TRUE(glob_matches("*.pem", "/k/a.pem"));
  EXPECT_TRUE(glob_matches(".ssh/", "~/.ssh/id"));
  EXPECT_TRUE(glob_matches(".ssh/", "/home/x/.ssh"));
  EXPECT_FALSE(glob_matches(".ssh/", "/home/x/.sshd/id"));
  EXPECT_TRUE(glob_matches("./src/**", "src/a/b.cc"));
  EXPECT_TRUE(glob_matches("./src/**", "/w/src/a.cc"));
  EXPECT_FALSE(glob_matches("./src/**", "/v/src/a.cc"));
  EXPECT_FALSE(glob_matches("./src/**", "src/../Makefile"));
  EXPECT_TRUE(glob_matches("src/*.cc", "/w/src/a.cc"));
  EXPECT_FALSE(glob_matches("src/*.cc", "/w/src/b/a.cc"));
  EXPECT_TRUE(glob_matches("/etc/**", "/etc/passwd"));
  EXPECT_TRUE(glob_matches("/w/**", "a"));
  EXPECT_TRUE(glob_matches("~/notes/*", "/home/x/notes/a"));
  EXPECT_TRUE(glob_matches("~/notes/*", "~/notes/a"));
  EXPECT_TRUE(glob_matches("**/gh/hosts.yml", "~/.config/gh/hosts.yml"));
  EXPECT_TRUE(glob_matches("a.c", "/w/a.c"));
  EXPECT_FALSE(glob_matches("a.c", "/w/abc"));
  EXPECT_FALSE(glob_matches("a+(b)", "/w/aab")) << "characters are literal";
}

TEST(PathMatching, DetectsAutorunPathsByName) {
  for (const auto* path : {".git/hooks/pre-commit", "/w/.git/config", "~/.bashrc", "/home/x/.zshrc", "/etc/crontab",
                           ".claude/settings.json", "/usr/bin/ls", "~/.ssh/authorized_keys", ".GIT/config"})
    EXPECT_TRUE(is_autorun_path(path, "/w")) << path;
  for (const auto* path : {"src/a.cc", "git/x", ".github/x.md", "etc/x"})
    EXPECT_FALSE(is_autorun_path(path, "/w")) << path;
  EXPECT_FALSE(is_autorun_path("/usr/src/app/a.cc", "/usr/src/app")) << "the agent works there";
  EXPECT_FALSE(is_autorun_path("a.cc", "/w/.claude/worktrees/x"));
}

}  // namespace
}  // namespace relay::permissions
