#include "config/paths.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>

#include "base/hash.h"
#include "base/unique_fd.h"

namespace relay::config {
namespace {

namespace fs = std::filesystem;

class Paths : public ::testing::Test {
 protected:
  Paths() {
    std::string pattern = "/tmp/paths-XXXXXX";
    top_ = fs::canonical(::mkdtemp(pattern.data())).string();
    fs::create_directories(top_ + "/user");
    variables_["HOME"] = top_ + "/user";
  }
  ~Paths() override { fs::remove_all(top_); }

  Environment environment() {
    return [this](std::string_view name) -> std::optional<std::string> {
      const auto found = variables_.find(std::string{name});
      return found == variables_.end() ? std::nullopt : std::optional{found->second};
    };
  }
  Home home() { return find_home(environment()).value(); }
  std::string root_from(const std::string& start) { return find_project_root(start, home(), environment()); }
  void make(const std::string& directory) { fs::create_directories(top_ + "/" + directory); }
  void touch(const std::string& file) { std::ofstream{top_ + "/" + file}; }

  std::string top_;
  std::map<std::string, std::string> variables_;
};

TEST_F(Paths, DefaultsToAHomeInTheUsersDirectory) {
  EXPECT_EQ(home().root, top_ + "/user/.agent-relay");
  EXPECT_EQ(home().config_file, top_ + "/user/.agent-relay/config.toml");
  variables_["AGENT_RELAY_HOME"] = top_ + "/elsewhere/";
  EXPECT_EQ(home().root, top_ + "/elsewhere");
}

TEST_F(Paths, RefusesTheFileSystemRootAsHome) {
  variables_["AGENT_RELAY_HOME"] = "/";
  EXPECT_FALSE(find_home(environment()).has_value());
}

TEST_F(Paths, FindsTheNearestAncestorWithAMarker) {
  make("repo/.git");
  make("repo/packages/one/src");
  EXPECT_EQ(root_from(top_ + "/repo/packages/one/src"), top_ + "/repo");
  touch("repo/packages/one/package.json");
  EXPECT_EQ(root_from(top_ + "/repo/packages/one/src"), top_ + "/repo/packages/one");
}

TEST_F(Paths, AcceptsEveryMarker) {
  int number = 0;
  for (const auto* marker : {".git", "package.json", "Cargo.toml", "go.mod", "pyproject.toml", ".agent-relay"}) {
    const auto name = "m" + std::to_string(number++);
    make(name + "/inside");
    touch(name + "/" + marker);
    EXPECT_EQ(root_from(top_ + "/" + name + "/inside"), top_ + "/" + name) << marker;
  }
}

TEST_F(Paths, UsesTheDirectoryWithoutMarker) {
  make("plain/inside");
  EXPECT_EQ(root_from(top_ + "/plain/inside"), top_ + "/plain/inside");
}

TEST_F(Paths, IgnoresARelayHomeAsMarker) {
  make("user/.agent-relay");
  make("user/notes");
  EXPECT_EQ(root_from(top_ + "/user/notes"), top_ + "/user/notes");
  variables_["AGENT_RELAY_HOME"] = top_ + "/other/.agent-relay";
  make("other/.agent-relay");
  make("other/notes");
  EXPECT_EQ(root_from(top_ + "/other/notes"), top_ + "/other/notes");
  EXPECT_EQ(root_from(top_ + "/user/notes"), top_ + "/user/notes") << "the default home is still a home";
}

TEST_F(Paths, TakesTheProjectFromTheEnvironment) {
  make("repo/.git");
  variables_["AGENT_RELAY_PROJECT"] = top_ + "/named/";
  EXPECT_EQ(root_from(top_ + "/repo"), top_ + "/named");
}

TEST_F(Paths, ResolvesLinksOfAProjectRoot) {
  make("repo/.git");
  fs::create_directory_symlink(top_ + "/repo", top_ + "/link");
  EXPECT_EQ(root_from(top_ + "/link"), top_ + "/repo");
}

TEST_F(Paths, DerivesTheProjectIdFromTheRoot) {
  EXPECT_EQ(project_id("/srv/app"), sha256_hex("/srv/app").substr(0, 12));
  const auto project = project_at("/srv/app/", home());
  EXPECT_EQ(project.root, "/srv/app");
  EXPECT_EQ(project.id, project_id("/srv/app"));
  EXPECT_EQ(project.socket.primary, home().root + "/projects/" + project.id + "/relay.sock");
  EXPECT_EQ(project.pid_file, project.socket.primary + ".pid");
  EXPECT_EQ(project.link, "/srv/app/.agent-relay/relay.sock");
}

TEST_F(Paths, CreatesAPrivateDirectory) {
  const auto path = top_ + "/a/b/c";
  ASSERT_TRUE(make_private_directory(path).has_value());
  struct stat info{};
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U);
  ::chmod(path.c_str(), 0755);
  ASSERT_TRUE(make_private_directory(path).has_value());
  ASSERT_EQ(::stat(path.c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 07777, 0700U) << "an existing one becomes private";
}

TEST_F(Paths, ReportsAFileAtTheDirectoryPath) {
  touch("file");
  const auto made = make_private_directory(top_ + "/file");
  ASSERT_FALSE(made.has_value());
  EXPECT_NE(made.error().message().find(top_ + "/file is not a directory"), std::string::npos)
      << made.error().message();
  EXPECT_FALSE(make_private_directory(top_ + "/file/inside").has_value());
}

TEST_F(Paths, PrefersThePrimarySocketPath) {
  const SocketPaths paths{top_ + "/d/relay.sock", top_ + "/run/relay.sock"};
  EXPECT_EQ(socket_to_listen(paths).value(), paths.primary);
  EXPECT_FALSE(fs::exists(top_ + "/run")) << "the fallback is not created";
  EXPECT_TRUE(fs::is_empty(top_ + "/d")) << "the probe is removed";
}

TEST_F(Paths, FallsBackWhenTheSocketPathIsTooLong) {
  const SocketPaths paths{top_ + "/" + std::string(100, 'x') + "/relay.sock", top_ + "/run/relay.sock"};
  EXPECT_EQ(socket_to_listen(paths).value(), paths.fallback);
  EXPECT_EQ(socket_to_connect(paths), paths.fallback);
}

TEST_F(Paths, UsesTmpWhenTheFallbackIsTooLong) {
  make(std::string(90, 'r'));
  variables_["XDG_RUNTIME_DIR"] = top_ + "/" + std::string(90, 'r');
  EXPECT_LE(home().daemon_socket.fallback.size(), kMaxSocketPathBytes);
  EXPECT_TRUE(home().daemon_socket.fallback.starts_with("/tmp/agent-relay-"));
}

UniqueFd listen_at(const std::string& path) {
  UniqueFd socket{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  EXPECT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
  return socket;
}

TEST_F(Paths, ConnectsToTheExistingSocket) {
  const SocketPaths paths{top_ + "/d/relay.sock", top_ + "/run/relay.sock"};
  EXPECT_EQ(socket_to_connect(paths), paths.primary);
  ASSERT_TRUE(make_private_directory(top_ + "/run").has_value());
  const auto fallback = listen_at(paths.fallback);
  EXPECT_EQ(socket_to_connect(paths), paths.fallback);
  ::chmod((top_ + "/run").c_str(), 0755);
  EXPECT_EQ(socket_to_connect(paths), paths.primary) << "a directory that others can enter is not used";
}

TEST_F(Paths, IgnoresARuntimeDirectoryOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to change the owner";
  const SocketPaths paths{top_ + "/" + std::string(100, 'x') + "/relay.sock", top_ + "/run/relay.sock"};
  ASSERT_TRUE(make_private_directory(top_ + "/run").has_value());
  const auto trap = listen_at(paths.fallback);
  ASSERT_EQ(::chown((top_ + "/run").c_str(), 65534, 65534), 0);
  EXPECT_NE(socket_to_connect(paths), paths.fallback);
  const auto listening = socket_to_listen(paths);
  ASSERT_FALSE(listening.has_value());
  EXPECT_NE(listening.error().message().find("the runtime directory " + top_ + "/run cannot be used"),
            std::string::npos)
      << listening.error().message();

  make("theirs");
  ASSERT_EQ(::chown((top_ + "/theirs").c_str(), 65534, 65534), 0);
  variables_["XDG_RUNTIME_DIR"] = top_ + "/theirs";
  EXPECT_FALSE(home().runtime.starts_with(top_)) << "as under sudo";
}

TEST_F(Paths, SharesTheWorkspaceOfLinkedWorktrees) {
  make("main/.git/worktrees/side");
  make("side/src");
  std::ofstream{top_ + "/side/.git"} << "gitdir: " << top_ << "/main/.git/worktrees/side\n";
  std::ofstream{top_ + "/main/.git/worktrees/side/commondir"} << "../..\n";
  std::ofstream{top_ + "/main/.git/worktrees/side/gitdir"} << top_ << "/side/.git\n";
  EXPECT_EQ(root_from(top_ + "/side/src"), top_ + "/side");
  EXPECT_EQ(workspace_root(top_ + "/side", home(), environment()), top_ + "/main");
  EXPECT_EQ(workspace_root(top_ + "/main", home(), environment()), top_ + "/main");
  variables_["AGENT_RELAY_WORKSPACE"] = "worktree";
  EXPECT_EQ(workspace_root(top_ + "/side", home(), environment()), top_ + "/side");
}

struct LinkedPaths : Paths {
  LinkedPaths() {
    make("main/.git/worktrees/side");
    make("main/src");
    make("side/src");
    std::ofstream{top_ + "/side/.git"} << "gitdir: " << top_ << "/main/.git/worktrees/side\n";
    std::ofstream{top_ + "/main/.git/worktrees/side/commondir"} << "../..\n";
    std::ofstream{top_ + "/main/.git/worktrees/side/gitdir"} << top_ << "/side/.git\n";
  }
  /// `root tree`, without the common prefix.
  std::string paths_of(const std::string& directory) {
    const auto project = project_of(top_ + directory, home(), environment());
    const auto shorter = [&](const std::string& path) {
      return path.starts_with(top_) ? path.substr(top_.size()) : path;
    };
    return shorter(project.root) + " " + shorter(project.tree);
  }
};

TEST_F(LinkedPaths, PlacesAgentFilesInTheWorktree) {
  EXPECT_EQ(paths_of("/side"), "/main /side");
  EXPECT_EQ(paths_of("/side/src"), "/main /side");
  EXPECT_EQ(paths_of("/main/src"), "/main /main");
  variables_["AGENT_RELAY_PROJECT"] = top_ + "/main";
  EXPECT_EQ(paths_of("/side/src"), "/main /side") << "as inside an agent";
  EXPECT_EQ(paths_of("/main/src"), "/main /main");
  EXPECT_EQ(paths_of("/user"), "/main /main");
  variables_["AGENT_RELAY_PROJECT"] = top_ + "/side";
  EXPECT_EQ(paths_of("/user"), "/main /side");
  EXPECT_EQ(paths_of("/main"), "/main /side");
  variables_["AGENT_RELAY_WORKSPACE"] = "worktree";
  EXPECT_EQ(paths_of("/side"), "/side /side");
  variables_["AGENT_RELAY_PROJECT"] = top_ + "/main";
  EXPECT_EQ(paths_of("/side"), "/main /main");
}

TEST_F(LinkedPaths, MapsAProjectInsideAWorktreeToTheMainOne) {
  make("side/packages/a/lib");
  make("side/packages/new");
  make("main/packages/a");
  touch("side/packages/a/package.json");
  touch("side/packages/new/package.json");
  touch("main/packages/a/package.json");
  EXPECT_EQ(paths_of("/side/packages/a/lib"), "/main/packages/a /side/packages/a");
  EXPECT_EQ(paths_of("/side/packages/new"), "/main /side") << "the main worktree does not have it";
  variables_["AGENT_RELAY_PROJECT"] = top_ + "/main/packages/a";
  EXPECT_EQ(paths_of("/side/packages/a"), "/main/packages/a /side/packages/a");
  variables_["AGENT_RELAY_PROJECT"] = top_ + "/main";
  EXPECT_EQ(paths_of("/side/packages/a"), "/main /side");
  variables_.erase("AGENT_RELAY_PROJECT");
  variables_["AGENT_RELAY_WORKSPACE"] = "worktree";
  EXPECT_EQ(paths_of("/side/packages/a"), "/side/packages/a /side/packages/a");
}

}  // namespace
}  // namespace relay::config
