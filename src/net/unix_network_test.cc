#include "net/unix_network.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <fstream>

#include "base/unique_fd.h"
#include "net/testing/loop_driver.h"
#include "net/testing/temporary_directory.h"
#include "net/unix_address.h"

namespace relay::net {
namespace {

using testing::run_until;
using testing::TemporaryDirectory;

struct NetworkTest : ::testing::Test {
  TemporaryDirectory directory;
  AsioLoop loop;
  UnixNetwork network{loop};
  std::vector<std::unique_ptr<Stream>> accepted;

  Result<std::unique_ptr<Listener>> listen(const std::string& path) {
    return network.listen(path, [this](std::unique_ptr<Stream> stream) { accepted.push_back(std::move(stream)); });
  }
};

/// Leaves a stale socket file, as a killed daemon does.
void leave_stale_socket(const std::string& path) {
  const UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size());
  ASSERT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(::listen(fd.get(), 1), 0);
}

TEST_F(NetworkTest, CreatesAPrivateSocket) {
  const mode_t before = ::umask(0);
  const auto listener = listen(directory.file("relay.sock"));
  ::umask(before);
  ASSERT_TRUE(listener.has_value()) << listener.error().message();
  struct stat status{};
  ASSERT_EQ(::lstat(directory.file("relay.sock").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777, 0600U);
}

TEST_F(NetworkTest, ReadsPeerCredentials) {
  const auto listener = listen(directory.file("relay.sock"));
  ASSERT_TRUE(listener.has_value());
  std::unique_ptr<Stream> client;
  network.connect(directory.file("relay.sock"), [&](Result<std::unique_ptr<Stream>> made) {
    ASSERT_TRUE(made.has_value()) << made.error().message();
    client = *std::move(made);
  });
  ASSERT_TRUE(run_until(loop, [&] { return client && accepted.size() == 1; }));
  EXPECT_EQ(accepted[0]->peer().uid, ::geteuid());
  EXPECT_EQ(accepted[0]->peer().pid, ::getpid());
}

TEST_F(NetworkTest, RefusesAConnectionOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to act as two users";
  constexpr uid_t kOtherUser = 65534;
  const auto listener = listen(directory.file("relay.sock"));
  ASSERT_TRUE(listener.has_value());
  const auto client = connect_now(directory.file("relay.sock"));  // the kernel records the uid that connected: root
  ASSERT_TRUE(client.has_value());
  ASSERT_EQ(::seteuid(kOtherUser), 0);
  char byte = 0;
  const bool ended = run_until(loop, [&] { return ::recv(client->get(), &byte, 1, MSG_DONTWAIT) == 0; });
  ASSERT_EQ(::seteuid(0), 0);
  EXPECT_TRUE(ended);
  EXPECT_TRUE(accepted.empty());
}

TEST_F(NetworkTest, SendsNothingToASocketOfAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to act as two users";
  constexpr uid_t kOtherUser = 65534;
  const std::string path = directory.file("relay.sock");
  ASSERT_EQ(::chmod(directory.path().c_str(), 0777), 0);
  ASSERT_EQ(::seteuid(kOtherUser), 0);
  const auto bound = bind_and_listen(path);  // the kernel records the uid that listens
  ASSERT_EQ(::seteuid(0), 0);
  ASSERT_TRUE(bound.has_value()) << bound.error().message();
  bool refused = false;
  network.connect(path, [&](Result<std::unique_ptr<Stream>> made) {
    ASSERT_FALSE(made.has_value());
    EXPECT_TRUE(is(made.error(), Errc::ForeignListener)) << made.error().message();
    EXPECT_NE(made.error().message().find("another user (uid 65534)"), std::string::npos) << made.error().message();
    refused = true;
  });
  EXPECT_TRUE(run_until(loop, [&] { return refused; }));
}

TEST_F(NetworkTest, KeepsAFileThatIsNotASocket) {
  const std::string path = directory.file("precious.txt");
  std::ofstream{path} << "precious";
  const auto listener = listen(path);
  ASSERT_FALSE(listener.has_value());
  EXPECT_TRUE(is(listener.error(), Errc::NotASocket));
  EXPECT_NE(listener.error().message().find("not a socket"), std::string::npos);
  std::string content;
  std::ifstream{path} >> content;
  EXPECT_EQ(content, "precious");
}

TEST_F(NetworkTest, ReplacesAStaleSocket) {
  const std::string path = directory.file("relay.sock");
  leave_stale_socket(path);
  const auto listener = listen(path);
  ASSERT_TRUE(listener.has_value()) << listener.error().message();
}

TEST_F(NetworkTest, KeepsASocketInUse) {
  const std::string path = directory.file("relay.sock");
  const auto first = listen(path);
  ASSERT_TRUE(first.has_value());
  const auto second = listen(path);
  ASSERT_FALSE(second.has_value());
  EXPECT_TRUE(is(second.error(), Errc::InUse));
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
}

TEST_F(NetworkTest, ReportsATooLongPath) {
  const auto listener = listen(directory.file(std::string(200, 'x')));
  ASSERT_FALSE(listener.has_value());
  EXPECT_TRUE(is(listener.error(), Errc::PathTooLong));
  EXPECT_NE(listener.error().message().find("allows 1 to 107"), std::string::npos) << listener.error().message();
}

TEST_F(NetworkTest, RemovesOnlyItsOwnSocketFile) {
  const std::string path = directory.file("relay.sock");
  auto listener = *listen(path);
  listener.reset();
  EXPECT_NE(::access(path.c_str(), F_OK), 0);

  listener = *listen(path);
  ::unlink(path.c_str());
  std::ofstream{path} << "another file";
  listener.reset();
  EXPECT_EQ(::access(path.c_str(), F_OK), 0);
}

TEST_F(NetworkTest, NamesTheNextStepWithoutListener) {
  std::string reason;
  network.connect(directory.file("relay.sock"), [&](Result<std::unique_ptr<Stream>> made) {
    ASSERT_FALSE(made.has_value());
    reason = made.error().message();
  });
  ASSERT_TRUE(run_until(loop, [&] { return !reason.empty(); }));
  EXPECT_NE(reason.find("no one is listening; start it with: agent-relay up"), std::string::npos);
}

TEST_F(NetworkTest, AcceptsAgainWhenDescriptorsAreFree) {
  const std::string path = directory.file("relay.sock");
  const auto listener = listen(path);
  ASSERT_TRUE(listener.has_value());
  auto waiting = connect_now(path);
  ASSERT_TRUE(waiting.has_value());

  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const UniqueFd next{::dup(0)};  // every descriptor below this number is taken
  rlimit none = before;
  none.rlim_cur = static_cast<rlim_t>(next.get());
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  bool tried = false;
  const auto later = loop.after(Millis{20}, [&] { tried = true; });
  ASSERT_TRUE(run_until(loop, [&] { return tried; }));
  EXPECT_TRUE(accepted.empty());

  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(run_until(loop, [&] { return accepted.size() == 1; }));
}

TEST_F(NetworkTest, AcceptsMoreClientsThanOneTurnAllows) {
  const std::string path = directory.file("relay.sock");
  const auto listener = listen(path);
  ASSERT_TRUE(listener.has_value());
  std::vector<UniqueFd> clients;
  for (int i = 0; i < 200; ++i) {
    auto fd = connect_now(path);
    ASSERT_TRUE(fd.has_value() && *fd);
    clients.push_back(*std::move(fd));
  }
  EXPECT_TRUE(run_until(loop, [&] { return accepted.size() == 200; }));
}

}  // namespace
}  // namespace relay::net
