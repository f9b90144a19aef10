#include "daemon/http_callers.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>

#include "base/format.h"
#include "base/unique_fd.h"
#include "host/control/host_record.h"

namespace relay::daemon {
namespace {

using protocol::agent_origin;

struct HttpCallersTest : ::testing::Test {
  std::string folder = format("{}/http-callers-{}", ::testing::TempDir(), ::getpid());
  config::Home home;
  UniqueFd listener{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_in place{};
  socklen_t size = sizeof place;

  HttpCallersTest() {
    home.projects = folder + "/projects";
    home.runtime = folder + "/run";
    std::filesystem::create_directories(hosts());
    place.sin_family = AF_INET;
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    EXPECT_EQ(::bind(listener.get(), address(), size), 0);
    EXPECT_EQ(::listen(listener.get(), 4), 0);
    EXPECT_EQ(::getsockname(listener.get(), address(), &size), 0);
  }
  ~HttpCallersTest() override { std::filesystem::remove_all(folder); }

  sockaddr* address() { return reinterpret_cast<sockaddr*>(&place); }
  [[nodiscard]] std::string hosts() const { return home.projects + "/0123456789ab/hosts"; }
  net::HttpPeer accept() {
    const UniqueFd accepted{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)};
    const auto ends = net::ends_seen_by_peer(accepted.get());
    const auto owner = net::socket_owner(ends.value());
    accepted_ends.push_back(UniqueFd{::fcntl(accepted.get(), F_DUPFD_CLOEXEC, 0)});
    return {.uid = owner ? std::optional{owner->uid} : std::nullopt, .ends = ends};
  }
  std::vector<UniqueFd> accepted_ends;
};

/// A process that connects and sleeps until `end`.
class Caller {
 public:
  explicit Caller(HttpCallersTest& test) {
    int ends[2];
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::close(ends[1]);
      const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
      if (::connect(fd, test.address(), test.size) != 0) ::_exit(1);
      char byte = 0;
      (void)!::read(ends[0], &byte, 1);
      ::_exit(0);
    }
    ::close(ends[0]);
    end_.reset(ends[1]);
    peer = test.accept();
  }
  ~Caller() { end(); }
  void end() {
    end_.reset();
    if (pid_ != 0) ::waitpid(std::exchange(pid_, 0), nullptr, 0);
  }
  [[nodiscard]] pid_t pid() const { return pid_; }

  net::HttpPeer peer;

 private:
  pid_t pid_ = 0;
  UniqueFd end_;
};

TEST_F(HttpCallersTest, ShellWithoutAgentAboveItIsTheUsers) {
  HttpCallers callers{home};
  const Caller shell{*this};
  EXPECT_EQ(callers.classify(shell.peer), protocol::user_origin());
}

TEST_F(HttpCallersTest, ProcessOfAHostOfAnyProjectIsItsAgents) {
  HttpCallers callers{home};
  const Caller agent{*this};
  const auto record =
      host::RecordFile::write(hosts(), {.id = "a1", .name = "Alice", .host_pid = agent.pid(), .socket = "/s"});
  ASSERT_TRUE(record);
  EXPECT_EQ(callers.classify(agent.peer), agent_origin("Alice", "/s"));
}

TEST_F(HttpCallersTest, ConnectionKeepsItsOrigin) {
  HttpCallers callers{home};
  const Caller shell{*this};
  EXPECT_EQ(callers.classify(shell.peer), protocol::user_origin());
  const auto record =
      host::RecordFile::write(hosts(), {.id = "a1", .name = "Alice", .host_pid = shell.pid(), .socket = "/s"});
  ASSERT_TRUE(record);
  EXPECT_EQ(callers.classify(shell.peer), protocol::user_origin()) << "it is not classified again";
}

TEST_F(HttpCallersTest, ProcessThatEndedAfterItsRequestHasNoOrigin) {
  HttpCallers callers{home};
  Caller caller{*this};
  caller.end();
  char byte = 0;
  ASSERT_EQ(::recv(accepted_ends.back().get(), &byte, 1, 0), 0);
  EXPECT_EQ(callers.classify(caller.peer), std::nullopt);
}

TEST_F(HttpCallersTest, CallerOnAnotherMachineIsUnknown) {
  HttpCallers callers{home};
  EXPECT_EQ(callers.classify({.address = "192.0.2.1"}), protocol::PeerOrigin{});
}

}  // namespace
}  // namespace relay::daemon
