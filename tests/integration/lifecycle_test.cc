/// Start, shutdown, kill and reload of the daemon.
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

/// Polls until the condition holds or the timeout has passed.
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

TEST(Lifecycle, RespondsToEverySendBeforeItExitsOnSigterm) {
  constexpr int kSends = 500;
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  register_agent(daemon.socket(), "Bob");
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  for (int i = 0; i < kSends; ++i) alice.send("Bob", format("text {}", i), format("m-{}", i));
  alice.receive_type("ACK");  // the first is durable, so the daemon has read the others
  daemon.signal(SIGTERM);

  int acknowledged = 1;
  bool received_bye = false;
  while (const auto frame = alice.receive()) {
    if (type_of(*frame) == "ACK") ++acknowledged;
    if (type_of(*frame) == "BYE") received_bye = true;
  }
  EXPECT_TRUE(received_bye);
  EXPECT_EQ(daemon.wait().exit_code, 0) << daemon.log();

  // Acknowledged messages exist after the restart. Later ones may exist too, without a gap.
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob_again{daemon.socket()};
  bob_again.hello("Bob");
  for (int i = 0; i < acknowledged; ++i) ASSERT_EQ(bob_again.next_body(), format("text {}", i));
}

TEST(Lifecycle, KeepsAcknowledgedMessagesOnceWhenKilled) {
  constexpr int kSends = 200;
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  RawClient bob{daemon.socket()};
  alice.hello("Alice");
  const auto welcome = bob.hello("Bob");
  const std::string token = string_member(welcome, "resume_token").value_or("");
  bob.close();
  for (int i = 0; i < kSends; ++i) alice.send("Bob", format("text {}", i), format("m-{}", i));
  for (int i = 0; i < kSends; ++i) alice.receive_type("ACK");
  EXPECT_EQ(daemon.terminate(SIGKILL).signal, SIGKILL);

  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient bob_again{daemon.socket()};
  const auto resumed = bob_again.hello("Bob", format(R"("session":{{"resume_token":"{}"}},)", token));
  EXPECT_EQ(string_member(resumed, "session_id"), string_member(welcome, "session_id"));
  for (int i = 0; i < kSends; ++i) ASSERT_EQ(bob_again.next_body(), format("text {}", i));
  EXPECT_FALSE(bob_again.receive(std::chrono::milliseconds{200}).has_value());
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
    alice.send("Bob", "no change of the roster", format("m-{}", i));
    bob.next_body();
  }
  EXPECT_FALSE(bob.receive(std::chrono::milliseconds{500}).has_value());  // longer than roster writes are batched
  EXPECT_EQ(inode_of(agents), before);

  alice.close();
  EXPECT_TRUE(eventually([&] { return content_of(connected).find("Alice") == std::string::npos; }));
  EXPECT_NE(inode_of(agents), before);
}

TEST(Lifecycle, ReloadsItsConfigurationOnHangup) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(daemon.log().find(" debug "), std::string::npos);
  fs::rename(daemon.home() + "/daemon.log", daemon.home() + "/daemon.log.1");
  std::ofstream{daemon.home() + "/config.toml"} << "debug = true\n";
  daemon.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.log().find("configuration reloaded") != std::string::npos; }));

  std::ofstream{daemon.home() + "/config.toml"} << "heartbeat_ms = \"often\"\n";
  daemon.signal(SIGHUP);
  ASSERT_TRUE(eventually([&] { return daemon.log().find("the old one stays in force") != std::string::npos; }));
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
}

TEST(Lifecycle, HangupReopensTheLogDespiteAnInvalidPermissionRule) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  fs::rename(daemon.home() + "/daemon.log", daemon.home() + "/daemon.log.1");
  std::ofstream{daemon.home() + "/config.toml"} << "[[permissions]]\naction = \"perhaps\"\n";
  daemon.signal(SIGHUP);
  EXPECT_TRUE(eventually([&] { return daemon.log().find("configuration not reloaded") != std::string::npos; }))
      << content_of(daemon.home() + "/daemon.log.1");
}

TEST(Lifecycle, ExitsCleanlyWhenItsHomeIsRemoved) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  fs::remove_all(daemon.home());
  const auto status = daemon.wait();
  EXPECT_EQ(status.exit_code, 0) << status.signal;
}

TEST(Lifecycle, ExitsCleanlyWhenItsHomeIsMoved) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  fs::rename(daemon.home(), daemon.path("elsewhere"));
  EXPECT_EQ(daemon.wait().exit_code, 0);
  EXPECT_NE(content_of(daemon.path("elsewhere") + "/daemon.log").find("cannot be reached any more"), std::string::npos);
}

TEST(Lifecycle, StopsWithinThreeSeconds) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(daemon.terminate(SIGTERM).exit_code, 0);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds{3});
}

}  // namespace
}  // namespace relay::integration
