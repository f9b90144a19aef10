#include "cli/send/attachments.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "base/hash.h"
#include "cli/framework/failure.h"
#include "protocol/limits.h"
#include "text/utf8.h"

namespace relay::cli {
namespace {

namespace fs = std::filesystem;

class Attachments : public ::testing::Test {
 protected:
  Attachments() {
    std::string pattern = "/tmp/attachments-XXXXXX";
    root_ = ::mkdtemp(pattern.data());
  }
  ~Attachments() override { fs::remove_all(root_); }

  std::string file(const std::string& name, const std::string& content) const {
    const auto path = root_ + "/" + name;
    std::ofstream{path} << content;
    return path;
  }
  static std::string content_of(const std::string& path) {
    std::ifstream file{path};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  [[nodiscard]] std::size_t copy_count() const {
    const fs::directory_iterator all{root_ + "/.agent-relay/attachments"};
    return static_cast<std::size_t>(std::distance(begin(all), end(all)));
  }
  std::string error_of(const std::vector<std::string>& files, std::uint64_t most = kMaxAttachmentsTotalBytes) const {
    const auto copies = copy_attachments(root_, files, most);
    return copies ? "" : copies.error().message();
  }

  std::string root_;
};

TEST_F(Attachments, AreCopiedPrivately) {
  const auto copies = copy_attachments(root_, {file("my report.txt", "all green")}).value();
  ASSERT_EQ(copies.size(), 1U);
  EXPECT_EQ(content_of(root_ + "/.agent-relay/.gitignore"), "*\n") << "copies stay out of commits";
  EXPECT_EQ(copies[0].name, "my report.txt");
  EXPECT_EQ(copies[0].bytes, 9U);
  EXPECT_EQ(copies[0].sha256, sha256_hex("all green"));
  EXPECT_EQ(copies[0].path, root_ + "/.agent-relay/attachments/" + copies[0].sha256.substr(0, 16) + "-my_report.txt");
  EXPECT_EQ(content_of(copies[0].path), "all green");
  struct stat status{};
  ASSERT_EQ(::stat(copies[0].path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  ASSERT_EQ(::stat(fs::path{copies[0].path}.parent_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0700U);
}

TEST_F(Attachments, SameFileIsStoredOnceAndModifiedCopyIsReplaced) {
  const auto source = file("a.txt", "one");
  const auto first = copy_attachments(root_, {source}).value().front().path;
  EXPECT_EQ(copy_attachments(root_, {source, source}).value().back().path, first);
  EXPECT_EQ(copy_count(), 1U);
  std::ofstream{first} << "overwritten";
  EXPECT_EQ(copy_attachments(root_, {source}).value().front().path, first);
  EXPECT_EQ(content_of(first), "one");
  file("a.txt", "two");
  EXPECT_NE(copy_attachments(root_, {source}).value().front().path, first);
  EXPECT_EQ(content_of(first), "one") << "what was sent stays as it was sent";
}

TEST_F(Attachments, AcceptOnlyRegularFilesAndNoLinks) {
  const auto target = file("secret", "x");
  fs::create_symlink(target, root_ + "/link");
  EXPECT_EQ(error_of({root_ + "/link"}), root_ + "/link is a link; attach the file that it points to");
  EXPECT_NE(error_of({root_}).find("is not a regular file"), std::string::npos);
  EXPECT_NE(error_of({"/dev/null"}).find("is not a regular file"), std::string::npos);
  ASSERT_EQ(::mkfifo((root_ + "/pipe").c_str(), 0600), 0);
  EXPECT_NE(error_of({root_ + "/pipe"}).find("is not a regular file"), std::string::npos) << "without blocking";
  EXPECT_NE(error_of({root_ + "/absent"}).find("cannot attach"), std::string::npos);
  EXPECT_EQ(copy_count(), 0U);
}

TEST_F(Attachments, NeverWriteThroughDirectoryLink) {
  const auto source = file("a.txt", "one");
  fs::create_directory(root_ + "/.agent-relay");
  fs::create_symlink("/tmp", root_ + "/.agent-relay/attachments");
  EXPECT_NE(error_of({source}).find("is a link"), std::string::npos);
}

TEST_F(Attachments, RefuseNameWithNewlineBeforeCopying) {
  for (const auto* name : {"two\nlines", "a\rb", "bell\a", "escape\x1b[2J", "delete\x7f"}) {
    const auto refused = copy_attachments(root_, {file("fine.txt", "x"), file(name, "y")});
    ASSERT_FALSE(refused.has_value()) << name;
    EXPECT_EQ(exit_reason(refused.error()).code, ExitCode::Refused);
    EXPECT_FALSE(text::has_control_characters(refused.error().message()));
    EXPECT_NE(refused.error().message().find("rename it first"), std::string::npos) << refused.error().message();
  }
  EXPECT_FALSE(fs::exists(root_ + "/.agent-relay/attachments"));
  EXPECT_EQ(copy_attachments(root_, {file("caf\xc3\xa9 1.txt", "x")}).value().front().name, "caf\xc3\xa9 1.txt");
}

TEST_F(Attachments, AreBounded) {
  const auto large = file("large.bin", "x");
  fs::resize_file(large, kMaxAttachmentBytes + 1);
  const auto refused = copy_attachments(root_, {large});
  ASSERT_FALSE(refused.has_value());
  EXPECT_EQ(exit_reason(refused.error()).code, ExitCode::Refused);
  EXPECT_NE(refused.error().message().find("at most 16.8 MB"), std::string::npos) << refused.error().message();
  EXPECT_NE(error_of(std::vector<std::string>(protocol::kMaxAttachments + 1, large)).find("17 files are attached"),
            std::string::npos);
  const auto ten = file("ten", "0123456789");
  EXPECT_EQ(error_of({ten}, 15), "");
  EXPECT_EQ(error_of({ten}, 15), "") << "already copied";
  EXPECT_NE(error_of({file("other", "9876543210")}, 15).find("remove old ones from " + root_), std::string::npos);
}

TEST(SafeFileName, HasNoShellCharacters) {
  EXPECT_EQ(safe_file_name("/a/b/Report 1.txt"), "Report_1.txt");
  EXPECT_EQ(safe_file_name("$(rm -rf).sh"), "__rm_-rf_.sh");
  EXPECT_EQ(safe_file_name(".hidden"), "_hidden");
  EXPECT_EQ(safe_file_name("-rf"), "_rf");
  EXPECT_EQ(safe_file_name("a/"), "file");
  EXPECT_EQ(safe_file_name(std::string(300, 'x') + ".md").size(), 100U);
  EXPECT_TRUE(safe_file_name(std::string(300, 'x') + ".md").ends_with("x.md"));
}

}  // namespace
}  // namespace relay::cli
