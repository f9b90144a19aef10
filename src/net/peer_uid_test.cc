#include "net/peer_uid.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "base/unique_fd.h"

namespace relay::net {
namespace {

constexpr uid_t kOtherUid = 65'534;

using Lookup = std::optional<uid_t> (*)(int);

/// Runs over all lookup functions.
struct PeerUid : ::testing::TestWithParam<Lookup> {
  UniqueFd listener;
  sockaddr_storage address_{};
  socklen_t size = 0;

  bool listen(const auto& address) {
    size = sizeof address;
    std::memcpy(&address_, &address, size);
    listener.reset(::socket(address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    return ::bind(listener.get(), reinterpret_cast<sockaddr*>(&address_), size) == 0 &&
           ::listen(listener.get(), 4) == 0 &&
           ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address_), &size) == 0;
  }
  void listen_on_loopback() {
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    ASSERT_TRUE(listen(address));
  }
  [[nodiscard]] UniqueFd connect() const {
    UniqueFd fd{::socket(address_.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    EXPECT_EQ(::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address_), size), 0);
    return fd;
  }
  [[nodiscard]] UniqueFd accept() const { return UniqueFd{::accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC)}; }
  [[nodiscard]] std::uint16_t port() const {
    sockaddr_in address{};
    std::memcpy(&address, &address_, sizeof address);
    return address.sin_port;
  }
  static std::optional<uid_t> lookup(const UniqueFd& socket) { return GetParam()(socket.get()); }
};

TEST_P(PeerUid, FindsOurOwnUid) {
  listen_on_loopback();
  const auto client = connect();
  const auto accepted = accept();
  EXPECT_EQ(lookup(accepted), ::geteuid());
  EXPECT_EQ(lookup(client), ::geteuid()) << "from either end";
}

TEST_P(PeerUid, WorksOnIpv6) {
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = in6addr_loopback;
  if (!listen(address)) GTEST_SKIP() << "this machine has no IPv6";
  const auto client = connect();
  const auto accepted = accept();
  EXPECT_EQ(lookup(accepted), ::geteuid());
}

TEST_P(PeerUid, FindsAnIpv4ClientOfAnIpv6Listener) {
  listen_on_loopback();
  sockaddr_in6 mapped{};
  mapped.sin6_family = AF_INET6;
  mapped.sin6_port = port();
  mapped.sin6_addr.s6_addr[10] = mapped.sin6_addr.s6_addr[11] = 0xff;
  mapped.sin6_addr.s6_addr[12] = 127;
  mapped.sin6_addr.s6_addr[15] = 1;
  const UniqueFd client{::socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (::connect(client.get(), reinterpret_cast<sockaddr*>(&mapped), sizeof mapped) != 0)
    GTEST_SKIP() << "this machine has no IPv6";
  const auto accepted = accept();
  EXPECT_EQ(lookup(accepted), ::geteuid());
}

TEST_P(PeerUid, ReportsNoOwnerForAClosedSocket) {
  listen_on_loopback();
  auto client = connect();
  const auto accepted = accept();
  client.reset();
  char byte = 0;
  ASSERT_EQ(::recv(accepted.get(), &byte, 1, 0), 0);
  EXPECT_EQ(lookup(accepted), std::nullopt);
}

TEST_P(PeerUid, FindsAnotherUser) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root, to change the user";
  listen_on_loopback();
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  const UniqueFd read_end{ends[0]};
  UniqueFd write_end{ends[1]};
  const pid_t child = ::fork();
  if (child == 0) {
    char byte = 0;
    write_end.reset();
    if (::setresuid(kOtherUid, kOtherUid, kOtherUid) != 0) ::_exit(1);
    const int fd = ::socket(AF_INET, SOCK_STREAM, 0);
    if (::connect(fd, reinterpret_cast<const sockaddr*>(&address_), size) != 0) ::_exit(2);
    ::_exit(::read(read_end.get(), &byte, 1) == 0 ? 0 : 3);  // until the parent has looked it up
  }
  const auto accepted = accept();
  EXPECT_EQ(lookup(accepted), kOtherUid);
  write_end.reset();
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_P(PeerUid, ReportsNoOwnerWithoutConnection) {
  listen_on_loopback();
  EXPECT_EQ(lookup(listener), std::nullopt);
  int ends[2];
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd one{ends[0]}, other{ends[1]};
  EXPECT_EQ(lookup(one), std::nullopt);
  EXPECT_EQ(lookup(UniqueFd{}), std::nullopt);
}

std::optional<uid_t> by_netlink(int socket) {
  const auto answer = peer_uid_by_netlink(socket);
  EXPECT_TRUE(answer.answered);
  return answer.uid;
}

INSTANTIATE_TEST_SUITE_P(Sources, PeerUid, ::testing::Values(&peer_uid, &by_netlink, &peer_uid_by_proc));

}  // namespace
}  // namespace relay::net
