#include "observer/capture_tail.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "base/format.h"

namespace relay::observer {
namespace {

namespace fs = std::filesystem;
using Lines = std::vector<std::string>;

struct CaptureTailTest : ::testing::Test {
  fs::path directory = fs::path{::testing::TempDir()} / format("capture-tail-{}", ::getpid());
  net::AsioLoop loop;
  Lines lines;
  std::unique_ptr<CaptureTail> tail;

  void SetUp() override {
    fs::remove_all(directory);
    fs::create_directories(directory);
  }
  void TearDown() override { fs::remove_all(directory); }
  void append(const std::string& name, std::string_view text) const {
    std::ofstream{directory / name, std::ios::app} << text;
  }
  void follow() {
    tail = *CaptureTail::follow(loop, directory.string(), [this](std::string_view line) { lines.emplace_back(line); });
  }
  /// Runs until `count` lines arrived, or a timeout.
  Lines read(std::size_t count) {
    const auto stop = loop.after(Millis{10'000}, [this] { loop.stop(); });
    std::function<void()> poll = [&] { lines.size() >= count ? loop.stop() : loop.post([&] { poll(); }); };
    loop.post([&] { poll(); });
    loop.run();
    return std::exchange(lines, {});
  }
};

TEST_F(CaptureTailTest, OnlyAddedLinesAreReported) {
  append("a.jsonl", "old\n");
  follow();
  append("a.jsonl", "one\ntw");
  append("b.jsonl", "first of b\n");
  append("other.txt", "no capture file\n");
  EXPECT_EQ(read(2), (Lines{"one", "first of b"}));
  append("a.jsonl", "o\n\nthree\n");
  EXPECT_EQ(read(2), (Lines{"two", "three"}));
}

TEST_F(CaptureTailTest, RotatedFileIsReadToItsEnd) {
  append("a.jsonl", "old\n");
  follow();
  append("a.jsonl", "last\n");
  fs::rename(directory / "a.jsonl", directory / "a.jsonl.1");
  append("a.jsonl", "next\n");
  EXPECT_EQ(read(2), (Lines{"last", "next"}));
}

TEST_F(CaptureTailTest, TooLongLineIsSkipped) {
  follow();
  append("a.jsonl", std::string(1 << 20, 'x') + "\nshort\n");
  EXPECT_EQ(read(1), (Lines{"short"}));
}

TEST_F(CaptureTailTest, LinksAreNotFollowed) {
  append("secret", "private\n");
  follow();
  fs::create_symlink(directory / "secret", directory / "a.jsonl");
  append("b.jsonl", "fine\n");
  EXPECT_EQ(read(1), (Lines{"fine"}));
}

}  // namespace
}  // namespace relay::observer
