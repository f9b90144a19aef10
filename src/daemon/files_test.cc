#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/json.h"
#include "base/unique_fd.h"
#include "daemon/daemon.h"
#include "daemon/instance_lock.h"
#include "daemon/private_file.h"
#include "daemon/project_files.h"
#include "daemon/roster_files.h"
#include "daemon/saved_workspaces.h"
#include "net/testing/temporary_directory.h"

namespace relay::daemon {
namespace {

namespace fs = std::filesystem;
using net::testing::TemporaryDirectory;

std::string content_of(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream{path}.rdbuf();
  return text.str();
}

mode_t mode_of(const std::string& path) {
  struct stat status{};
  return ::lstat(path.c_str(), &status) == 0 ? status.st_mode & 07777 : 0;
}

TEST(PrivateFile, IsReplacedWholeAndOnlyItsOwnerMayReadIt) {
  const TemporaryDirectory directory;
  const std::string path = directory.file("text");
  ASSERT_TRUE(replace_private_file(path, "old").has_value());
  ASSERT_TRUE(replace_private_file(path, "new", Sync::Yes).has_value());
  EXPECT_EQ(content_of(path), "new");
  EXPECT_EQ(mode_of(path), 0600U);
  EXPECT_FALSE(fs::exists(path + ".new"));
}

TEST(PrivateFile, ErrorNamesThePath) {
  const auto written = replace_private_file("/nowhere/at/all", "text");
  ASSERT_FALSE(written.has_value());
  EXPECT_NE(written.error().message().find("/nowhere/at/all"), std::string::npos);
}

TEST(InstanceLock, IsHeldByOneProcess) {
  const TemporaryDirectory directory;
  std::ofstream{directory.file("pid")} << "4711\n";
  auto first = InstanceLock::acquire(directory.file("lock"), directory.file("pid"));
  ASSERT_TRUE(first.has_value());
  const auto second = InstanceLock::acquire(directory.file("lock"), directory.file("pid"));
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(is(second.error(), Errc::AlreadyRunning));
  EXPECT_NE(second.error().message().find("pid 4711"), std::string::npos);
  { const auto released = *std::move(first); }
  EXPECT_TRUE(InstanceLock::acquire(directory.file("lock"), directory.file("pid")).has_value());
}

TEST(SavedWorkspaces, AreReadAsWritten) {
  const TemporaryDirectory directory;
  const std::vector<SavedWorkspace> all = {{"/a \"quoted\" root", {}}, {"/b", {"/tmp/x.sock", "/tmp/y.sock"}}};
  ASSERT_TRUE(write_saved_workspaces(directory.file("workspaces.json"), all).has_value());
  const auto read = read_saved_workspaces(directory.file("workspaces.json"));
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(*read, all);
}

TEST(SavedWorkspaces, AreEmptyWithoutAFileAndRefusedInAnotherFormat) {
  const TemporaryDirectory directory;
  EXPECT_TRUE(read_saved_workspaces(directory.file("none"))->empty());
  std::ofstream{directory.file("bad")} << "[1, 2";
  EXPECT_FALSE(read_saved_workspaces(directory.file("bad")).has_value());
}

TEST(RosterFiles, HaveTheFormatPublishedToolsRead) {
  broker::RosterEntry alice;
  alice.agent.name = AgentName{"Alice"};
  alice.agent.cli = "claude";
  alice.agent.first_seen = 1'734'440'000'123;
  alice.connected = true;
  alice.sent = 3;
  broker::RosterEntry user;
  user.agent.name = AgentName{"mira"};
  user.agent.entity = protocol::EntityType::User;
  user.connected = true;
  broker::RosterEntry offline;
  offline.agent.name = AgentName{"Bob"};

  const auto agents = parse_json_object(agents_json({alice, user, offline}));
  ASSERT_TRUE(agents.has_value());
  const auto& list = *array_member(*agents, "agents");
  ASSERT_EQ(list.size(), 3U);
  EXPECT_EQ(string_member(list[0].get_object(), "name"), "Alice");
  EXPECT_EQ(string_member(list[0].get_object(), "firstSeen"), "2024-12-17T12:53:20.123Z");
  EXPECT_EQ(integer_member(list[0].get_object(), "messagesSent"), 3);

  const auto connected = parse_json_object(connected_agents_json({alice, user, offline}, 99));
  ASSERT_TRUE(connected.has_value());
  EXPECT_EQ(json::serialize(connected->at("agents")), R"(["Alice"])");
  EXPECT_EQ(json::serialize(connected->at("users")), R"(["mira"])");
  EXPECT_EQ(integer_member(*connected, "updatedAt"), 99);
}

struct ProjectFilesTest : ::testing::Test {
  TemporaryDirectory directory;
  config::Home home;
  config::Project project;
  std::string socket;

  void SetUp() override {
    fs::create_directories(directory.file("root/.git/info"));
    std::ofstream{directory.file("root/.git/info/exclude")} << "# comment";
    const std::string at = directory.file("home");
    home = *config::find_home([&](std::string_view name) -> std::optional<std::string> {
      if (name == "AGENT_RELAY_HOME") return at;
      if (name == "XDG_RUNTIME_DIR") return directory.path();
      return std::nullopt;
    });
    project = config::project_at(directory.file("root"), home);
    const auto prepared = prepare_project(project, 5);
    ASSERT_TRUE(prepared.has_value()) << prepared.error().message();
    socket = *prepared;
  }
};

TEST_F(ProjectFilesTest, MakesAPrivateDirectoryWithAMarker) {
  EXPECT_EQ(mode_of(project.directory), 0700U);
  const auto marker = parse_json_object(content_of(project.directory + "/.project"));
  ASSERT_TRUE(marker.has_value());
  EXPECT_EQ(string_member(*marker, "projectRoot"), project.root);
  EXPECT_EQ(string_member(*marker, "projectId"), project.id);
  EXPECT_EQ(integer_member(*marker, "createdAt"), 5);
}

TEST_F(ProjectFilesTest, CreatesLinksForClientsAndRemovesThem) {
  announce_project(home, project, socket);
  EXPECT_EQ(content_of(project.pid_file), std::to_string(::getpid()) + "\n");
  EXPECT_EQ(fs::read_symlink(project.link), socket);
  EXPECT_EQ(mode_of(project.root + "/.agent-relay"), 0700U);
  EXPECT_EQ(fs::read_symlink(home.root + "/" + project.id), project.directory);
  EXPECT_EQ(content_of(project.root + "/.git/info/exclude"), "# comment\n.agent-relay\n");

  announce_project(home, project, socket);
  EXPECT_EQ(content_of(project.root + "/.git/info/exclude"), "# comment\n.agent-relay\n");

  withdraw_project(project, socket);
  EXPECT_FALSE(fs::exists(fs::symlink_status(project.link)));
  EXPECT_FALSE(fs::exists(project.pid_file));
}

TEST_F(ProjectFilesTest, NeverReplacesARegularFile) {
  fs::create_directories(project.root + "/.agent-relay");
  std::ofstream{project.link} << "precious";
  announce_project(home, project, socket);
  withdraw_project(project, socket);
  EXPECT_EQ(content_of(project.link), "precious");
}

TEST_F(ProjectFilesTest, KeepsALinkToARunningDaemon) {
  const std::string other = directory.file("other.sock");
  UniqueFd listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  other.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(listening.get(), 4), 0);
  fs::create_directories(project.root + "/.agent-relay");
  fs::create_symlink(other, project.link);
  announce_project(home, project, socket);
  EXPECT_EQ(fs::read_symlink(project.link), other);
  listening = UniqueFd{};
  announce_project(home, project, socket);
  EXPECT_EQ(fs::read_symlink(project.link), socket);
}

TEST_F(ProjectFilesTest, WritesNoLinkThroughACommittedLink) {
  fs::create_directories(directory.file(".ssh"));
  fs::create_symlink("../.ssh", project.root + "/.agent-relay");
  announce_project(home, project, socket);
  EXPECT_TRUE(fs::is_empty(directory.file(".ssh")));
  std::ofstream{directory.file(".ssh/relay.sock")} << "precious";
  withdraw_project(project, socket);
  EXPECT_TRUE(fs::exists(directory.file(".ssh/relay.sock")));
}

TEST_F(ProjectFilesTest, WritesNoLineThroughALinkAtGitsExclude) {
  std::ofstream{directory.file(".bashrc")} << "precious\n";
  fs::remove(project.root + "/.git/info/exclude");
  fs::create_symlink("../../../.bashrc", project.root + "/.git/info/exclude");
  announce_project(home, project, socket);
  EXPECT_EQ(content_of(directory.file(".bashrc")), "precious\n");
  EXPECT_EQ(fs::read_symlink(project.link), socket) << "the other files are written";
}

TEST_F(ProjectFilesTest, DoesNotBlockOnAPipeAtGitsExclude) {
  fs::remove(project.root + "/.git/info/exclude");
  ASSERT_EQ(::mkfifo((project.root + "/.git/info/exclude").c_str(), 0600), 0);
  announce_project(home, project, socket);  // would block forever
  EXPECT_EQ(fs::read_symlink(project.link), socket);
}

TEST_F(ProjectFilesTest, CreatesAMissingExcludeFile) {
  fs::remove(project.root + "/.git/info/exclude");
  announce_project(home, project, socket);
  EXPECT_EQ(content_of(project.root + "/.git/info/exclude"), ".agent-relay\n");
  EXPECT_EQ(mode_of(project.root + "/.git/info/exclude"), 0644U);
}

TEST_F(ProjectFilesTest, ReplacesALinkToTheSocketOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to act as two users";
  const std::string other = directory.file("other.sock");
  UniqueFd listening{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
  other.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(::bind(listening.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::seteuid(65534), 0);
  const int listened = ::listen(listening.get(), 4);  // the kernel records the uid of the listener
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_EQ(listened, 0);
  fs::create_directories(project.root + "/.agent-relay");
  fs::create_symlink(other, project.link);
  announce_project(home, project, socket);
  EXPECT_EQ(fs::read_symlink(project.link), socket);
}

TEST_F(ProjectFilesTest, CreatesNothingInADirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to change the owner";
  fs::create_directories(project.root + "/.agent-relay");
  ASSERT_EQ(::chown((project.root + "/.agent-relay").c_str(), 65534, 65534), 0);
  announce_project(home, project, socket);
  EXPECT_TRUE(fs::is_empty(project.root + "/.agent-relay"));
}

TEST_F(ProjectFilesTest, LinksThePrimaryPathToAFallbackSocketAndRemovesTheLink) {
  announce_project(home, project, "/run/elsewhere.sock");
  EXPECT_EQ(fs::read_symlink(project.socket.primary), "/run/elsewhere.sock");
  ASSERT_TRUE(prepare_project(project, 6).has_value());
  EXPECT_FALSE(fs::exists(fs::symlink_status(project.socket.primary)));
}

}  // namespace
}  // namespace relay::daemon
