#include "capture/capture_log.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <filesystem>
#include <fstream>
#include <sstream>

namespace relay::capture {
namespace {

namespace fs = std::filesystem;

class CaptureLogTest : public testing::Test {
 protected:
  CaptureLogTest() {
    std::string pattern = (fs::temp_directory_path() / "relay-capture-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
  }
  ~CaptureLogTest() override { fs::remove_all(root_); }

  [[nodiscard]] std::string home() const { return root_ + "/.relay"; }
  [[nodiscard]] std::string file(const std::string& name) const { return home() + "/events/" + name; }
  [[nodiscard]] static mode_t mode_of(const std::string& path) {
    struct stat status{};
    EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
    return status.st_mode & 0777;
  }
  [[nodiscard]] static std::vector<std::string> lines_of(const std::string& path) {
    std::vector<std::string> lines;
    std::ifstream in{path};
    for (std::string line; std::getline(in, line);) lines.push_back(line);
    return lines;
  }
  [[nodiscard]] CaptureLog opened() const { return *CaptureLog::open(home()); }
  static Record prompt(std::string text, std::string session = "s") {
    return {{.session = std::move(session), .agent = "claude"}, RecordKind::Prompt, {{"text", std::move(text)}}};
  }

  std::string root_;
};

TEST_F(CaptureLogTest, WritesLinesToPrivateFiles) {
  auto log = opened();
  ASSERT_TRUE(log.append(prompt("one"), 1));
  ASSERT_TRUE(log.append(prompt("two"), 2));
  EXPECT_EQ(lines_of(file("s.jsonl")).size(), 2u);
  EXPECT_EQ(mode_of(home()), 0700u);
  EXPECT_EQ(mode_of(home() + "/events"), 0700u);
  EXPECT_EQ(mode_of(home() + "/VERSION"), 0600u);
  EXPECT_EQ(mode_of(file("s.jsonl")), 0600u);
  EXPECT_EQ(lines_of(home() + "/VERSION"), std::vector<std::string>{"1"});
}

TEST_F(CaptureLogTest, NeverInterleavesLinesOfParallelPrograms) {
  constexpr int kPrograms = 4;
  constexpr int kLines = 100;
  std::vector<pid_t> children;
  for (int program = 0; program < kPrograms; ++program) {
    const auto child = ::fork();
    if (child == 0) {
      bool good = true;
      for (int i = 0; i < kLines; ++i) {
        auto log = CaptureLog::open(home());
        good = good && log && log->append(prompt(std::string(static_cast<std::size_t>(i) * 100, 'x')), i);
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const auto child : children) {
    int status = 0;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  int events = 0;
  for (const auto& line : lines_of(file("s.jsonl"))) {
    if (line.empty()) continue;
    EXPECT_TRUE(parse_json_object(line)) << line;
    ++events;
  }
  EXPECT_EQ(events, kPrograms * kLines);
}

TEST_F(CaptureLogTest, TornLineCostsOnlyItself) {
  auto log = opened();
  ASSERT_TRUE(log.append(prompt("one"), 1));
  std::ofstream{file("s.jsonl"), std::ios::app} << R"({"v":1,"ts":)";
  ASSERT_TRUE(log.append(prompt("two"), 2));
  const auto lines = lines_of(file("s.jsonl"));
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(parse_json_object(lines.back()));
}

TEST_F(CaptureLogTest, RotatesFullFile) {
  auto log = opened();
  for (int round = 0; round < kMaxRotatedFiles + 3; ++round) {
    ASSERT_TRUE(log.append(prompt(std::to_string(round)), round));
    fs::resize_file(file("s.jsonl"), kMaxFileBytes);
  }
  ASSERT_TRUE(log.append(prompt("last"), 9));
  EXPECT_EQ(lines_of(file("s.jsonl")).size(), 1u);
  for (int number = 1; number <= kMaxRotatedFiles; ++number)
    EXPECT_TRUE(fs::exists(file("s.jsonl." + std::to_string(number)))) << number;
  EXPECT_FALSE(fs::exists(file("s.jsonl." + std::to_string(kMaxRotatedFiles + 1))));
}

TEST_F(CaptureLogTest, SessionNameNeverLeavesDirectory) {
  for (const auto* session : {"../../evil", "/etc/passwd", "..", ".", "a/b", ".hidden", "a\nb", "unknown"}) {
    const auto name = file_name_of(session);
    EXPECT_EQ(name.find('/'), std::string::npos) << session;
    EXPECT_FALSE(name.starts_with('.')) << session;
    EXPECT_NE(name, "unknown.jsonl");
  }
  EXPECT_EQ(file_name_of("47649650-e4f1-4292-9cf9-0eb95c7a65fe"), "47649650-e4f1-4292-9cf9-0eb95c7a65fe.jsonl");
  EXPECT_EQ(file_name_of(""), "unknown.jsonl");
  EXPECT_NE(file_name_of("a/b"), file_name_of("a:b"));
  EXPECT_LT(file_name_of(std::string(5000, 'x')).size(), 200u);
  EXPECT_NE(file_name_of(std::string(5000, 'x')), file_name_of(std::string(5001, 'x')));
  EXPECT_NE(file_name_of(std::string{"a\0b", 3}), file_name_of("a_b"));
}

TEST_F(CaptureLogTest, FollowsNoLink) {
  { auto log = opened(); }
  const auto secret = root_ + "/elsewhere";
  std::ofstream{secret} << "mine\n";
  fs::create_symlink(secret, file("s.jsonl"));
  auto log = opened();
  EXPECT_FALSE(log.append(prompt("x"), 1));
  EXPECT_EQ(lines_of(secret).size(), 1u);

  fs::remove_all(home() + "/events");
  fs::create_symlink(root_, home() + "/events");
  EXPECT_FALSE(CaptureLog::open(home()));
}

TEST_F(CaptureLogTest, DoesNotBlockOnAPipe) {
  { auto log = opened(); }
  ASSERT_EQ(::mkfifo(file("s.jsonl").c_str(), 0600), 0);
  auto log = opened();
  EXPECT_FALSE(log.append(prompt("x"), 1));
}

TEST_F(CaptureLogTest, RefusesLaterLayout) {
  { auto log = opened(); }
  std::ofstream{home() + "/VERSION"} << "2\n";
  const auto refused = CaptureLog::open(home());
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message().find("another version"), std::string::npos);
}

TEST_F(CaptureLogTest, RemovesFilesUnusedForTheRetention) {
  auto log = opened();
  ASSERT_TRUE(log.append(prompt("old", "old"), 1));
  ASSERT_TRUE(log.append(prompt("new", "new"), 1));
  fs::last_write_time(file("old.jsonl"), fs::file_time_type::clock::now() - kRetention - std::chrono::hours{1});
  ASSERT_TRUE(log.remove_old(SystemClock{}.now().wall));
  EXPECT_FALSE(fs::exists(file("old.jsonl")));
  EXPECT_TRUE(fs::exists(file("new.jsonl")));
}

TEST(HomeDirectory, PrefersRelayHomeOverDefault) {
  EXPECT_EQ(home_directory("/x", "/home/a"), "/x");
  EXPECT_EQ(home_directory("", "/home/a"), "/home/a/.relay");
  EXPECT_EQ(home_directory(std::nullopt, "/home/a"), "/home/a/.relay");
  EXPECT_FALSE(home_directory("relative", "/home/a"));
  EXPECT_FALSE(home_directory(std::nullopt, std::nullopt));
  EXPECT_FALSE(home_directory(std::nullopt, ""));
}

}  // namespace
}  // namespace relay::capture
