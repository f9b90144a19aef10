/// One daemon per home, and existing files at the paths of its sockets.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <csignal>
#include <filesystem>
#include <fstream>

#include "integration/daemon_process.h"
#include "integration/raw_client.h"

namespace relay::integration {
namespace {

namespace fs = std::filesystem;

TEST(Instance, RefusesASecondDaemonForTheSameHome) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  const auto second = daemon.command({"up", "--foreground"});
  EXPECT_EQ(second.exit_code, 5) << second.output;
  EXPECT_NE(second.output.find("already runs"), std::string::npos) << second.output;
  EXPECT_NE(second.output.find(std::to_string(daemon.pid())), std::string::npos) << second.output;
  RawClient alice{daemon.socket()};
  EXPECT_TRUE(alice.hello("Alice").contains("session_id"));
}

TEST(Instance, CreatesFilesForItsOwnerOnly) {
  DaemonProcess daemon;
  daemon.in_child = [] { ::umask(0); };
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
  EXPECT_EQ(mode_of(daemon.home()), 0700U);
  EXPECT_EQ(mode_of(daemon.project_directory()), 0700U);
  EXPECT_EQ(mode_of(daemon.socket()), 0600U);
  EXPECT_EQ(mode_of(daemon.control_socket()), 0600U);
  for (const auto* name : {"/relay.sock.pid", "/.project", "/messages.sqlite"}) {
    EXPECT_EQ(mode_of(daemon.project_directory() + name), 0600U) << name;
  }
  for (const auto* name : {"/daemon.lock", "/daemon.pid", "/daemon.log", "/workspaces.json"}) {
    EXPECT_EQ(mode_of(daemon.home() + name), 0600U) << name;
  }
  EXPECT_EQ(mode_of(daemon.project() + "/.agent-relay"), 0700U);
}

TEST(Instance, CleansUpAfterADaemonThatWasKilled) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(daemon.terminate(SIGKILL).signal, SIGKILL);
  ASSERT_TRUE(fs::exists(daemon.socket()));
  ASSERT_TRUE(fs::exists(daemon.home() + "/daemon.pid"));

  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(content_of(daemon.home() + "/daemon.pid"), std::to_string(daemon.pid()) + "\n");
  EXPECT_EQ(content_of(daemon.project_directory() + "/relay.sock.pid"), std::to_string(daemon.pid()) + "\n");
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
}

TEST(Instance, RemovesItsSocketsAndPidFilesAtExit) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(daemon.terminate(SIGTERM).exit_code, 0) << daemon.log();
  EXPECT_FALSE(fs::exists(daemon.socket()));
  EXPECT_FALSE(fs::exists(daemon.control_socket()));
  EXPECT_FALSE(fs::exists(daemon.home() + "/daemon.pid"));
  EXPECT_FALSE(fs::exists(daemon.project_directory() + "/relay.sock.pid"));
  EXPECT_FALSE(fs::is_symlink(daemon.project() + "/.agent-relay/relay.sock"));
}

TEST(Instance, RefusesAPathThatIsNoSocketAndKeepsIt) {
  DaemonProcess daemon;
  fs::create_directories(daemon.project_directory());
  std::ofstream{daemon.socket()} << "precious";
  const std::string ready_line = daemon.start();
  EXPECT_TRUE(ready_line.starts_with("error: ")) << ready_line;
  EXPECT_NE(ready_line.find("not a socket"), std::string::npos) << ready_line;
  EXPECT_EQ(daemon.wait().exit_code, 1);
  EXPECT_EQ(content_of(daemon.socket()), "precious");
}

TEST(Instance, RefusesAnExtraSocketPathThatIsNoSocket) {
  DaemonProcess daemon;
  std::ofstream{daemon.path("notes.txt")} << "precious";
  const std::string ready_line = daemon.start({"--socket", daemon.path("notes.txt")});
  EXPECT_NE(ready_line.find("not a socket"), std::string::npos) << ready_line;
  daemon.wait();
  EXPECT_EQ(content_of(daemon.path("notes.txt")), "precious");
}

TEST(Instance, ListensAtAnExtraPath) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start({"--socket", daemon.path("extra.sock")}), "ready\n");
  EXPECT_EQ(mode_of(daemon.path("extra.sock")), 0600U);
  RawClient alice{daemon.path("extra.sock")};
  alice.hello("Alice");
  RawClient bob{daemon.socket()};
  bob.hello("Bob");
  alice.send("Bob", "same workspace", "m-1");
  EXPECT_EQ(bob.next_body(), "same workspace");
}

TEST(Instance, CreatesLinksForPublishedClients) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient by_root{daemon.project() + "/.agent-relay/relay.sock"};
  by_root.hello("Alice");
  RawClient by_home{daemon.home() + "/" + fs::path{daemon.project_directory()}.filename().string() + "/relay.sock"};
  by_home.hello("Bob");
  EXPECT_EQ(content_of(daemon.project() + "/.git/info/exclude"), ".agent-relay\n");
}

TEST(Instance, FallsBackToAShortPathWhenTheHomeIsTooDeep) {
  DaemonProcess daemon;
  const std::string deep = daemon.path("home") + "/" + std::string(100, 'd');
  daemon.environment["AGENT_RELAY_HOME"] = deep;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  RawClient alice{daemon.project() + "/.agent-relay/relay.sock"};
  alice.hello("Alice");
  const auto listed = daemon.command({"status"});
  EXPECT_EQ(listed.exit_code, 0) << listed.output;
}

}  // namespace
}  // namespace relay::integration
