/// Places in the file system where one can listen and connect, and what may go wrong there.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::net {

enum class Errc { PathTooLong, NotASocket, InUse, ConnectionRefused, ForeignListener };
std::string_view describe(Errc code);

/// The longest path a Unix socket may have here (sun_path without its final zero).
std::size_t max_socket_path();

/// The socket file a listener made: enough to remove that one and no other.
struct BoundSocket {
  UniqueFd fd;
  dev_t device = 0;
  ino_t inode = 0;
};

/// Binds and listens at the path, mode 0600 from its first instant. The directory must exist. A socket nobody listens
/// on is replaced; a living one and anything that is no socket are left alone and refused.
Result<BoundSocket> bind_and_listen(const std::string& path);

/// The program that listens at the other end of a connected Unix socket runs as this user, by the kernel's word;
/// otherwise Errc::ForeignListener. Asked before the first byte is sent: a path may lead to another user's socket.
Result<void> check_listener(int connected_socket, const std::string& path);

/// A connected, non-blocking socket whose listener is this user's; empty descriptor when the listener's queue is full
/// (try again soon).
Result<UniqueFd> connect_now(const std::string& path);

}  // namespace relay::net
