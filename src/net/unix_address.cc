#include "net/unix_address.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstring>

#include "base/format.h"

namespace relay::net {
namespace {

constexpr mode_t kSocketMode = 0600;
constexpr int kListenBacklog = 4096;  // the kernel caps it at net.core.somaxconn

Result<sockaddr_un> make_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.empty() || path.size() > max_socket_path()) {
    return fail(Errc::PathTooLong,
                format("cannot use the socket path {}: it has {} bytes and this system allows 1 to {}; choose a "
                       "shorter one with --socket or AGENT_RELAY_HOME",
                       path, path.size(), max_socket_path()));
  }
  std::memcpy(address.sun_path, path.c_str(), path.size());
  return address;
}

Result<UniqueFd> create_socket() {
  UniqueFd fd{::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!fd) return fail_errno("cannot create a socket");
  return fd;
}

int connect_to(int fd, const sockaddr_un& address) {
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0) return 0;
  return errno;
}

/// Removes a stale socket so that bind can succeed; fails if the path is in use.
Result<void> clear_stale_socket(const std::string& path, const sockaddr_un& address) {
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return {};
    return fail_errno(format("cannot inspect {}", path));
  }
  if (!S_ISSOCK(status.st_mode)) {
    return fail(Errc::NotASocket,
                format("cannot listen at {}: something that is not a socket is there; move it aside or choose another "
                       "path",
                       path));
  }
  const UniqueFd probe = RELAY_TRY(create_socket());
  const int result = connect_to(probe.get(), address);
  if (result == 0 || result == EAGAIN) {
    return fail(Errc::InUse, format("cannot listen at {}: another process is listening there; stop it first", path));
  }
  if (result != ECONNREFUSED)
    return fail_errno(format("cannot determine whether a program listens at {}", path), result);
  if (::unlink(path.c_str()) != 0 && errno != ENOENT)
    return fail_errno(format("cannot remove the old socket {}", path));
  return {};
}

}  // namespace

std::string_view describe(Errc code) {
  switch (code) {
    case Errc::PathTooLong: return "the socket path is too long";
    case Errc::NotASocket: return "the path is not a socket";
    case Errc::InUse: return "another process is listening";
    case Errc::ConnectionRefused: return "no one is listening";
    case Errc::ForeignListener: return "a program of another user is listening";
  }
  return "unknown";
}

std::size_t max_socket_path() { return sizeof(sockaddr_un{}.sun_path) - 1; }

Result<BoundSocket> bind_and_listen(const std::string& path) {
  const sockaddr_un address = RELAY_TRY(make_address(path));
  RELAY_TRY(clear_stale_socket(path, address));

  BoundSocket bound{RELAY_TRY(create_socket())};
  // The file takes the mode of the descriptor, so there is no moment at which other users could connect (umask would be
  // shared with other threads).
  if (::fchmod(bound.fd.get(), kSocketMode) != 0) return fail_errno("cannot set the mode of a socket");
  if (::bind(bound.fd.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return fail_errno(format("cannot listen at {}", path));
  }
  struct stat status{};
  if (::lstat(path.c_str(), &status) != 0) return fail_errno(format("cannot inspect {}", path));
  bound.device = status.st_dev;
  bound.inode = status.st_ino;
  if ((status.st_mode & 07777) != kSocketMode && ::chmod(path.c_str(), kSocketMode) != 0) {
    const int number = errno;
    ::unlink(path.c_str());
    return fail_errno(format("cannot make {} private", path), number);
  }
  if (::listen(bound.fd.get(), kListenBacklog) != 0) {
    const int number = errno;
    ::unlink(path.c_str());
    return fail_errno(format("cannot listen at {}", path), number);
  }
  return bound;
}

Result<void> check_listener(int connected_socket, const std::string& path) {
  ucred listener{};
  socklen_t length = sizeof listener;
  if (::getsockopt(connected_socket, SOL_SOCKET, SO_PEERCRED, &listener, &length) != 0)
    return fail_errno(format("cannot determine the owner of {}", path));
  if (listener.uid == ::geteuid()) return {};
  return fail(Errc::ForeignListener,
              format("cannot use the socket {}: a program of another user (uid {}) listens there, nothing was sent "
                     "to it; move the socket away or run as that user",
                     path, listener.uid));
}

Result<UniqueFd> connect_now(const std::string& path) {
  const sockaddr_un address = RELAY_TRY(make_address(path));
  UniqueFd fd = RELAY_TRY(create_socket());
  const int result = connect_to(fd.get(), address);
  if (result == 0) {
    RELAY_TRY(check_listener(fd.get(), path));
    return fd;
  }
  if (result == EAGAIN) return UniqueFd{};
  if (result == ENOENT || result == ECONNREFUSED) {
    return fail(Errc::ConnectionRefused,
                format("cannot reach the daemon at {}: no one is listening; start it with: agent-relay up", path));
  }
  return fail_errno(format("cannot reach the daemon at {}", path), result);
}

}  // namespace relay::net
