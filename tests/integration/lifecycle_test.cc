/// Beginning, end, sudden end and reload of the daemon, seen by its clients.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "base/format.h"
#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

namespace fs = std::filesystem;

/// Polls a condition about the outside world that nobody announces; never longer than the patience.
template <class Check>
bool eventually(Check check) {
  const auto deadline = std::chrono::steady_clock::now() + kTimeout;
  while (!check()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    ::usleep(5'000);
  }
  return true;
}

ino_t inode_of(const std::string& path) {
  struct stat status{};
  return ::stat(path.c_str(), &status) == 0 ? status.st_ino : 0;
}

TEST(Lifecycle, AnswersEverySendBeforeATermEndsIt) {
  constexpr int kSends = 500;
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob{daemon.socket()};
  bob.hello("Bob");
  bob.leave();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  for (int i = 0; i < kSends; ++i) alice.send("Bob", format("text {}", i), format("m-{}", i));
  alice.hear_type("ACK");  // the first is durable, so the others are on their way
  daemon.signal(SIGTERM);

  int acknowledged = 1;
  bool said_goodbye = false;
  while (const auto frame = alice.hear()) {
    if (type_of(*frame) == "ACK") ++acknowledged;
    if (type_of(*frame) == "BYE") said_goodbye = true;
  }
  EXPECT_TRUE(said_goodbye);
  EXPECT_EQ(daemon.wait().exit_code, 0) << daemon.log();

  // What was acknowledged is there afterwards; what was not may be there too, but nothing in between is missing.
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob_again{daemon.socket()};
  bob_again.hello("Bob");
  for (int i = 0; i < acknowledged; ++i) ASSERT_EQ(bob_again.next_text(), format("text {}", i));
}

TEST(Lifecycle, LosesAndRepeatsNothingThatWasAcknowledgedWhenKilled) {
  constexpr int kSends = 200;
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  RawClient bob{daemon.socket()};
  alice.hello("Alice");
  const auto welcome = bob.hello("Bob");
  const std::string token = string_member(welcome, "resume_token").value_or("");
  bob.leave();
  for (int i = 0; i < kSends; ++i) alice.send("Bob", format("text {}", i), format("m-{}", i));
  for (int i = 0; i < kSends; ++i) alice.hear_type("ACK");
  EXPECT_EQ(daemon.end(SIGKILL).signal, SIGKILL);

  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob_again{daemon.socket()};
  const auto resumed = bob_again.hello("Bob", format(R"("session":{{"resume_token":"{}"}},)", token));
  EXPECT_EQ(string_member(resumed, "session_id"), string_member(welcome, "session_id"));
  for (int i = 0; i < kSends; ++i) ASSERT_EQ(bob_again.next_text(), format("text {}", i));
  EXPECT_FALSE(bob_again.hear(std::chrono::milliseconds{200}).has_value());
}

TEST(Lifecycle, WritesTheRosterOnChangeOnly) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  const std::string agents = daemon.project_directory() + "/agents.json";
  const std::string connected = daemon.project_directory() + "/connected-agents.json";
  RawClient alice{daemon.socket()};
  RawClient bob{daemon.socket()};
  alice.hello("Alice");
  bob.hello("Bob");
  ASSERT_TRUE(eventually([&] { return content_of(connected).find("Bob") != std::string::npos; }));
  EXPECT_NE(content_of(agents).find(R"("name":"Alice")"), std::string::npos);
  EXPECT_EQ(mode_of(agents), 0600U);

  const ino_t before = inode_of(agents);
  for (int i = 0; i < 50; ++i) {
    alice.send("Bob", "no news about agents", format("m-{}", i));
    bob.next_text();
  }
  EXPECT_FALSE(bob.hear(std::chrono::milliseconds{500}).has_value());  // longer than a burst is gathered
  EXPECT_EQ(inode_of(agents), before);

  alice.leave();
  EXPECT_TRUE(eventually([&] { return content_of(connected).find("Alice") == std::string::npos; }));
  EXPECT_NE(inode_of(agents), before);
}

TEST(Lifecycle, ReadsItsConfigurationAgainOnHangup) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(daemon.log().find(" debug "), std::string::npos);
  fs::rename(daemon.home() + "/daemon.log", daemon.home() + "/daemon.log.1");
  std::ofstream{daemon.home() + "/config.toml"} << "debug = true\n";
  daemon.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.log().find("configuration read again") != std::string::npos; }));

  std::ofstream{daemon.home() + "/config.toml"} << "heartbeat_ms = \"often\"\n";
  daemon.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.log().find("the old one stays in force") != std::string::npos; }));
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
}

TEST(Lifecycle, HangupReopensTheLogDespiteAMistakeInAPermissionRule) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  fs::rename(daemon.home() + "/daemon.log", daemon.home() + "/daemon.log.1");
  std::ofstream{daemon.home() + "/config.toml"} << "[[permissions]]\naction = \"perhaps\"\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] {
    return daemon.log().find("the configuration was not read again") != std::string::npos;
  })) << content_of(daemon.home() + "/daemon.log.1");
}

TEST(Lifecycle, ADaemonWhoseHomeWasRemovedEndsInOrder) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  fs::remove_all(daemon.home());
  const auto ended = daemon.wait();
  EXPECT_EQ(ended.exit_code, 0) << ended.signal;
}

TEST(Lifecycle, ADaemonWhoseHomeWasMovedEndsInOrder) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  fs::rename(daemon.home(), daemon.path("elsewhere"));
  EXPECT_EQ(daemon.wait().exit_code, 0);
  EXPECT_NE(content_of(daemon.path("elsewhere") + "/daemon.log").find("cannot be reached any more"), std::string::npos);
}

TEST(Lifecycle, StartsInAFewMillisecondsAndEndsPromptly) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon.end(SIGTERM).exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds{3});
}

}  // namespace
}  // namespace relay::integration
