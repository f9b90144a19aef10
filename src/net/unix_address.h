/// Socket files: listening, connecting, and their errors.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <string>

#include "base/result.h"
#include "base/unique_fd.h"

namespace relay::net {

enum class Errc { PathTooLong, NotASocket, InUse, ConnectionRefused, ForeignListener };
std::string_view describe(Errc code);

/// The maximum length of the path of a Unix socket (sun_path without its final zero).
std::size_t max_socket_path();

/// The socket file that a listener created: enough to remove this file and no other.
struct BoundSocket {
  UniqueFd fd;
  dev_t device = 0;
  ino_t inode = 0;
};

/// Binds and listens at the path with mode 0600 from the start. The directory must exist. A stale socket is replaced; a
/// socket in use and any other file stay unchanged and are refused.
Result<BoundSocket> bind_and_listen(const std::string& path);

/// Checks that the listener at the other end of a connected Unix socket runs as this user; fails with
/// Errc::ForeignListener if not. Called before the first byte is sent: a path may lead to another user's socket.
Result<void> check_listener(int connected_socket, const std::string& path);

/// A connected, non-blocking socket whose listener is this user's; an empty descriptor when the listener's queue is
/// full (try again soon).
Result<UniqueFd> connect_now(const std::string& path);

}  // namespace relay::net
