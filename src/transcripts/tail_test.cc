#include "transcripts/tail.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/format.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::transcripts {
namespace {

using net::testing::run_until;
using net::testing::TemporaryDirectory;
using Lines = std::vector<std::string>;

void append(const std::string& path, const std::string& text) { std::ofstream{path, std::ios::app} << text; }

struct Following final : TailListener {
  explicit Following(const std::string& path, Tail::From from = Tail::From::Start) {
    auto followed = Tail::follow(loop, path, from, *this);
    RELAY_ASSERT(followed.has_value());
    tail = *std::move(followed);
  }
  void on_line(const Line& line) override {
    lines.push_back((line.preexisting ? "earlier " : "") + std::string{line.text.substr(0, 40)});
    offsets.push_back(line.offset);
    if (when_line) when_line();
  }
  void on_restart() override { lines.emplace_back("(restart)"); }
  void on_removed() override { lines.emplace_back("(removed)"); }
  void on_problem(const std::string& message) override { problems.push_back(message); }

  bool receives(std::size_t count) {
    return run_until(loop, [&] { return lines.size() >= count; });
  }

  net::AsioLoop loop;
  Lines lines;
  std::vector<std::uint64_t> offsets;
  Lines problems;
  std::function<void()> when_line;
  std::unique_ptr<Tail> tail;
};

TEST(Tail, DeliversExistingAndNewLines) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\ntwo\n");
  Following following{path};
  ASSERT_TRUE(following.receives(2));
  append(path, "three\n");
  ASSERT_TRUE(following.receives(3));
  EXPECT_EQ(following.lines, (Lines{"earlier one", "earlier two", "three"}));
  EXPECT_EQ(following.offsets, (std::vector<std::uint64_t>{0, 4, 8}));
}

TEST(Tail, WaitsForAMissingFile) {
  const TemporaryDirectory directory;
  const auto path = directory.file("projects/record.jsonl");
  Following following{path, Tail::From::End};
  std::filesystem::create_directory(directory.file("projects"));
  append(path, "one\n");
  ASSERT_TRUE(following.receives(1));
  EXPECT_EQ(following.lines, Lines{"one"});
  EXPECT_TRUE(following.problems.empty());
}

TEST(Tail, HoldsAnIncompleteLine) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\ntw");
  Following following{path};
  ASSERT_TRUE(following.receives(1));
  append(path, "o\nthr");
  ASSERT_TRUE(following.receives(2));
  append(path, "ee\n");
  ASSERT_TRUE(following.receives(3));
  EXPECT_EQ(following.lines, (Lines{"earlier one", "two", "three"}));
}

TEST(Tail, StartsFromTheEndWithTheIncompleteLine) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\n" + std::string(100'000, 'x') + "\ntw");
  Following following{path, Tail::From::End};
  append(path, "o\nthree\n");
  ASSERT_TRUE(following.receives(2));
  EXPECT_EQ(following.lines, (Lines{"two", "three"}));
}

TEST(Tail, DetectsATruncatedFile) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\ntwo\n");
  Following following{path, Tail::From::End};
  ASSERT_EQ(::truncate(path.c_str(), 0), 0);
  append(path, "new\n");
  ASSERT_TRUE(following.receives(2));
  EXPECT_EQ(following.lines, (Lines{"(restart)", "new"}));
}

TEST(Tail, DetectsARewrittenLongerFile) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\ntwo\n");
  Following following{path, Tail::From::End};
  std::ofstream{path, std::ios::trunc} << "completely\ndifferent\n";
  ASSERT_TRUE(following.receives(3));
  EXPECT_EQ(following.lines, (Lines{"(restart)", "completely", "different"}));
}

TEST(Tail, ReadsTheOldFileToItsEndBeforeItsReplacement) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\n");
  Following following{path, Tail::From::End};
  append(path, "last line\n");
  append(directory.file("other"), "first words\n");
  std::filesystem::rename(directory.file("other"), path);
  ASSERT_TRUE(following.receives(3));
  append(path, "and on\n");
  ASSERT_TRUE(following.receives(4));
  EXPECT_EQ(following.lines, (Lines{"last line", "(restart)", "first words", "and on"}));
}

TEST(Tail, ContinuesWhenTheFileReturns) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\n");
  Following following{path};
  ASSERT_TRUE(following.receives(1));
  std::filesystem::remove(path);
  append(path, "other\n");
  ASSERT_TRUE(following.receives(3));
  EXPECT_EQ(following.lines, (Lines{"earlier one", "(restart)", "other"}));
}

TEST(Tail, ReportsAMissingFileOnceAndClosesIt) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\n");
  Following following{path};
  ASSERT_TRUE(following.receives(1));
  append(path, "last line\n");
  std::filesystem::remove(path);
  ASSERT_TRUE(following.receives(3));
  for (const auto& each : std::filesystem::directory_iterator{"/proc/self/fd"}) {
    std::error_code ignored;
    EXPECT_FALSE(std::filesystem::read_symlink(each.path(), ignored).string().starts_with(path));
  }
  append(path, "one\nother\n");
  ASSERT_TRUE(following.receives(6));
  EXPECT_EQ(following.lines, (Lines{"earlier one", "last line", "(removed)", "(restart)", "one", "other"}));
}

TEST(Tail, SkipsAndReportsATooLongLine) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\n" + std::string(kMaxLine + 1, 'x') + "\ntwo\n" + std::string(kMaxLine, 'y') + "\n");
  Following following{path};
  ASSERT_TRUE(following.receives(3));
  EXPECT_EQ(following.lines, (Lines{"earlier one", "earlier two", "earlier " + std::string(40, 'y')}));
  ASSERT_EQ(following.problems.size(), 1U);
  EXPECT_NE(following.problems[0].find("a line of 16777217 bytes"), std::string::npos) << following.problems[0];
}

TEST(Tail, ReadsInChunks) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  std::string text;
  for (int line = 0; line < 4096; ++line) text += std::string(255, 'x') + "\n";  // 1 MiB: four chunks
  append(path, text);
  Following following{path};
  std::vector<std::size_t> seen;
  std::function<void()> other = [&] {
    seen.push_back(following.lines.size());
    if (following.lines.size() < 4096) following.loop.post([&] { other(); });
  };
  following.loop.post([&] { other(); });
  ASSERT_TRUE(following.receives(4096));
  EXPECT_TRUE(std::ranges::any_of(seen, [](std::size_t count) { return count > 0 && count < 4096; }));
}

TEST(Tail, ReportsAnUnreadableFile) {
  const TemporaryDirectory directory;
  std::filesystem::create_directory(directory.file("record.jsonl"));
  Following following{directory.file("record.jsonl")};
  ASSERT_TRUE(run_until(following.loop, [&] { return !following.problems.empty(); }));
  EXPECT_NE(following.problems[0].find("cannot read"), std::string::npos);
  EXPECT_EQ(following.problems.size(), 1U);
}

TEST(Tail, RefusesADevice) {
  Following following{"/dev/zero"};
  ASSERT_TRUE(run_until(following.loop, [&] { return !following.problems.empty(); }));
  EXPECT_NE(following.problems[0].find("cannot read /dev/zero"), std::string::npos);
}

TEST(Tail, CanBeDestroyedInOnLine) {
  const TemporaryDirectory directory;
  const auto path = directory.file("record.jsonl");
  append(path, "one\ntwo\nthree\n");
  Following following{path};
  following.when_line = [&] { following.tail.reset(); };
  ASSERT_TRUE(following.receives(1));
  EXPECT_EQ(following.lines, Lines{"earlier one"});
}

}  // namespace
}  // namespace relay::transcripts
