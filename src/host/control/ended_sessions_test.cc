#include "host/control/ended_sessions.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

namespace relay::host {
namespace {

namespace fs = std::filesystem;

struct EndedSessions : ::testing::Test {
  std::string directory;
  EndedSessions() {
    std::string pattern = "/tmp/ended-XXXXXX";
    directory = ::mkdtemp(pattern.data());
  }
  ~EndedSessions() override { fs::remove_all(directory); }
  static protocol::EndedSession of(const std::string& session) {
    return {.agent = "Bob",
            .session = session,
            .bye = {.end = protocol::EndReason::Crashed, .reason = "exited with code 3"}};
  }
  void put(const std::string& name, const std::string& text) const { std::ofstream{directory + "/" + name} << text; }
  [[nodiscard]] bool has(const std::string& name) const {
    return fs::exists(fs::symlink_status(directory + "/" + name));
  }
};

TEST_F(EndedSessions, RecordIsFoundUntilItIsRemoved) {
  ASSERT_TRUE(write_ended_session(directory, of("s-1")).has_value());
  ASSERT_TRUE(write_ended_session(directory, of("s-2")).has_value());
  struct stat status{};
  ASSERT_EQ(::stat((directory + "/s-1.ended").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600U);
  ASSERT_EQ(ended_sessions(directory).size(), 2U);
  EXPECT_EQ(ended_sessions(directory).front().session, "s-1");
  EXPECT_EQ(ended_sessions(directory).front().bye.reason, "exited with code 3");
  remove_ended_session(directory, "s-1");
  ASSERT_EQ(ended_sessions(directory).size(), 1U);
  EXPECT_EQ(ended_sessions(directory).front().session, "s-2");
}

TEST_F(EndedSessions, DamagedRecordIsIgnoredAndRemoved) {
  put("s-1.ended", R"({"agent":"Bob","session":"s-1","bye":{"end":"comp)");
  put("s-2.ended", R"({"agent":"Bob","session":"s-7","bye":{}})");  // of another session
  put("s-3.ended", std::string(protocol::kMaxEndedSessionBytes + 1, ' '));
  put("s-4.ended", "");
  put("other.json", "{}");
  EXPECT_TRUE(ended_sessions(directory).empty());
  for (const auto* name : {"s-1.ended", "s-2.ended", "s-4.ended"}) EXPECT_FALSE(has(name)) << name;
  EXPECT_TRUE(has("s-3.ended")) << "too large to be read";
  EXPECT_TRUE(has("other.json"));
}

TEST_F(EndedSessions, LinkAndPipeAreNotRead) {
  put("secret", R"({"agent":"Bob","session":"s-1","bye":{}})");
  fs::create_symlink(directory + "/secret", directory + "/s-1.ended");
  ASSERT_EQ(::mkfifo((directory + "/s-2.ended").c_str(), 0600), 0);
  EXPECT_TRUE(ended_sessions(directory).empty());
}

TEST_F(EndedSessions, SessionIdThatIsNoFileNameIsRejected) {
  fs::create_directory(directory + "/hosts");
  put("s-1.ended", "{}");
  EXPECT_FALSE(write_ended_session(directory + "/hosts", of("../s-2")).has_value());
  remove_ended_session(directory + "/hosts", "../s-1");
  EXPECT_TRUE(has("s-1.ended"));
  EXPECT_FALSE(has("s-2.ended"));
}

TEST_F(EndedSessions, ReadingCreatesNoDirectory) {
  EXPECT_TRUE(ended_sessions(directory + "/absent").empty());
  EXPECT_FALSE(has("absent"));
}

}  // namespace
}  // namespace relay::host
