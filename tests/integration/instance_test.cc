/// One daemon per home, and what it does with whatever lies where its sockets should be.
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

TEST(Instance, RefusesASecondDaemonForTheSameHomeAndTheFirstGoesOn) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  const auto second = daemon.command({"up", "--foreground"});
  EXPECT_EQ(second.exit_code, 5) << second.text;
  EXPECT_NE(second.text.find("already runs"), std::string::npos) << second.text;
  EXPECT_NE(second.text.find(std::to_string(daemon.pid())), std::string::npos) << second.text;
  RawClient alice{daemon.socket()};
  EXPECT_TRUE(alice.hello("Alice").contains("session_id"));
}

TEST(Instance, KeepsEverythingToItsOwner) {
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
  EXPECT_EQ(daemon.end(SIGKILL).signal, SIGKILL);
  ASSERT_TRUE(fs::exists(daemon.socket()));
  ASSERT_TRUE(fs::exists(daemon.home() + "/daemon.pid"));

  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(content_of(daemon.home() + "/daemon.pid"), std::to_string(daemon.pid()) + "\n");
  EXPECT_EQ(content_of(daemon.project_directory() + "/relay.sock.pid"), std::to_string(daemon.pid()) + "\n");
  RawClient alice{daemon.socket()};
  alice.hello("Alice");
}

TEST(Instance, RemovesItsSocketsAndPidFilesWhenItEnds) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start(), "ready\n") << daemon.log();
  EXPECT_EQ(daemon.end(SIGTERM).exit_code, 0) << daemon.log();
  EXPECT_FALSE(fs::exists(daemon.socket()));
  EXPECT_FALSE(fs::exists(daemon.control_socket()));
  EXPECT_FALSE(fs::exists(daemon.home() + "/daemon.pid"));
  EXPECT_FALSE(fs::exists(daemon.project_directory() + "/relay.sock.pid"));
  EXPECT_FALSE(fs::is_symlink(daemon.project() + "/.agent-relay/relay.sock"));
}

TEST(Instance, RefusesAPathThatIsNoSocketAndLeavesItAlone) {
  DaemonProcess daemon;
  fs::create_directories(daemon.project_directory());
  std::ofstream{daemon.socket()} << "precious";
  const std::string said = daemon.start();
  EXPECT_TRUE(said.starts_with("error: ")) << said;
  EXPECT_NE(said.find("not a socket"), std::string::npos) << said;
  EXPECT_EQ(daemon.wait().exit_code, 1);
  EXPECT_EQ(content_of(daemon.socket()), "precious");
}

TEST(Instance, RefusesAFurtherSocketPathThatIsNoSocket) {
  DaemonProcess daemon;
  std::ofstream{daemon.path("notes.txt")} << "precious";
  const std::string said = daemon.start({"--socket", daemon.path("notes.txt")});
  EXPECT_NE(said.find("not a socket"), std::string::npos) << said;
  daemon.wait();
  EXPECT_EQ(content_of(daemon.path("notes.txt")), "precious");
}

TEST(Instance, ListensAtAFurtherPathToo) {
  DaemonProcess daemon;
  ASSERT_EQ(daemon.start({"--socket", daemon.path("extra.sock")}), "ready\n");
  EXPECT_EQ(mode_of(daemon.path("extra.sock")), 0600U);
  RawClient alice{daemon.path("extra.sock")};
  alice.hello("Alice");
  RawClient bob{daemon.socket()};
  bob.hello("Bob");
  alice.send("Bob", "same workspace", "m-1");
  EXPECT_EQ(bob.next_text(), "same workspace");
}

TEST(Instance, LeavesLinksWherePublishedClientsLook) {
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
  EXPECT_EQ(listed.exit_code, 0) << listed.text;
}

}  // namespace
}  // namespace relay::integration
