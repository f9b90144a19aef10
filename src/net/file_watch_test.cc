#include "net/file_watch.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"

namespace relay::net {
namespace {

using testing::run_until;

void append(const std::string& path, const std::string& text) { std::ofstream{path, std::ios::app} << text; }

struct Watching {
  explicit Watching(const std::string& path) {
    auto begun = FileWatch::begin(loop, path, [this](FileWatchEvent change) { told.push_back(change); });
    RELAY_ASSERT(begun.has_value());
    watch = *std::move(begun);
  }
  bool hears(FileWatchEvent change) {
    return run_until(loop, [&] { return !told.empty() && told.back() == change; });
  }

  AsioLoop loop;
  std::vector<FileWatchEvent> told;
  std::unique_ptr<FileWatch> watch;
};

TEST(FileWatch, TellsThatTheFileWasWrittenTo) {
  const testing::TemporaryDirectory directory;
  append(directory.file("record"), "one\n");
  Watching watching{directory.file("record")};
  append(directory.file("record"), "two\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Written));
  EXPECT_EQ(watching.told.size(), 1U) << "what was there before is not told";
}

TEST(FileWatch, WaitsForTheFileAndForTheDirectoriesAboveIt) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.file("projects/home/record");
  Watching watching{path};
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  watching.loop.post([&] { append(path, "one\n"); });
  EXPECT_TRUE(watching.hears(FileWatchEvent::Came));
  append(path, "two\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Written));
}

TEST(FileWatch, TellsAReplacementBehindALink) {
  const testing::TemporaryDirectory directory, elsewhere;
  append(elsewhere.file("real"), "one\n");
  std::filesystem::create_symlink(elsewhere.file("real"), directory.file("link"));
  Watching watching{directory.file("link")};
  append(elsewhere.file("other"), "two\n");
  std::filesystem::rename(elsewhere.file("other"), elsewhere.file("real"));
  EXPECT_TRUE(watching.hears(FileWatchEvent::Replaced));
  append(elsewhere.file("real"), "three\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Written));
}

TEST(FileWatch, TellsAReplacementARemovalAndAReturn) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.file("record");
  append(path, "one\n");
  Watching watching{path};
  append(directory.file("other"), "another\n");
  std::filesystem::rename(directory.file("other"), path);
  EXPECT_TRUE(watching.hears(FileWatchEvent::Replaced));
  std::filesystem::remove(path);
  EXPECT_TRUE(watching.hears(FileWatchEvent::Gone));
  append(path, "again\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Came));
  append(path, "and on\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Written));
}

TEST(FileWatch, SurvivesTheLossOfTheWholeDirectory) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.file("home/record");
  std::filesystem::create_directory(directory.file("home"));
  append(path, "one\n");
  Watching watching{path};
  std::filesystem::remove_all(directory.file("home"));
  EXPECT_TRUE(watching.hears(FileWatchEvent::Gone));
  std::filesystem::create_directory(directory.file("home"));
  append(path, "one\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Came));
}

TEST(FileWatch, SaysNothingOfItsNeighbours) {
  const testing::TemporaryDirectory directory;
  append(directory.file("record"), "one\n");
  Watching watching{directory.file("record")};
  append(directory.file("neighbour"), "one\n");
  append(directory.file("neighbour"), "two\n");
  append(directory.file("record"), "two\n");
  EXPECT_TRUE(watching.hears(FileWatchEvent::Written));
  EXPECT_EQ(watching.told.size(), 1U);
}

TEST(FileWatch, MayDieInItsOwnCallback) {
  const testing::TemporaryDirectory directory;
  AsioLoop loop;
  std::unique_ptr<FileWatch> watch;
  bool called = false;
  watch = *FileWatch::begin(loop, directory.file("record"), [&](FileWatchEvent) {
    watch.reset();
    called = true;
  });
  append(directory.file("record"), "one\n");
  EXPECT_TRUE(run_until(loop, [&] { return called; }));
}

}  // namespace
}  // namespace relay::net
