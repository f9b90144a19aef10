#include "subjects/byte_socket.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <cstring>

#include "base/format.h"

namespace relay::bench {
namespace {

constexpr std::size_t kFirstBufferBytes = 64 * 1024;
constexpr std::size_t kMinFreeBytes = 16 * 1024;
constexpr int kTimeoutMs = 30'000;

}  // namespace

ByteSocket::ByteSocket(UniqueFd fd)
    : fd_{std::move(fd)},
      in_{std::make_unique_for_overwrite<char[]>(kFirstBufferBytes)},
      in_capacity_{kFirstBufferBytes} {}

Result<ByteSocket> ByteSocket::connect_unix(const std::string& path) {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!fd) return fail_errno("cannot make a socket");
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return fail("the socket path is too long: " + path);
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return fail_errno("cannot connect to " + path);
  return ByteSocket{std::move(fd)};
}

Result<ByteSocket> ByteSocket::connect_loopback(std::uint16_t port) {
  UniqueFd fd{::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
  if (!fd) return fail_errno("cannot make a socket");
  const int yes = 1;
  ::setsockopt(fd.get(), IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
    return fail_errno(relay::format("cannot connect to port {}", port));
  return ByteSocket{std::move(fd)};
}

Result<void> ByteSocket::write_some() {
  const auto wrote = ::send(fd_.get(), out_.data() + out_done_, out_.size() - out_done_, MSG_NOSIGNAL | MSG_DONTWAIT);
  if (wrote < 0) return errno == EAGAIN ? Result<void>{} : fail_errno("cannot write");
  out_done_ += static_cast<std::size_t>(wrote);
  if (out_done_ == out_.size()) {
    out_.clear();
    out_done_ = 0;
  }
  return {};
}

Result<void> ByteSocket::write_all(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto wrote = ::send(fd_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (wrote < 0) return fail_errno("cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
  return {};
}

void ByteSocket::make_space() {
  if (in_start_ == in_end_) in_start_ = in_end_ = 0;
  if (in_capacity_ - in_end_ >= kMinFreeBytes) return;
  const auto buffered = unread();
  if (buffered.size() > in_capacity_ / 2) {
    auto larger = std::make_unique_for_overwrite<char[]>(in_capacity_ * 2);
    std::memcpy(larger.get(), buffered.data(), buffered.size());
    in_ = std::move(larger);
    in_capacity_ *= 2;
  } else {
    std::memmove(in_.get(), buffered.data(), buffered.size());
  }
  in_end_ -= in_start_;
  in_start_ = 0;
}

Result<void> ByteSocket::read_some() {
  make_space();
  const auto got = ::recv(fd_.get(), in_.get() + in_end_, in_capacity_ - in_end_, MSG_DONTWAIT);
  if (got == 0) return fail("the peer closed the connection");
  if (got < 0) return errno == EAGAIN ? Result<void>{} : fail_errno("cannot read");
  in_end_ += static_cast<std::size_t>(got);
  return {};
}

Result<void> ByteSocket::wait_and_read() {
  pollfd readable{.fd = fd_.get(), .events = POLLIN, .revents = 0};
  const auto ready = ::poll(&readable, 1, kTimeoutMs);
  if (ready < 0) return fail_errno("cannot poll");
  if (ready == 0) return fail("no response in time");
  return read_some();
}

}  // namespace relay::bench
