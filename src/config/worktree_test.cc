#include "config/worktree.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace relay::config {
namespace {

namespace fs = std::filesystem;

/// A repository with one linked worktree, as `git worktree add ../side` leaves them.
struct Worktree : ::testing::Test {
  Worktree() {
    std::string pattern = "/tmp/worktree-XXXXXX";
    top = fs::canonical(::mkdtemp(pattern.data())).string();
    main = top + "/main";
    side = top + "/side";
    own = main + "/.git/worktrees/side";
    fs::create_directories(own);
    fs::create_directories(side);
    write(side + "/.git", "gitdir: " + own + "\n");
    write(own + "/commondir", "../..\n");
    write(own + "/gitdir", side + "/.git\n");
  }
  ~Worktree() override { fs::remove_all(top); }
  static void write(const std::string& path, const std::string& text) { std::ofstream{path} << text; }

  std::string top, main, side, own;
};

TEST_F(Worktree, MapsALinkedOneToTheMainOne) { EXPECT_EQ(main_worktree_of(side), main); }

TEST_F(Worktree, MapsRelativePathsToTheMainOne) {
  write(side + "/.git", "gitdir: ../main/.git/worktrees/side\n");
  write(own + "/gitdir", "../../../../side/.git\n");
  EXPECT_EQ(main_worktree_of(side), main);
}

TEST_F(Worktree, FindsNoMainOneForAMainOrPlainDirectory) {
  EXPECT_EQ(main_worktree_of(main), std::nullopt);
  EXPECT_EQ(main_worktree_of(top), std::nullopt);
}

TEST_F(Worktree, IsFoundFromBelow) {
  fs::create_directories(side + "/a/b");
  const auto around = linked_worktree_around(side + "/a/b");
  ASSERT_TRUE(around);
  EXPECT_EQ(around->root, side);
  EXPECT_EQ(around->main, main);
  EXPECT_TRUE(linked_worktree_around(side));
  EXPECT_FALSE(linked_worktree_around(main));
  fs::create_directories(side + "/a/.git");
  EXPECT_FALSE(linked_worktree_around(side + "/a/b")) << "a separate repository inside it";
}

TEST_F(Worktree, TreatsASubmoduleAsSeparate) {
  fs::create_directories(main + "/.git/modules/sub");
  fs::create_directories(main + "/sub");
  write(main + "/sub/.git", "gitdir: ../.git/modules/sub\n");
  EXPECT_EQ(main_worktree_of(main + "/sub"), std::nullopt);
}

TEST_F(Worktree, TreatsOneOfABareRepositoryAsSeparate) {
  fs::rename(main + "/.git", top + "/bare.git");
  write(side + "/.git", "gitdir: " + top + "/bare.git/worktrees/side\n");
  EXPECT_EQ(main_worktree_of(side), std::nullopt);
}

TEST_F(Worktree, TreatsAnUnregisteredOneAsSeparate) {
  fs::create_directories(top + "/unpacked");
  write(top + "/unpacked/.git", "gitdir: " + own + "\n");
  EXPECT_EQ(main_worktree_of(top + "/unpacked"), std::nullopt);
}

TEST_F(Worktree, TreatsOneWithDamagedFilesAsSeparate) {
  for (const auto* text : {"", "gitdir: ", "gitdir: /nowhere/at/all\n", "something else\n"}) {
    write(side + "/.git", text);
    EXPECT_EQ(main_worktree_of(side), std::nullopt) << text;
  }
  write(side + "/.git", "gitdir: " + std::string(2 * kMaxGitFileBytes, 'x'));
  EXPECT_EQ(main_worktree_of(side), std::nullopt);
  fs::remove(side + "/.git");
  ASSERT_EQ(::mkfifo((side + "/.git").c_str(), 0600), 0);
  EXPECT_EQ(main_worktree_of(side), std::nullopt) << "a pipe does not block";
}

}  // namespace
}  // namespace relay::config
