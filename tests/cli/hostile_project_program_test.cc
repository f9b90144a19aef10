/// Untrusted projects, and other users of the machine.
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/unique_fd.h"
#include "cli/sandbox.h"

namespace relay::cli_tests {
namespace {

namespace fs = std::filesystem;
constexpr uid_t kOtherUser = 65534;

TEST(HostileProject, CausesNoWriteOutsideAndNoHang) {
  Sandbox box;
  const auto outside = box.home() + "-outside";
  fs::create_directories(outside + "/.ssh");
  fs::create_directories(box.project() + "/.git/info");
  fs::create_directory_symlink(outside + "/.ssh", box.project() + "/.agent-relay");
  ASSERT_EQ(::mkfifo((box.project() + "/.git/info/exclude").c_str(), 0600), 0);
  box.ok({"up"});
  box.ok({"status"});
  EXPECT_TRUE(fs::is_empty(outside + "/.ssh"));

  const auto attached = box.run({"send", "Bob", "see the file", "--attach", box.write(outside + "/file", "text")});
  EXPECT_NE(attached.code, 0);
  EXPECT_NE(attached.err.find(".agent-relay is a link"), std::string::npos) << attached.err;
  EXPECT_TRUE(fs::is_empty(outside + "/.ssh"));

  const auto ran = box.run({"-n", "Alice", "true"});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_TRUE(fs::is_empty(outside + "/.ssh"));
  fs::remove_all(outside);
}

TEST(ForeignProject, IsRefusedUntilTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a directory";
  Sandbox box;
  ASSERT_EQ(::chown(box.project().c_str(), kOtherUser, kOtherUser), 0);
  for (const auto& words : {std::vector<std::string>{"up"}, {"up", "--foreground"}, {"-n", "Alice", "true"}}) {
    const auto refused = box.run(words);
    EXPECT_EQ(refused.code, 5) << words.front() << refused.err;
    EXPECT_NE(refused.err.find("belongs to another user (uid 65534)"), std::string::npos) << refused.err;
    EXPECT_NE(refused.err.find("trusted_projects = \"" + box.project() + "\""), std::string::npos) << refused.err;
  }
  EXPECT_FALSE(fs::exists(box.project() + "/.agent-relay"));
  box.set("AGENT_RELAY_TRUSTED_PROJECTS", box.project());
  box.ok({"up"});
  box.ok({"status"});
}

TEST(ForeignProject, IsRefusedByRunningDaemon) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can change the owner of a directory";
  Sandbox box;
  box.ok({"up"});
  box.enter_project("foreign");
  ASSERT_EQ(::chown(box.project().c_str(), kOtherUser, kOtherUser), 0);
  box.set("AGENT_RELAY_TRUSTED_PROJECTS", box.project());  // for the command, not the daemon
  const auto refused = box.run({"up"});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_NE(refused.err.find("belongs to another user"), std::string::npos) << refused.err;
}

TEST(SystemDirectory, IsNotWrittenByOrdinaryUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two users";
  for (const bool world_writable : {true, false}) {
    Sandbox box;
    const auto common = box.home() + "-common";
    fs::create_directory(common);
    fs::permissions(common, fs::perms{world_writable ? 01777U : 0755U});
    if (world_writable) fs::create_directory(common + "/.git");  // any user could create it
    box.become(kOtherUser, common);
    const auto up = box.run({"up", "--no-http"});
    EXPECT_EQ(up.code, 0) << up.err;
    EXPECT_EQ(up.err.find("agent-relay: " + common + " is a system directory, not a project"), 0U) << up.err;
    const auto ran = box.run({"-n", "Alice", "sh", "-c", "echo $AGENT_RELAY_OUTBOX"});
    EXPECT_EQ(ran.code, 0) << ran.err;
    EXPECT_EQ(ran.out.find(box.workspace_directory() + "/.agent-relay/agents/Alice/outbox"), 0U) << ran.out;
    EXPECT_EQ(box.run({"send", "Alice", "see the file", "--attach", "/etc/hostname"}).code, 0);
    EXPECT_FALSE(fs::exists(common + "/.agent-relay"));
    EXPECT_NE(box.ok({"log"}).find("see the file"), std::string::npos);
  }
}

TEST(RootProject, IsRefusedForOrdinaryUserUntilTrusted) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two users";
  Sandbox box;
  const auto project = box.home() + "-roots";
  fs::create_directories(project + "/.git");
  box.become(kOtherUser, project);
  const auto refused = box.run({"up", "--no-http"});
  EXPECT_EQ(refused.code, 5) << refused.err;
  EXPECT_NE(refused.err.find("belongs to another user (uid 0)"), std::string::npos) << refused.err;
  box.set("AGENT_RELAY_TRUSTED_PROJECTS", project);
  box.ok({"up", "--no-http"});
}

TEST(ForeignListener, GetsNoMessage) {
  if (::geteuid() != 0) GTEST_SKIP() << "only root can act as two users";
  Sandbox box;
  box.ok({"up"});
  box.kill_daemon();
  const auto path = box.workspace_directory() + "/relay.sock";
  fs::remove(path);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  ASSERT_LT(path.size(), sizeof address.sun_path);
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  const UniqueFd listener{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::seteuid(kOtherUser), 0);
  const int result = ::listen(listener.get(), 4);
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(result, 0);
  const auto sent = box.run({"send", "Bob", "secret"});
  EXPECT_NE(sent.code, 0);
  EXPECT_NE(sent.err.find("a program of another user (uid 65534) listens there"), std::string::npos) << sent.err;
  const UniqueFd client{::accept4(listener.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC)};
  ASSERT_TRUE(static_cast<bool>(client));
  char byte = 0;
  EXPECT_EQ(::recv(client.get(), &byte, 1, 0), 0) << "it disconnected without sending anything";
}

}  // namespace
}  // namespace relay::cli_tests
