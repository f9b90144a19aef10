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

struct WatchRecorder {
  explicit WatchRecorder(const std::string& path) {
    auto started = FileWatch::start(loop, path, [this](FileWatchEvent change) { changes.push_back(change); });
    RELAY_ASSERT(started.has_value());
    watch = *std::move(started);
  }
  bool wait_for(FileWatchEvent change) {
    return run_until(loop, [&] { return !changes.empty() && changes.back() == change; });
  }

  AsioLoop loop;
  std::vector<FileWatchEvent> changes;
  std::unique_ptr<FileWatch> watch;
};

TEST(FileWatch, ReportsAWrite) {
  const testing::TemporaryDirectory directory;
  append(directory.file("record"), "one\n");
  WatchRecorder recorder{directory.file("record")};
  append(directory.file("record"), "two\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Modified));
  EXPECT_EQ(recorder.changes.size(), 1U) << "earlier content is not reported";
}

TEST(FileWatch, WaitsForMissingFileAndDirectories) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.file("projects/home/record");
  WatchRecorder recorder{path};
  std::filesystem::create_directories(std::filesystem::path{path}.parent_path());
  recorder.loop.post([&] { append(path, "one\n"); });
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Created));
  append(path, "two\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Modified));
}

TEST(FileWatch, ReportsAReplacementBehindALink) {
  const testing::TemporaryDirectory directory, elsewhere;
  append(elsewhere.file("real"), "one\n");
  std::filesystem::create_symlink(elsewhere.file("real"), directory.file("link"));
  WatchRecorder recorder{directory.file("link")};
  append(elsewhere.file("other"), "two\n");
  std::filesystem::rename(elsewhere.file("other"), elsewhere.file("real"));
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Replaced));
  append(elsewhere.file("real"), "three\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Modified));
}

TEST(FileWatch, ReportsReplacementRemovalAndCreation) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.file("record");
  append(path, "one\n");
  WatchRecorder recorder{path};
  append(directory.file("other"), "another\n");
  std::filesystem::rename(directory.file("other"), path);
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Replaced));
  std::filesystem::remove(path);
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Removed));
  append(path, "again\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Created));
  append(path, "and on\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Modified));
}

TEST(FileWatch, SurvivesTheLossOfTheWholeDirectory) {
  const testing::TemporaryDirectory directory;
  const auto path = directory.file("home/record");
  std::filesystem::create_directory(directory.file("home"));
  append(path, "one\n");
  WatchRecorder recorder{path};
  std::filesystem::remove_all(directory.file("home"));
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Removed));
  std::filesystem::create_directory(directory.file("home"));
  append(path, "one\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Created));
}

TEST(FileWatch, IgnoresOtherFiles) {
  const testing::TemporaryDirectory directory;
  append(directory.file("record"), "one\n");
  WatchRecorder recorder{directory.file("record")};
  append(directory.file("neighbour"), "one\n");
  append(directory.file("neighbour"), "two\n");
  append(directory.file("record"), "two\n");
  EXPECT_TRUE(recorder.wait_for(FileWatchEvent::Modified));
  EXPECT_EQ(recorder.changes.size(), 1U);
}

TEST(FileWatch, CanBeDestroyedInItsCallback) {
  const testing::TemporaryDirectory directory;
  AsioLoop loop;
  std::unique_ptr<FileWatch> watch;
  bool called = false;
  watch = *FileWatch::start(loop, directory.file("record"), [&](FileWatchEvent) {
    watch.reset();
    called = true;
  });
  append(directory.file("record"), "one\n");
  EXPECT_TRUE(run_until(loop, [&] { return called; }));
}

}  // namespace
}  // namespace relay::net
