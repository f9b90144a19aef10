#include "daemon/event_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utime.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;

struct EventFileTest : ::testing::Test {
  std::string directory = [] {
    std::string name = fs::temp_directory_path() / "relay-events-XXXXXX";
    return std::string{::mkdtemp(name.data())};
  }();
  ~EventFileTest() override { fs::remove_all(directory); }

  static std::vector<records::EncodedEvent> numbered(records::EventSeq from, records::EventSeq to, WallMs at = 1'000) {
    std::vector<records::EncodedEvent> events;
    for (auto n = from; n <= to; ++n) events.push_back({n, "item.started", format(R"({{"_seq":{},"_ts":{}}})", n, at)});
    return events;
  }
  [[nodiscard]] std::string path() const { return directory + "/events.jsonl"; }
  [[nodiscard]] std::string text() const {
    std::ifstream file{path()};
    return {std::istreambuf_iterator<char>{file}, {}};
  }
  void write(const std::string& text) const { std::ofstream{path()} << text; }
  [[nodiscard]] std::vector<std::string> files() const {
    std::vector<std::string> names;
    for (const auto& entry : fs::directory_iterator{directory}) names.push_back(entry.path().filename());
    std::ranges::sort(names);
    return names;
  }
};

using Names = std::vector<std::string>;

TEST_F(EventFileTest, ContinuesAfterTheLastEvent) {
  {
    EventFile file{directory};
    EXPECT_EQ(file.open(0).value(), 0u);
    ASSERT_TRUE(file.append(numbered(1, 3), 1'000));
  }
  EventFile file{directory};
  EXPECT_EQ(file.open(7).value(), 3u);
  ASSERT_TRUE(file.append(numbered(4, 4), 1'000));
  EXPECT_EQ(std::ranges::count(text(), '\n'), 4);
  struct stat status{};
  ASSERT_EQ(::stat(path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
}

TEST_F(EventFileTest, TornLastLineIsCutOff) {
  for (const auto* torn : {R"({"_seq":2,"_t)", "{", "\xff\xfe"}) {
    write("{\"_seq\":1,\"_ts\":5}\n" + std::string{torn});
    EventFile file{directory};
    EXPECT_EQ(file.open(9).value(), 1u) << torn;
    EXPECT_EQ(text(), "{\"_seq\":1,\"_ts\":5}\n");
  }
  write(R"({"_seq":1)");
  EventFile file{directory};
  EXPECT_EQ(file.open(9).value(), 0u);
  EXPECT_EQ(text(), "");
}

TEST_F(EventFileTest, FileOfAnotherStoreIsRotated) {
  write("{\"_seq\":41,\"_ts\":5}\n{\"_seq\":42,\"_ts\":5}\n");
  EventFile file{directory};
  EXPECT_EQ(file.open(7).value(), 0u);
  EXPECT_EQ(files(), (Names{"events-000000000041.jsonl", "events.jsonl"}));
}

TEST_F(EventFileTest, FileInAnotherFormatIsRotated) {
  write("hello\nworld\n");
  EventFile file{directory};
  EXPECT_EQ(file.open(7).value(), 0u);
  EXPECT_EQ(text(), "");
  EXPECT_EQ(files().size(), 2u);
}

TEST_F(EventFileTest, FileIsRotatedDaily) {
  EventFile file{directory};
  ASSERT_TRUE(file.open(0));
  ASSERT_TRUE(file.append(numbered(1, 2), 1'000));
  ASSERT_TRUE(file.append(numbered(3, 3), 1'000 + kMaxEventFileAgeMs));
  ASSERT_TRUE(file.append(numbered(4, 4), 1'001 + kMaxEventFileAgeMs));
  EXPECT_EQ(files(), (Names{"events-000000000001.jsonl", "events.jsonl"}));
  EXPECT_EQ(text(), "{\"_seq\":4,\"_ts\":1000}\n");
}

TEST_F(EventFileTest, ContinuesAfterARotationWithoutANewFile) {
  {
    EventFile file{directory};
    ASSERT_TRUE(file.open(0));
    ASSERT_TRUE(file.append(numbered(1, 5), 1'000));
  }
  fs::rename(path(), directory + "/events-000000000001.jsonl");
  EventFile file{directory};
  EXPECT_EQ(file.open(9).value(), 5u) << "nothing is written twice";
}

TEST_F(EventFileTest, OldFilesAreRemoved) {
  for (const auto* name : {"events-000000000001.jsonl", "events-000000000009.jsonl", "other-1.jsonl"})
    std::ofstream{directory + "/" + name} << "{}\n";
  const utimbuf long_ago{100, 100};
  ::utime((directory + "/events-000000000001.jsonl").c_str(), &long_ago);
  ::utime((directory + "/other-1.jsonl").c_str(), &long_ago);
  EventFile file{directory};
  ASSERT_TRUE(file.open(0));
  file.remove_before(200'000);
  EXPECT_EQ(files(), (Names{"events-000000000009.jsonl", "events.jsonl", "other-1.jsonl"}));
}

TEST_F(EventFileTest, ErrorNamesTheFile) {
  EventFile file{directory + "/nowhere"};
  EXPECT_NE(file.open(0).error().message().find("events.jsonl"), std::string::npos);
}

}  // namespace
}  // namespace relay::daemon
