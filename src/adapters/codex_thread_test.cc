#include "adapters/codex_thread.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <list>

#include "net/testing/temporary_directory.h"

namespace relay::adapters {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFirst = "01a1f213-bcb0-79d0-9277-53f1ea1269c4";
constexpr const char* kSecond = "01a1f214-3782-7a21-91f1-65aa8afa5aeb";

struct ShownThreadTest : ::testing::Test {
  net::testing::TemporaryDirectory directory;
  fs::path home = directory.path();
  std::list<std::ofstream> open;
  int opened = 0;

  ShownThreadTest() {
    fs::create_directories(home / "thread-writer-locks");
    fs::create_directories(home / "sessions");
  }
  fs::path lock_of(const std::string& thread) const { return home / "thread-writer-locks" / (thread + ".lock"); }
  void lock(const std::string& thread) {
    open.emplace_back(lock_of(thread));
    fs::last_write_time(lock_of(thread), fs::file_time_type{std::chrono::seconds{++opened}});
  }
  void write_rollout(const std::string& thread, const std::string& first_line) {
    open.emplace_back(home / "sessions" / ("rollout-2026-11-19T04-32-22-" + thread + ".jsonl")) << first_line << '\n';
    open.back().flush();
  }
  std::string shown_thread(std::string_view reported = kFirst) const {
    return find_shown_thread(::getpid(), directory.path(), reported);
  }
};

TEST_F(ShownThreadTest, IsThreadThatWasOpenedLast) {
  EXPECT_EQ(shown_thread(), "");
  lock(kFirst);
  EXPECT_EQ(shown_thread(), kFirst);
  lock(kSecond);  // `/new`: the first one stays locked
  EXPECT_EQ(shown_thread(), kSecond);
  lock(kFirst);  // `/resume`
  EXPECT_EQ(shown_thread(), kFirst);
  EXPECT_EQ(shown_thread(kSecond), kFirst);
}

TEST_F(ShownThreadTest, IsNotThreadOfAnotherProcess) {
  lock(kFirst);
  std::ofstream{lock_of(kSecond)} << "";
  EXPECT_EQ(shown_thread(), kFirst);
}

TEST_F(ShownThreadTest, IsFoundAfterEarlierThreadWasClosed) {
  lock(kSecond);
  EXPECT_EQ(shown_thread(), kSecond);
}

TEST_F(ShownThreadTest, SkipsSubagents) {
  lock(kFirst);
  write_rollout(kFirst, R"({"type":"session_meta","payload":{"id":"x","source":"cli","thread_source":"user"}})");
  lock(kSecond);
  write_rollout(kSecond, R"({"type":"session_meta","payload":{"id":"y","source":{"subagent":{"thread_spawn":{}}}}})");
  EXPECT_EQ(shown_thread(), kFirst);
}

TEST_F(ShownThreadTest, EndedProcessHasNone) {
  lock(kFirst);
  EXPECT_EQ(find_shown_thread(0, directory.path(), kFirst), "");
}

}  // namespace
}  // namespace relay::adapters
