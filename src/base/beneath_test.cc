#include "base/beneath.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/directory.h"
#include "base/format.h"

namespace relay {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kOtherUid = 65534;

/// A project written by another user, beside a file that must not change.
struct ForeignProject : ::testing::Test {
  std::string outside, root;
  UniqueFd directory;

  void SetUp() override {
    char pattern[] = "/tmp/beneath-XXXXXX";
    outside = ::mkdtemp(pattern);
    root = outside + "/project";
    fs::create_directories(root + "/inside");
    fs::create_directories(outside + "/.ssh");
    std::ofstream{outside + "/.bashrc"} << "precious";
    std::ofstream{root + "/inside/plain"} << "text";
    directory.reset(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  }
  void TearDown() override { fs::remove_all(outside); }
};

struct Beneath : ForeignProject, ::testing::WithParamInterface<Resolution> {
  /// The errno of the attempt, 0 when it is open.
  [[nodiscard]] int attempt(const std::string& path, int flags = O_RDONLY | O_NONBLOCK) const {
    return resolve_beneath(directory.get(), path, flags, 0600, GetParam()) ? 0 : errno;
  }
};

TEST_P(Beneath, OpensFilesInside) {
  EXPECT_EQ(attempt("inside"), 0);
  EXPECT_EQ(attempt("inside/plain"), 0);
  EXPECT_EQ(attempt("inside/none"), ENOENT);
  EXPECT_EQ(attempt("inside/new", O_WRONLY | O_CREAT), 0);
}

TEST_P(Beneath, FollowsNoLinkInPath) {
  fs::create_symlink("../.bashrc", root + "/out");
  fs::create_symlink("inside", root + "/in");
  fs::create_symlink("plain", root + "/inside/same");
  EXPECT_NE(attempt("out"), 0);
  EXPECT_NE(attempt("in/plain"), 0);
  EXPECT_NE(attempt("inside/same"), 0);
  EXPECT_NE(attempt("inside/same", O_WRONLY | O_CREAT), 0);
}

TEST_P(Beneath, NeverLeavesDirectory) {
  EXPECT_NE(attempt("../.bashrc"), 0);
  EXPECT_NE(attempt(outside + "/.bashrc"), 0);
  EXPECT_NE(attempt("inside/../../.bashrc"), 0);
  EXPECT_NE(attempt(""), 0);
}

INSTANTIATE_TEST_SUITE_P(Resolutions, Beneath, ::testing::Values(Resolution::Kernel, Resolution::Stepwise));

TEST_F(ForeignProject, PipeIsRefusedWithoutWaiting) {
  ASSERT_EQ(::mkfifo((root + "/pipe").c_str(), 0600), 0);
  for (const int flags : {O_RDONLY, O_WRONLY | O_APPEND, O_RDWR}) {
    const auto opened = open_file_beneath({directory.get(), "pipe", root + "/pipe"}, flags);
    ASSERT_FALSE(opened.has_value()) << flags;
    EXPECT_TRUE(is(opened.error(), BeneathErrc::WrongKind)) << opened.error().message();
  }
}

TEST_F(ForeignProject, ErrorNamesLink) {
  fs::create_symlink(outside + "/.ssh", root + "/.agent-relay");
  const auto opened = open_directory_beneath({directory.get(), ".agent-relay", root + "/.agent-relay"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_TRUE(is(opened.error(), BeneathErrc::Link)) << opened.error().message();
  EXPECT_NE(opened.error().message().find(".agent-relay is a link"), std::string::npos) << opened.error().message();
}

TEST_F(ForeignProject, FileOfAnotherUserIsRefused) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to change the owner";
  ASSERT_EQ(::chown((root + "/inside").c_str(), kOtherUid, kOtherUid), 0);
  ASSERT_EQ(::chown((root + "/inside/plain").c_str(), kOtherUid, kOtherUid), 0);
  const auto folder = open_directory_beneath({directory.get(), "inside", root + "/inside"});
  ASSERT_FALSE(folder.has_value());
  EXPECT_TRUE(is(folder.error(), BeneathErrc::Foreign)) << folder.error().message();
  const auto file = open_file_beneath({directory.get(), "inside/plain", root + "/inside/plain"}, O_RDONLY);
  ASSERT_FALSE(file.has_value());
  EXPECT_TRUE(is(file.error(), BeneathErrc::Foreign)) << file.error().message();
  EXPECT_NE(file.error().message().find(format("uid {}", kOtherUid)), std::string::npos) << file.error().message();
}

TEST_F(ForeignProject, NothingIsCreatedInDirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to change the owner";
  fs::create_directories(root + "/.agent-relay");
  ASSERT_EQ(::chown((root + "/.agent-relay").c_str(), kOtherUid, kOtherUid), 0);
  const auto opened = DiskDirectory::open_inside(root, {".agent-relay", "agents", "Alice"});
  ASSERT_FALSE(opened.has_value());
  EXPECT_NE(opened.error().message().find("belongs to another user"), std::string::npos) << opened.error().message();
  EXPECT_TRUE(fs::is_empty(root + "/.agent-relay"));
}

TEST_F(ForeignProject, DirectoryWritesToNoPipeAndFollowsNoLink) {
  const auto inside = DiskDirectory::open_inside(root, {"inside"});
  ASSERT_TRUE(inside.has_value());
  ASSERT_EQ(::mkfifo((root + "/inside/pipe").c_str(), 0600), 0);
  EXPECT_FALSE((*inside)->read("pipe", 10).has_value());
  EXPECT_FALSE((*inside)->open_append("pipe").has_value());
  EXPECT_FALSE((*inside)->open_shared("pipe").has_value());
  EXPECT_FALSE((*inside)->lock("pipe").has_value());
  EXPECT_TRUE((*inside)->create("pipe").has_value()) << "a new file replaces it";
  EXPECT_TRUE(fs::is_regular_file(root + "/inside/pipe"));
  fs::create_symlink("../../.bashrc", root + "/inside/link");
  EXPECT_FALSE((*inside)->open_append("link").has_value());
  const auto fresh = (*inside)->create("link");
  ASSERT_TRUE(fresh.has_value());
  ASSERT_TRUE((*fresh)->append("new").has_value());
  EXPECT_EQ(fs::file_size(outside + "/.bashrc"), 8U) << "the link was replaced, not followed";
}

}  // namespace
}  // namespace relay
