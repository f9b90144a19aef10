#include "host/control/peer_classifier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "host/control/host_record.h"
#include "pty/process_table.h"

namespace relay::host {
namespace {

using protocol::agent_origin;
using protocol::PeerOrigin;
using protocol::user_origin;

const std::vector<AgentProcess> kAgents{{100, "Alice"}, {101, "Alice"}, {200, "Bob"}};
const std::vector<std::string> kSocketRoots{"/home/u/.agent-relay/projects"};

PeerOrigin origin(const std::vector<Ancestor>& ancestors) { return origin_of(ancestors, kAgents, kSocketRoots); }

TEST(PeerOriginOf, ShellWithoutAgentIsUser) { EXPECT_EQ(origin({{7}, {6}, {5}}), user_origin()); }

TEST(PeerOriginOf, ProcessBelowHostIsAgent) {
  EXPECT_EQ(origin({{7}, {6}, {100}, {5}}), agent_origin("Alice"));
  EXPECT_EQ(origin({{200}}), agent_origin("Bob")) << "the host itself";
}

TEST(PeerOriginOf, NearestAgentCounts) { EXPECT_EQ(origin({{7}, {200}, {6}, {100}}), agent_origin("Bob")); }

TEST(PeerOriginOf, OrphanIsClassifiedByEnvironment) {
  const Ancestor orphan{.pid = 7, .socket = "/home/u/.agent-relay/projects/1/hosts/a.sock"};
  EXPECT_EQ(origin({orphan}), agent_origin("", orphan.socket)) << "without a record of the host the agent has no name";
  EXPECT_EQ(origin({{9}, orphan}), agent_origin("", orphan.socket));
}

TEST(PeerOriginOf, EnvironmentDoesNotChangeAgentOfProcess) {
  const std::string socket = "/home/u/.agent-relay/projects/1/hosts/a.sock";
  EXPECT_EQ(origin({{.pid = 7, .socket = socket}, {100}}), agent_origin("Alice"));
  EXPECT_EQ(origin({{.pid = 7, .socket = socket}, {100}}), agent_origin("Alice")) << "env -u AGENT_RELAY_NAME";
  const std::vector<AgentProcess> recorded{{.pid = 100, .agent = "Alice", .socket = socket}};
  const std::vector<Ancestor> orphan{{.pid = 7, .socket = socket}};
  EXPECT_EQ(origin_of(orphan, recorded, kSocketRoots), agent_origin("Alice", socket));
}

TEST(PeerOriginOf, SocketOfAnotherHomeDoesNotCount) {
  EXPECT_EQ(origin({{.pid = 7, .socket = "/elsewhere/projects/1/hosts/a.sock"}}), user_origin());
  EXPECT_EQ(origin({{.pid = 7, .socket = "/home/u/.agent-relay/projects-2/a.sock"}}), user_origin());
}

TEST(PeerOriginOf, EndedProcessIsUnknown) { EXPECT_EQ(origin({}), PeerOrigin{}); }

TEST(PeerOriginOf, CutChainIsUnknownUnlessItHasAgent) {
  std::vector<Ancestor> chain(kMaxAncestors - 1, {7});
  EXPECT_EQ(origin(chain), user_origin());
  chain.push_back({8});
  EXPECT_EQ(origin(chain), PeerOrigin{}) << "an agent may be above it";
  chain.back() = {100};
  EXPECT_EQ(origin(chain), agent_origin("Alice"));
}

/// A child process that runs until its destruction.
class WaitingChild {
 public:
  explicit WaitingChild(bool with_child = false) {
    int ends[2];
    int report[2];
    EXPECT_EQ(::pipe(ends), 0);
    EXPECT_EQ(::pipe(report), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[1]);
      const pid_t below = with_child ? ::fork() : ::getpid();
      if (below == 0) run(ends[0]);
      (void)!::write(report[1], &below, sizeof below);
      run(ends[0]);
    }
    ::close(ends[0]);
    EXPECT_EQ(::read(report[0], &below_, sizeof below_), static_cast<ssize_t>(sizeof below_));
    ::close(report[0]);
    ::close(report[1]);
    end_ = ends[1];
  }
  ~WaitingChild() {
    ::close(end_);
    ::waitpid(pid_, nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }
  [[nodiscard]] pid_t below() const { return below_; }

 private:
  [[noreturn]] static void run(int end) {
    char byte = 0;
    (void)!::read(end, &byte, 1);
    ::_exit(0);
  }
  pid_t pid_ = 0, below_ = 0;
  int end_ = -1;
};

struct PeerClassifierTest : ::testing::Test {
  std::string folder = format("{}/peer-classifier-{}", ::testing::TempDir(), ::getpid());
  PeerClassifierTest() { std::filesystem::create_directories(folder); }
  ~PeerClassifierTest() override { std::filesystem::remove_all(folder); }
};

TEST_F(PeerClassifierTest, ProcessBelowRecordedHostIsItsAgent) {
  PeerClassifier classifier{folder, {}, {}};
  const WaitingChild host{true};
  EXPECT_EQ(classifier.classify(host.below()), user_origin());
  {
    const auto record =
        RecordFile::write(folder, {.id = "a1", .name = "Alice", .host_pid = host.pid(), .socket = "/s"});
    ASSERT_TRUE(record);
    EXPECT_EQ(classifier.classify(host.pid()), agent_origin("Alice", "/s"));
    EXPECT_EQ(classifier.classify(host.below()), agent_origin("Alice", "/s"));
    EXPECT_EQ(classifier.classify(::getppid()), user_origin());
  }
  EXPECT_EQ(classifier.classify(host.below()), user_origin()) << "the host has ended";
}

TEST_F(PeerClassifierTest, AgentOfAnotherWorkspaceHasNoName) {
  const auto own = folder + "/projects/a/hosts", other = folder + "/projects/b/hosts";
  for (const auto& directory : {own, other}) std::filesystem::create_directories(directory);
  PeerClassifier classifier{own, folder + "/projects", {}};
  const WaitingChild alice, namesake;
  const auto here = RecordFile::write(own, {.id = "a1", .name = "Alice", .host_pid = alice.pid(), .socket = "/a"});
  const auto there =
      RecordFile::write(other, {.id = "b1", .name = "Alice", .host_pid = namesake.pid(), .socket = "/b"});
  ASSERT_TRUE(here && there);
  EXPECT_EQ(classifier.classify(alice.pid()), agent_origin("Alice", "/a"));
  EXPECT_EQ(classifier.classify(namesake.pid()), agent_origin("", "/b"));
}

TEST_F(PeerClassifierTest, HostsOfAllGivenDirectoriesCount) {
  const auto other = folder + "/other";
  std::filesystem::create_directories(other);
  PeerClassifier classifier{[this, other] { return std::vector{folder + "/none", folder, other}; }, {}};
  const WaitingChild host;
  EXPECT_EQ(classifier.classify(host.pid()), user_origin());
  const auto record = RecordFile::write(other, {.id = "a1", .name = "Alice", .host_pid = host.pid(), .socket = "/s"});
  ASSERT_TRUE(record);
  EXPECT_EQ(classifier.classify(host.pid()), agent_origin("Alice", "/s"));
}

TEST(PeerOriginOf, ReusedPidOfDeadAgentIsUser) {
  const std::vector<AgentProcess> dead{{.pid = 7, .agent = "Old", .start = 1'000}};
  const auto classify = [&](std::uint64_t start) {
    return origin_of(std::vector<Ancestor>{{.pid = 8, .start = 3'000}, {.pid = 7, .start = start}}, dead, {});
  };
  EXPECT_EQ(classify(2'000), user_origin());
  EXPECT_EQ(classify(1'000), agent_origin("Old"));
}

TEST_F(PeerClassifierTest, RecordOfKilledHostDoesNotClassifyReusedPid) {
  PeerClassifier classifier{folder, {}, {}};
  const WaitingChild shell;
  const auto start = pty::find_process(shell.pid())->id.start;
  const auto with = [&](std::uint64_t recorded, const std::string& boot) {
    const auto record = RecordFile::write(folder, {.id = "a1",
                                                   .name = "Old",
                                                   .agent_pid = shell.pid(),
                                                   .agent_start = recorded,
                                                   .boot_id = boot,
                                                   .socket = "/s"});
    EXPECT_TRUE(record);
    return classifier.classify(shell.pid());
  };
  EXPECT_EQ(with(start - 1, pty::boot_id()), user_origin());
  EXPECT_EQ(with(start, "another boot"), user_origin());
  EXPECT_EQ(with(start, pty::boot_id()), agent_origin("Old", "/s"));
}

TEST_F(PeerClassifierTest, OwnProcessIsDaemon) {
  PeerClassifier classifier{folder, {}, {}};
  EXPECT_EQ(classifier.classify(::getpid()), protocol::daemon_origin());
  EXPECT_TRUE(classifier.classify(::getpid()).is_user());
}

TEST_F(PeerClassifierTest, UnreadableProcessIsUnknown) {
  PeerClassifier classifier{folder, {}, {}};
  pid_t ended = 0;
  {
    const WaitingChild child;
    ended = child.pid();
  }
  EXPECT_EQ(classifier.classify(ended), PeerOrigin{});
  EXPECT_EQ(classifier.classify(0), PeerOrigin{}) << "a process of another pid namespace";
}

}  // namespace
}  // namespace relay::host
